"""The whole site: reads the records, renders the pages, and writes them to a new folder that replaces an older one."""

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from runner.bugs.bug import Bug
from runner.bugs.catalog import Catalog
from runner.errors import ResultsError, TrainbugsError, UsageError
from runner.files import swap, untrusted
from runner.results.revision import find_revision
from trainbugs.release.about import about, bibtex
from trainbugs.website import index
from trainbugs.website.bug import BugPart, commands, read
from trainbugs.website.downloads import Download, dataset, downloads
from trainbugs.website.evaluations import ABSENT, FALSE, RATES, SILENT, Evaluation, evaluation
from trainbugs.website.links import Links, copied, listed, place
from trainbugs.website.markdown import Text, render
from trainbugs.website.rewritten import SideBySide, of_records
from trainbugs.website.tables import index as as_index
from trainbugs.website.templating import Templates, asset

# What tells that a folder was made here, and may be replaced.
MARKER = ".trainbugs-site"
ASSETS = ("site.css", "site.js", "icon.svg")
DOCS = ("*.md", "docs/*.md", "detectors/README.md", "detectors/*/README.md", "benchmarks/README.md")
MAX_PAGE_BYTES = 2_000_000


@dataclass(frozen=True)
class Summary:
    """The page of a study: its place, its title, the bug, and the question that it asks."""

    source: str
    place: str
    bug: str
    title: str
    question: str


@dataclass
class Website:
    """The pages and files by their places, and a line for each thing that could not be read."""

    pages: dict[str, str] = field(default_factory=dict)
    files: dict[str, Path | bytes] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Bytes of all together."""
        sizes = (
            len(each) if isinstance(each, bytes) else each.stat().st_size
            for each in self.files.values()
        )
        return sum(sizes) + sum(len(page.encode()) for page in self.pages.values())


def build(catalog: Catalog) -> Website:
    """The site of a catalogue. A bug or a record that cannot be read is a problem, and stops nothing else."""
    site = Website()
    bugs, problems = catalog.readable()
    site.problems += problems
    _Builder(catalog, bugs, site).build()
    return site


def write(site: Website, out: Path) -> None:
    """Write the site; a folder that is there already is replaced if it is an older site and no more, or empty.

    Raises UsageError for another folder, ResultsError where nothing can be written.
    """
    try:
        swap.recover(out.resolve())
        _check_replaceable(out)
        with swap.changing(out, anew=True) as folder:
            _fill(site, folder)
    except OSError as error:
        raise ResultsError(
            f"{out}: cannot be written: {error.strerror}; name a folder with room by --out"
        ) from error


def _fill(site: Website, folder: Path) -> None:
    for name, page in site.pages.items():
        _parent(folder / name).write_text(page, encoding="utf-8")
    for name, content in site.files.items():
        path = _parent(folder / name)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            shutil.copyfile(content, path)
    written = sorted({*site.pages, *site.files})
    (folder / MARKER).write_text(
        "".join(f"{json.dumps(name)}\n" for name in written), encoding="utf-8"
    )


def _check_replaceable(out: Path) -> None:
    """Raise UsageError where something would be lost that this command did not write."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not (out / MARKER).is_file():
        raise UsageError(
            f"{out} exists, and is no site that this command made; name another folder by --out"
        )
    try:
        lines = untrusted.read_text(out / MARKER, MAX_PAGE_BYTES, out).splitlines()
    except untrusted.UnsafeError as error:
        raise UsageError(f"{out / MARKER} {error}; name another folder by --out") from error
    ours = set(lines)
    for folder, folders, files in os.walk(out):
        folders.sort()
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for name in sorted(files + links):
            place = Path(folder, name).relative_to(out).as_posix()
            if place != MARKER and json.dumps(place) not in ours:
                shown = untrusted.shown(Path(place))
                raise UsageError(
                    f"{out} holds {shown}, which this command did not write, and which would be lost; move it away, or "
                    "name another folder by --out"
                )


def _parent(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


class _Builder:
    """Makes the pages of a site, one kind after the other."""

    def __init__(self, catalog: Catalog, bugs: list[Bug], site: Website) -> None:
        root = catalog.root
        self.catalog, self.root, self.site = catalog, root, site
        self.parts = [read(bug, root) for bug in bugs]
        self.sources = [
            path.relative_to(root).as_posix()
            for pattern in DOCS
            for path in sorted(root.glob(pattern))
        ]
        stories = [
            f"bugs/{bug.id}/README.md" for bug in bugs if (bug.directory / "README.md").is_file()
        ]
        self.studies = [path.relative_to(root).as_posix() for bug in bugs for path in _studies(bug)]
        places = {source: place(source) for source in (*self.sources, *stories, *self.studies)}
        self.links = Links(root, places)
        self.release = about(catalog)
        common = {
            "footer": _footer(root),
            "pages": frozenset(places),
            "bibtex": bibtex(self.release),
        }
        self.templates = Templates(self.links, common)
        self.evaluation = self._evaluate()
        self.beside = self._beside()

    def build(self) -> None:
        for name in ASSETS:
            self.site.files[f"assets/{name}"] = asset(name).encode()
        offered = list(dataset(self.catalog, self.release))
        offered += downloads(
            [part.bug for part in self.parts],
            self.root,
            self.evaluation.outcomes,
            self.site.problems,
        )
        sizes = {each.name: len(each.content) for each in offered}
        summaries = self._studies()
        stories = {part.bug.id: self._story(part.bug) for part in self.parts}
        self._front({bug: story.words for bug, story in stories.items() if story})
        for part in self.parts:
            self._bug(part, stories[part.bug.id], summaries, sizes[f"{part.bug.id}.zip"])
        self._leaderboard()
        self._docs()
        self._downloads(offered)
        self._files()
        for part in self.parts:
            self.site.problems += part.problems
        self.site.problems += dict.fromkeys(self.links.dead)

    def _evaluate(self) -> Evaluation:
        from evaluation.catalog import submissions
        from evaluation.reading.sources import RecordSelection, read_records

        if not any((self.root / "detectors" / "expected").glob("*.jsonl")):
            return Evaluation((), ())
        try:
            found, known = (
                read_records(Catalog(self.root), RecordSelection((), "expected", Path())),
                submissions.load_frozen(self.root),
            )
        except TrainbugsError as error:
            self.site.problems.append(str(error))
            return Evaluation((), ())
        return evaluation(found, [part.bug for part in self.parts], known)

    def _beside(self) -> SideBySide:
        from evaluation.reading.sources import RecordSelection, read_rewritten

        try:
            return of_records(
                read_rewritten(self.catalog, RecordSelection((), "expected", Path())),
                self.evaluation.rejected,
            )
        except TrainbugsError as error:
            # Of published programs it may have been said already.
            self.site.problems += [str(error)] if str(error) not in self.site.problems else []
            return of_records(None)

    def _page(self, name: str, template: str, section: str, **values: Any) -> None:
        self.site.pages[name] = self.templates.render(template, name, section, **values)

    def _source(self, source: str) -> str | None:
        """A page of the repository as it is written; None where it cannot be read."""
        try:
            return untrusted.read_text(self.root / source, MAX_PAGE_BYTES, self.root)
        except untrusted.UnsafeError as error:
            self.site.problems.append(f"{source}: {error}")
            return None

    def _text(self, source: str, without_title: bool = False) -> Text | None:
        """A rendered page of the repository; None where it cannot be read."""
        written = self._source(source)
        return None if written is None else self._render(written, source, without_title)

    def _render(self, written: str, source: str, without_title: bool = False) -> Text:
        return render(written, source, self.links, self.links.pages[source], without_title)

    def _story(self, bug: Bug) -> Text | None:
        source = f"bugs/{bug.id}/README.md"
        return self._text(source, without_title=True) if source in self.links.pages else None

    def _front(self, stories: Mapping[str, str]) -> None:
        rows = index.of_bugs(self.parts, self.evaluation, stories)
        found = {
            part.bug.id: ", ".join(index.found_by(part, self.evaluation)) for part in self.parts
        }
        self._page(
            "index.html", "index.html", "index.html", title="trainbugs", parts=self.parts, rows=as_index(rows),
            facets=index.bug_facets(rows), columns=index.BUG_COLUMNS, found=found,
            cases=sum(len(part.cases) for part in self.parts),
            reproduced=sum(each.reproduced for part in self.parts for each in part.cases),
            detectors=len({answer.detector for answer in self.evaluation.answers}),
        )  # fmt: skip

    def _bug(
        self, part: BugPart, story: Text | None, summaries: Iterable[Summary], size: int
    ) -> None:
        bug = part.bug
        answers = self.evaluation.of(bug.id)
        quiet = [answer for answer in answers if answer.state in (SILENT, FALSE, ABSENT)]
        anchors = [heading for heading in (story.headings if story else ()) if heading.level == 2]
        contents = [
            ("page-run", "Run it"),
            *((heading.anchor, heading.text) for heading in anchors),
        ]
        contents += [("page-side-by-side", "Side by side"), ("page-cases", "Cases")]
        contents += [("page-versions", "Versions")] if part.versions else []
        contents += [
            ("page-detectors", "Detectors"),
            ("page-provenance", "Provenance"),
            ("page-cite", "Cite it"),
        ]
        self._page(
            f"bugs/{bug.id}.html", "bug.html", "index.html", title=f"{bug.id}: {bug.title}", part=part,
            story=story.html if story else "", problems=part.problems, commands=commands(part), zip_size=size,
            contents=contents,
            found=", ".join(index.found_by(part, self.evaluation)), answers=answers, quiet=quiet,
            alarmed=[answer for answer in answers if answer not in quiet], provenances=_provenances(bug),
            summaries=[(each.place, each.title) for each in summaries if each.bug == bug.id],
        )  # fmt: skip

    def _leaderboard(self) -> None:
        from evaluation.catalog import detectors

        scores = self.evaluation.scores
        known = (
            {name: detectors.load(self.root, name) for name in detectors.names(self.root)}
            if scores
            else {}
        )
        needs = {
            name: [need.replace("_", " ") for need in each.needs] for name, each in known.items()
        }
        rows = index.of_scores(scores, needs)
        pictures = [
            self.root / "detectors" / "expected" / f"{name}.png" for name in ("matrix", "overhead")
        ]
        matrix, overhead = (
            f"detectors/expected/{path.name}" if path.is_file() else None for path in pictures
        )
        self._page(
            "leaderboard.html", "leaderboard.html", "leaderboard.html", title="Leaderboard", scores=scores,
            evaluation=self.evaluation, bugs=len(self.parts), beside=self.beside,
            rows=as_index(rows), facets=index.score_facets(rows), columns=index.SCORE_COLUMNS,
            rates=RATES, matrix=matrix, overhead=overhead,
        )  # fmt: skip

    def _studies(self) -> list[Summary]:
        summaries = []
        for source in self.studies:
            written = self._source(source)
            if written is None:
                continue
            text = self._render(written, source)
            path = self.root / source
            bug = path.parent.parent.name
            figures = [
                figure.relative_to(self.root).as_posix()
                for figure in sorted(path.parent.glob(f"{path.stem}_*.png"))
            ]
            tables = [path.with_suffix(ending) for ending in (".json", ".csv")]
            self._page(
                place(source), "page.html", "studies.html", title=text.title, html=text.html, contents=(),
                figures=[(name, _figure(path.stem, name)) for name in figures], every=(), rows=[],
                files=[each.relative_to(self.root).as_posix() for each in tables if each.is_file()],
            )  # fmt: skip
            summaries.append(Summary(source, place(source), bug, text.title, _question(written)))
        self._page(
            "studies.html",
            "studies.html",
            "studies.html",
            title="Impact studies",
            summaries=summaries,
        )
        return summaries

    def _docs(self) -> None:
        rendered = {source: text for source in self.sources if (text := self._text(source))}
        by_place = {place(source): text for source, text in rendered.items()}
        every = [
            (name, text.title, [h for h in text.headings if h.level == 2])
            for name, text in by_place.items()
        ]
        every.sort(key=lambda item: item[1].lower())
        if "docs/index.html" not in by_place:
            by_place["docs/index.html"] = Text("Documentation", "<h1>Documentation</h1>", (), "")
        for name, text in by_place.items():
            front = name == "docs/index.html"
            contents = [heading for heading in text.headings if heading.level == 2]
            self._page(
                name, "page.html", "docs/index.html", title=text.title, html=text.html, figures=(), files=(),
                contents=contents if len(contents) > 2 else (), every=every if front else (),
                rows=as_index(index.of_pages({each[0]: by_place[each[0]] for each in every})) if front else [],
            )  # fmt: skip

    def _downloads(self, offered: list[Download]) -> None:
        groups: dict[str, list[tuple[str, str, int]]] = {}
        for each in offered:
            groups.setdefault(each.group, []).append((each.place, each.what, len(each.content)))
            self.site.files[each.place] = each.content
        self._page(
            "downloads.html",
            "downloads.html",
            "downloads.html",
            title="Downloads",
            groups=list(groups.items()),
        )

    def _files(self) -> None:
        """Copies of the files that pages link to, and lists of folders."""
        for folder in sorted(self.links.folders):
            name = f"files/{folder}/index.html"
            files = [f"{folder}/{path.name}" for path in listed(self.root / folder, self.root)]
            self._page(
                name, "page.html", "docs/index.html", title=folder, html=f"<h1>{escape(folder)}</h1>", contents=(),
                figures=(), every=(), rows=[], files=files,
            )  # fmt: skip
        for source in sorted(self.links.files):
            if copied(self.root / source, self.root):
                self.site.files[f"files/{source}"] = self.root / source
            else:
                self.site.problems.append(
                    f"{source}: is not copied: browsers would run it, or it is too large"
                )


def _studies(bug: Bug) -> list[Path]:
    return sorted(bug.directory.glob("studies/*.md"))


def _figure(study: str, name: str) -> str:
    """What a figure of a study shows, from its name."""
    kind = Path(name).stem.removeprefix(f"{study}_")
    said = {
        "grid": "mean gain of the buggy program at each point and setting",
        "shares": "shares of the labels",
        "best": "each program at its best setting",
        "factors": "what the gain depends on",
    }
    return f"{study}: {said.get(kind) or kind.replace('by_', 'grid by ').replace('_', ' ')}"


def _question(summary: str) -> str:
    """The question that a study asks: the first paragraph of its summary that ends with a question mark."""
    paragraphs = summary.split("\n\n")
    return next((text.strip() for text in paragraphs if text.strip().endswith("?")), "")


def _provenances(bug: Bug) -> list[tuple[str, Any]]:
    """The provenance of the bug, and of cases that have another one."""
    own = [("All cases", bug.provenance)] if bug.provenance else []
    others = [
        (f"Case {case.name}", case.provenance)
        for case in bug.cases.values()
        if case.provenance != bug.provenance
    ]
    return [*own, *((name, each) for name, each in others if each)]


def _footer(root: Path) -> str:
    commit = find_revision(root, ())
    return "Made by trainbugs site from the committed records" + (
        f" at {_short(commit)}." if commit else "."
    )


def _short(commit: str) -> str:
    """A commit with 12 digits, and with its -dirty; the version of a package as it is."""
    return re.sub(r"\b([0-9a-f]{12})[0-9a-f]{28}\b", r"\1", commit)
