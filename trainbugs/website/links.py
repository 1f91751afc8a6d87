"""Which file of the repository becomes which page of the site, and links between pages."""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import quote, unquote

from runner.files import untrusted

# Pages of the repository that are no documentation of a bug: their places on the site.
PLACES = {
    "README.md": "docs/overview.html",
    "CONTRIBUTING.md": "docs/contributing.html",
    "CHANGELOG.md": "docs/changelog.html",
    "LICENSES.md": "docs/licences.html",
    "benchmarks/README.md": "docs/benchmarks.html",
    "docs/README.md": "docs/index.html",
    "detectors/README.md": "docs/list-of-detectors.html",
}
# Folders that have a page of their own.
FOLDERS = {
    "bugs": "index.html",
    "detectors/expected": "leaderboard.html",
    "docs": "docs/index.html",
}
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
# Endings of files that browsers only show or save. Others, an .svg or .html, could run scripts as
# if they were ours.
PASSIVE = (
    ".cff",
    ".csv",
    ".in",
    ".ipynb",
    ".jpeg",
    ".jpg",
    ".json",
    ".jsonl",
    ".md",
    ".parquet",
    ".png",
    ".py",
    ".txt",
)
ACTIVE = frozenset(
    (
        "html",
        "htm",
        "xhtml",
        "xht",
        "shtml",
        "svg",
        "svgz",
        "xml",
        "xsl",
        "js",
        "mjs",
        "php",
        "wasm",
    )
)
# A file that a page links to and that is larger is not copied.
MAX_FILE_BYTES = 20_000_000


def place(source: str) -> str:
    """The place on the site of a page of the repository, both relative with slashes."""
    if source in PLACES:
        return PLACES[source]
    folder, name = posixpath.split(source)
    parts = folder.split("/")
    if parts[0] == "bugs" and len(parts) == 2 and name == "README.md":
        return f"bugs/{parts[1]}.html"
    if parts[0] == "bugs" and len(parts) == 3:
        return f"studies/{parts[1]}-{name.removesuffix('.md')}.html"
    if name == "README.md":
        return f"docs/{'-'.join(parts)}.html"
    return f"docs/{name.removesuffix('.md')}.html"


def relative(target: str, page: str) -> str:
    """A link from one place on the site to another."""
    path, hash_, anchor = target.partition("#")
    return _from_folder(path, posixpath.dirname(page) or ".") + hash_ + anchor


@cache
def _from_folder(path: str, folder: str) -> str:
    """A link to a place from the pages of a folder, which share most of their links."""
    return quote(posixpath.relpath(path, folder))


@dataclass
class Links:
    """Links of pages in the repository, as links on the site;
    notes which files have to be copied for them.

    `pages` maps sources to places. `files` are the sources that are copied to files/<source>,
    `folders` those that get a list of their files, and `dead` has a line for each link that leads
    nowhere: it becomes plain text.
    """

    root: Path
    pages: Mapping[str, str]
    files: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    dead: list[str] = field(default_factory=list)

    def resolve(self, link: str, source: str, page: str) -> str | None:
        """The link on `page` for one that stands in `source`; None where it leads nowhere."""
        if link.startswith("#") or link.startswith(("http:", "https:", "mailto:")):
            return link
        path, _, anchor = unquote(link).partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        is_elsewhere = SCHEME.match(link) or path.startswith("/")
        place = None if is_elsewhere else self._place(target)
        if place is None:
            self.dead.append(f"{source}: there is nothing on the site at {untrusted.brief(link)}")
            return None
        return relative(f"{place}#{anchor}" if anchor else place, page)

    def picture(self, link: str, source: str) -> Path | None:
        """The file of a picture whose link stands in `source`; None where there is none on the
        site: the link leads nowhere, or to a page, a folder or an anchor.
        """
        path, _, _ = unquote(link).partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if path and self._place(target) == f"files/{target}":
            return self.root / target
        self.dead.append(f"{source}: there is no picture at {untrusted.brief(link)}")
        return None

    def file(self, source: str, page: str) -> str:
        """A link to a copy of a file, which exists."""
        self.files.add(source)
        return relative(f"files/{source}", page)

    def _place(self, target: str) -> str | None:
        readme = posixpath.normpath(posixpath.join(target, "README.md"))
        if target in FOLDERS:
            return FOLDERS[target]
        if target in self.pages or readme in self.pages:
            return self.pages.get(target) or self.pages[readme]
        path = self.root / target
        # What begins with a dot is for tools, or leads out: .git has names and addresses of people.
        is_hidden = any(part.startswith(".") for part in target.split("/"))
        if is_hidden or not _is_inside(path, self.root):
            return None
        if path.is_dir():
            self.folders.add(target)
            self.files |= {f"{target}/{file.name}" for file in listed(path, self.root)}
            return f"files/{target}/index.html"
        if copied(path, self.root):
            self.files.add(target)
            return f"files/{target}"
        return None


def listed(folder: Path, root: Path) -> list[Path]:
    """The files of a folder that a list of them shows."""
    visible = [path for path in folder.iterdir() if not path.name.startswith(".")]
    return sorted(path for path in visible if copied(path, root))


def copied(path: Path, root: Path) -> bool:
    """Whether a file may be copied: a plain one that is not too large, reached by no link,
    and runs in no browser.
    """
    return (
        passive(path.name)
        and _is_inside(path, root)
        and path.is_file()
        and path.stat().st_size <= MAX_FILE_BYTES
    )


def passive(name: str) -> bool:
    """Whether browsers only show or save a file of that name. Some servers go by an ending before
    the last one.
    """
    _, *endings = name.lower().split(".")
    if not endings:
        return True
    return f".{endings[-1]}" in PASSIVE and not ACTIVE & set(endings)


def _is_inside(path: Path, root: Path) -> bool:
    """Whether no part of a path below the root is a symbolic link."""
    return path.resolve() == root.resolve() / path.relative_to(root)
