"""A git checkout: its commit, and whether a folder of it holds what the commit has.

git itself is asked for one thing alone, what .gitignore files leave out, and by a git directory of our own: it never
reads the configuration of a checkout, which may come from anyone and can name programs to execute.
"""

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from runner.files import untrusted
from runner.results.git_objects import PIECE_BYTES, Entry, Objects, UnreadableError, hasher, open_objects
from runner.sandbox.env import inherited
from runner.sandbox.process import output

GIT, LINK = ".git", "gitdir: "
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
REFERENCE = re.compile(r"refs/(?!.*\.\.)[\w./@+-]+")
# The one setting that is looked up, as text: file systems that know no executable bits have it.
NO_EXECUTABLES = re.compile(r"^\s*filemode\s*=\s*(false|no|off|0)\s*$", re.MULTILINE | re.IGNORECASE)
MAX_BYTES, MAX_REFERENCES_BYTES = 1_000_000, 64_000_000
# Far above what is run of any bug or detector.
MAX_FILES, MAX_DEPTH, MAX_HASHED_BYTES = 100_000, 50, 4_000_000_000
# Within a submodule there may be others.
MAX_SUBMODULES = 5
# Seconds that git may take, and how many names it is told at a time.
IGNORED_S, NAMES_AT_A_TIME = 10, 200


@dataclass(frozen=True)
class Checkout:
    """A work tree `root`; `private` is its git directory, `common` the one that all work trees of it share."""

    root: Path
    private: Path
    common: Path

    def commit(self) -> str | None:
        """The commit that is checked out; None where there is none yet, or references are kept in an unknown way."""
        head = untrusted.read_text(self.private / "HEAD", MAX_BYTES).strip()
        if COMMIT.fullmatch(head):
            return head
        name = head.removeprefix("ref: ")
        if name == head or not REFERENCE.fullmatch(name):
            return None
        loose = self.common / name
        text = untrusted.read_text(loose, MAX_BYTES).strip() if loose.is_file() else self._packed(name)
        return text if text and COMMIT.fullmatch(text) else None

    def _packed(self, name: str) -> str | None:
        path = self.common / "packed-refs"
        if not os.path.lexists(path):
            return None
        lines = untrusted.read_text(path, MAX_REFERENCES_BYTES).splitlines()
        return next((line.partition(" ")[0] for line in lines if line.partition(" ")[2] == name), None)

    def has_executables(self) -> bool:
        """Whether the executable bits of files say anything here."""
        path = self.common / "config"
        return not (path.exists() and NO_EXECUTABLES.search(untrusted.read_text(path, MAX_BYTES)))

    def differs(self, commit: str, directory: Path, not_run: Sequence[str], depth: int = 0) -> bool:
        """Whether the commit has other files in `directory`, but for `not_run`, and for ignored ones.

        As git matches them: a file or a folder of that path below `directory`, or a pattern whose `*` matches slashes
        too. Raises UnreadableError, UnsafeError, OSError or ProcessError where that cannot be told.
        """
        objects = open_objects(self.common / "objects")
        tracked = _tracked(objects, _tree_at(objects, commit, directory.relative_to(self.root)), not_run)
        present, untracked = _present(directory, tracked, not_run)
        if any(_is_lacking(directory / path, entry) for path, entry in tracked.items() if path not in present):
            return True
        executables, left = self.has_executables(), MAX_HASHED_BYTES
        for path, status in present.items():
            left -= status.st_size
            if left < 0:
                raise UnreadableError(f"{directory} holds more than {MAX_HASHED_BYTES} bytes")
            if _is_changed(directory / path, tracked[path], status, executables, depth):
                return True
        return self._has_others(directory, untracked, not_run)

    def _has_others(self, directory: Path, untracked: Sequence[str], not_run: Sequence[str]) -> bool:
        """Whether one of these is a file that no .gitignore leaves out, or a folder that holds such a file."""
        if not untracked:
            return False
        start = directory.relative_to(self.root)
        names = [str(start / path) for path in untracked]
        inside = f"{start}/" if start.parts else ""
        others = (path.removeprefix(inside) for path in self._not_ignored(names))
        return any(not _is_excluded(path.rstrip("/"), not_run) for path in others)

    def _not_ignored(self, names: Sequence[str]) -> Iterator[str]:
        git = shutil.which("git")
        if git is None:
            raise UnreadableError("there is no git to tell what is ignored")
        with tempfile.TemporaryDirectory() as folder:
            self._lay_out(Path(folder))
            # The user's own settings count: they may name files to ignore.
            env = inherited(("PATH", "HOME")) | {
                "GIT_DIR": folder, "GIT_WORK_TREE": str(self.root), "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_LITERAL_PATHSPECS": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1",
            }  # fmt: skip
            settings = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]
            ask = [git, "-C", str(self.root), *settings, "ls-files", "--others", "--exclude-standard", "-z", "--"]
            for first in range(0, len(names), NAMES_AT_A_TIME):
                some = names[first : first + NAMES_AT_A_TIME]
                listed = output([*ask, *some], env=env, timeout_s=IGNORED_S)
                yield from filter(None, listed.split("\0"))

    def _lay_out(self, folder: Path) -> None:
        """Make an empty git directory that ignores what this one ignores."""
        for name in ("objects", "refs", "info"):
            (folder / name).mkdir()
        (folder / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
        ignored = self.common / "info" / "exclude"
        if ignored.exists():
            (folder / "info" / "exclude").write_bytes(untrusted.read_bytes(ignored, MAX_BYTES))


def find_checkout(directory: Path) -> Checkout | None:
    """The checkout that a folder belongs to, None where it is in none.

    It has a `.git`: a folder that merely looks like a git directory is none. Raises UnreadableError, UnsafeError or
    OSError for a `.git` that leads nowhere.
    """
    device = directory.stat().st_dev
    for folder in (directory, *directory.parents):
        # As git does: what is mounted into a checkout is no part of it.
        if folder.stat().st_dev != device:
            return None
        path = folder / GIT
        if os.path.lexists(path):
            private = path if path.is_dir() else _linked(path)
            return Checkout(folder, private, _common(private))
    return None


def _linked(path: Path) -> Path:
    """The git directory that a file `.git` names: the one of a submodule, or of a further work tree."""
    text = untrusted.read_text(path, MAX_BYTES).rstrip("\n")
    if not text.startswith(LINK):
        raise UnreadableError(f"{path} names no git directory")
    return path.parent / text.removeprefix(LINK)


def _common(private: Path) -> Path:
    path = private / "commondir"
    return private / untrusted.read_text(path, MAX_BYTES).strip() if os.path.lexists(path) else private


def _tree_at(objects: Objects, commit: str, path: Path) -> str | None:
    """The name of the tree of a folder; None where the commit has no such folder."""
    tree = objects.tree_of(commit)
    for part in path.parts:
        entry = objects.entries(tree).get(part)
        if entry is None or not entry.is_folder:
            return None
        tree = entry.name
    return tree


def _tracked(objects: Objects, tree: str | None, not_run: Sequence[str]) -> dict[str, Entry]:
    """The files, links and submodules below a tree, by their paths from it."""
    tracked: dict[str, Entry] = {}
    folders = [("", tree)] if tree else []
    while folders:
        prefix, folder = folders.pop()
        if prefix.count("/") > MAX_DEPTH or len(tracked) > MAX_FILES:
            raise UnreadableError(f"a commit has more than {MAX_FILES} files, or folders {MAX_DEPTH} deep")
        for name, entry in objects.entries(folder).items():
            path = prefix + name
            if _is_excluded(path, not_run):
                continue
            if entry.is_folder:
                folders.append((f"{path}/", entry.name))
            else:
                tracked[path] = entry
    return tracked


def _present(
    directory: Path, tracked: Mapping[str, Entry], not_run: Sequence[str]
) -> tuple[dict[str, os.stat_result], list[str]]:
    """The status of tracked files that are there, and the other files and folders, by their paths."""
    parents = {str(parent) for path in tracked for parent in Path(path).parents}
    present: dict[str, os.stat_result] = {}
    untracked: list[str] = []
    folders = [""]
    while folders:
        prefix = folders.pop()
        for entry in _entries(directory / prefix):
            path = prefix + entry.name
            status = entry.stat(follow_symlinks=False)
            if entry.name == GIT or _is_excluded(path, not_run):
                continue
            if path in tracked:
                present[path] = status
            elif stat.S_ISDIR(status.st_mode) and path in parents:
                folders.append(f"{path}/")
            elif _is_kept_by_git(status):
                untracked.append(path)
    return present, untracked


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    with os.scandir(folder) as entries:
        listed = list(entries)
    if len(listed) > MAX_FILES:
        raise UnreadableError(f"{folder} holds more than {MAX_FILES} files")
    ignoring = next((entry for entry in listed if entry.name == ".gitignore"), None)
    if ignoring and not ignoring.is_file(follow_symlinks=False):
        raise UnreadableError(f"{ignoring.path} is no plain file")
    return listed


def _is_kept_by_git(status: os.stat_result) -> bool:
    return any(kind(status.st_mode) for kind in (stat.S_ISREG, stat.S_ISLNK, stat.S_ISDIR))


def _is_excluded(path: str, patterns: Collection[str]) -> bool:
    return any(path == pattern or path.startswith(f"{pattern}/") or fnmatchcase(path, pattern) for pattern in patterns)


def _is_lacking(path: Path, entry: Entry) -> bool:
    """Whether what is tracked should be there; the folder of a submodule is there in any case."""
    return not (_is_submodule(entry) and path.is_dir())


def _is_submodule(entry: Entry) -> bool:
    return stat.S_IFMT(entry.mode) == 0o160000


def _is_changed(path: Path, entry: Entry, status: os.stat_result, executables: bool, depth: int) -> bool:
    if _is_submodule(entry):
        return _is_other_submodule(path, entry, depth)
    if stat.S_IFMT(status.st_mode) != stat.S_IFMT(entry.mode):
        return True
    if stat.S_ISLNK(status.st_mode):
        target = os.fsencode(path.readlink())
        return hasher(entry.name, f"blob {len(target)}\0".encode() + target).hexdigest() != entry.name
    if executables and (status.st_mode ^ entry.mode) & 0o100:
        return True
    return _blob_name(path, entry.name) != entry.name


def _is_other_submodule(path: Path, entry: Entry, depth: int) -> bool:
    """Whether the submodule in a folder is at another commit, or was changed; an empty folder has not been set up."""
    if depth > MAX_SUBMODULES:
        raise UnreadableError(f"{path}: submodules {MAX_SUBMODULES} deep")
    if not path.is_dir() or not os.listdir(path):  # noqa: PTH208
        return not path.is_dir()
    checkout = find_checkout(path)
    if checkout is None or checkout.root != path or checkout.commit() != entry.name:
        return True
    return checkout.differs(entry.name, path, (), depth + 1)


def _blob_name(path: Path, like: str) -> str:
    """The name that git gives to the contents of a file, by the algorithm of the name `like`."""
    with untrusted.open_plain(path) as file:
        digest = hasher(like, f"blob {os.fstat(file.fileno()).st_size}\0".encode())
        while piece := file.read(PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()
