"""The whole website: reads the records and renders the pages."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

from evaluation.reading.load import committed_folder, is_earlier
from runner.bugs.bug import Bug
from runner.bugs.catalog import Catalog, CatalogSnapshot
from runner.bugs.catalogue_counts import counted_bugs
from runner.bugs.config import REWRITTEN
from runner.bugs.labels import Provenance
from runner.errors import TrainbugsError
from runner.files import untrusted
from runner.results.revision import find_revision
from trainbugs.descriptions import harm_rows
from trainbugs.release.about import about, bibtex
from trainbugs.website import index, leaderboard, tracks
from trainbugs.website.bug import BugPart, commands, read
from trainbugs.website.downloads import Download, dataset, downloads
from trainbugs.website.evaluations import Evaluation, evaluation
from trainbugs.website.folder import Website
from trainbugs.website.head import Heads
from trainbugs.website.leaderboard_pages import Leaderboard
from trainbugs.website.links import Links, copied, listed, place
from trainbugs.website.markdown import Heading, Text, render
from trainbugs.website.rewritten import SideBySide, side_by_side_table
from trainbugs.website.studies import Summary, figure_text, question
from trainbugs.website.tables import index as as_index
from trainbugs.website.templating import DESCRIPTION, Templates, asset

ASSETS = ("site.css", "site.js", "icon.svg")
DOCS = (
    "*.md",
    "docs/*.md",
    "detectors/README.md",
    "detectors/*/README.md",
    "benchmarks/README.md",
    "submissions/README.md",
)
MAX_PAGE_BYTES = 2_000_000
# A commit in full, which pages show with 12 digits.
COMMIT = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{28}\b")


def build(catalog: Catalog, repository: str = "", url: str = "") -> Website:
    """The website of a catalogue, which links to a `repository` on the web if there is one. With
    the `url` at which it will be, pages name their own address and a picture.

    A bug or a record that cannot be read is a problem, and stops nothing else.
    """
    website = Website()
    catalog = CatalogSnapshot(catalog.root)
    bugs, problems = catalog.readable()
    website.problems += problems
    _Builder(catalog, bugs, website, repository, url).build()
    return website


class _Builder:
    """Makes the pages of a website, one kind after the other."""

    def __init__(
        self, catalog: Catalog, bugs: list[Bug], website: Website, repository: str, url: str
    ) -> None:
        root = catalog.root
        self.catalog, self.root, self.website = catalog, root, website
        self.parts = [read(bug, root) for bug in bugs]
        self.docs = [
            path.relative_to(root).as_posix()
            for pattern in DOCS
            for path in sorted(root.glob(pattern))
        ]
        stories = [_story_source(bug) for bug in bugs if (bug.directory / "README.md").is_file()]
        self.studies = [path.relative_to(root).as_posix() for bug in bugs for path in _studies(bug)]
        places = {source: place(source) for source in (*self.docs, *stories, *self.studies)}
        self.links = Links(root, places)
        self.heads = Heads(self.links, url)
        self.release = about(catalog)
        common = {
            "footer": _footer(root),
            "pages": frozenset(places),
            "bibtex": bibtex(self.release),
            "places": places,
            "version": self.release.version,
            "repository": repository,
        }
        self.templates = Templates(self.links, common)
        self.evaluation = self._evaluate()
        self.side_by_side = self._compare_rewritten()

    def build(self) -> None:
        for name in ASSETS:
            self.website.files[f"assets/{name}"] = asset(name).encode()
        offered = self._offer_downloads()
        sizes = {download.name: len(download.content) for download in offered}
        summaries = self._add_studies()
        stories = {part.bug.id: self._story(part.bug) for part in self.parts}
        self._add_front({bug: story.words for bug, story in stories.items() if story})
        for part in self.parts:
            bug = part.bug.id
            titles = [(summary.place, summary.title) for summary in summaries if summary.bug == bug]
            self._add_bug(part, stories[bug], titles, sizes[f"{bug}.zip"])
        self._add_docs()
        self._add_downloads(offered)
        self._add_leaderboard()
        self._add_tracks()
        self._add_files()
        for part in self.parts:
            self.website.problems += part.problems
        self.website.problems += dict.fromkeys(self.links.dead)

    def _evaluate(self) -> Evaluation:
        from evaluation.catalog import rule_settings, submissions
        from evaluation.reading.sources import RecordSelection, read_records

        if not any(committed_folder(self.root).glob("*.jsonl")):
            return Evaluation((), ())
        try:
            records = read_records(self.catalog, RecordSelection((), "expected", Path()))
            known = submissions.load_frozen(self.root)
            settings = rule_settings.load(self.root)
        except TrainbugsError as error:
            self.website.problems.append(str(error))
            return Evaluation((), ())
        return evaluation(records, [part.bug for part in self.parts], known, settings)

    def _compare_rewritten(self) -> SideBySide:
        from evaluation.reading.sources import RecordSelection, read_rewritten

        try:
            records = read_rewritten(self.catalog, RecordSelection((), "expected", Path()))
            table = side_by_side_table(records, self.evaluation.rejected)
            return replace(table, is_earlier=is_earlier(self.root, REWRITTEN))
        except TrainbugsError as error:
            # The records of published programs may have had the same problem already.
            if str(error) not in self.website.problems:
                self.website.problems.append(str(error))
            return side_by_side_table(None)

    def _offer_downloads(self) -> list[Download]:
        bugs = [part.bug for part in self.parts]
        outcomes, problems = self.evaluation.outcomes, self.website.problems
        return [
            *dataset(self.catalog, self.release),
            *downloads(bugs, self.root, outcomes, problems),
        ]

    def _page(self, name: str, template: str, section: str, **values: Any) -> None:
        """Add a page; `description` and `figure` (a file of the repository) may be among values."""
        head = self.heads.head(name, values.pop("description", ""), values.pop("figure", None))
        self.website.pages[name] = self.templates.render(template, name, section, **head, **values)

    def _document(self, name: str, section: str, title: str, html: str, **values: Any) -> None:
        """Add a page of text, with figures, files and lists below it as far as there are any."""
        lists: dict[str, Any] = {
            "contents": (),
            "figures": (),
            "files": (),
            "every": (),
            "rows": [],
        }
        self._page(name, "page.html", section, title=title, html=html, **(lists | values))

    def _read(self, source: str) -> str | None:
        """A page of the repository as it is written; None where it cannot be read."""
        try:
            return untrusted.read_text(self.root / source, MAX_PAGE_BYTES, self.root)
        except untrusted.UnsafeError as error:
            self.website.problems.append(f"{source}: {error}")
            return None

    def _text(self, source: str, without_title: bool = False) -> Text | None:
        """A rendered page of the repository; None where it cannot be read."""
        markdown = self._read(source)
        return None if markdown is None else self._render(markdown, source, without_title)

    def _render(self, markdown: str, source: str, without_title: bool = False) -> Text:
        return render(markdown, source, self.links, self.links.pages[source], without_title)

    def _story(self, bug: Bug) -> Text | None:
        source = _story_source(bug)
        return self._text(source, without_title=True) if source in self.links.pages else None

    def _finders(self, bug: Bug) -> str:
        return ", ".join(index.finders(bug, self.evaluation))

    def _add_front(self, stories: Mapping[str, str]) -> None:
        rows = index.bug_rows(self.parts, self.evaluation, stories)
        cases = [case for part in self.parts for case in part.cases]
        self._page(
            "index.html",
            "index.html",
            "index.html",
            title="trainbugs",
            parts=self.parts,
            rows=as_index(rows),
            facets=index.bug_facets(rows),
            columns=index.BUG_COLUMNS,
            found={part.bug.id: self._finders(part.bug) for part in self.parts},
            cases=len(cases),
            reproduced=sum(case.reproduced for case in cases),
            detectors=len({answer.detector for answer in self.evaluation.answers}),
            counted=len(counted_bugs([part.bug for part in self.parts])),
            harm=harm_rows([part.bug for part in self.parts]),
        )

    def _add_bug(
        self, part: BugPart, story: Text | None, studies: Sequence[tuple[str, str]], size: int
    ) -> None:
        bug = part.bug
        answers = self.evaluation.answers_about(bug.id)
        self._page(
            f"bugs/{bug.id}.html",
            "bug.html",
            "index.html",
            title=f"{bug.id}: {bug.title}",
            description=f"A silent training bug, reproduced: {bug.labels.symptom}.",
            part=part,
            story=story.html if story else "",
            problems=part.problems,
            figure=_figure(part),
            commands=commands(part),
            zip_size=size,
            contents=_contents(part, story),
            found=self._finders(bug),
            answers=answers,
            cross=leaderboard.cross_table(self.evaluation, bug.id),
            provenances=_provenances(bug),
            summaries=studies,
        )

    def _add_leaderboard(self) -> None:
        board = Leaderboard(
            root=self.root,
            evaluation=self.evaluation,
            beside=self.side_by_side,
            bugs=[part.bug for part in self.parts],
            pages=self.links.pages,
            files=frozenset(self.website.files),
        )
        section = "leaderboard.html"
        try:
            for page in board.all():
                self._page(page.place, page.template, section, title=page.title, **page.values)
        except TrainbugsError as error:
            self.website.problems.append(str(error))

    def _add_tracks(self) -> None:
        tables: dict[str, tracks.TrackTable | None] = {"reviews": None, "repairs": None}
        for name, read_scores in (("reviews", tracks.reviews), ("repairs", tracks.repairs)):
            try:
                tables[name] = read_scores(self.root)
            except TrainbugsError as error:
                self.website.problems.append(f"benchmarks/{name}.json: {error}")
        title = "Reviews and repairs"
        self._page("tracks.html", "tracks.html", "leaderboard.html", title=title, **tables)

    def _add_studies(self) -> list[Summary]:
        summaries = []
        for source in self.studies:
            markdown = self._read(source)
            if markdown is None:
                continue
            text, path = self._render(markdown, source), self.root / source
            figures = [
                (self._source(figure), figure_text(path.stem, figure))
                for figure in sorted(path.parent.glob(f"{path.stem}_*.png"))
            ]
            tables = [path.with_suffix(ending) for ending in (".json", ".csv")]
            files = [self._source(table) for table in tables if table.is_file()]
            asked, bug = question(markdown), path.parent.parent.name
            lists = {"figures": figures, "files": files}
            description = f"{text.title}: {asked or text.lead}"
            self._document(
                place(source),
                "studies.html",
                text.title,
                text.html,
                description=description,
                **lists,
            )
            summaries.append(Summary(source, place(source), bug, text.title, asked))
        self._page(
            "studies.html",
            "studies.html",
            "studies.html",
            title="Impact studies",
            summaries=summaries,
        )
        return summaries

    def _source(self, path: Path) -> str:
        """A file of the repository, relative to its root."""
        return path.relative_to(self.root).as_posix()

    def _add_docs(self) -> None:
        texts = {}
        for source in self.docs:
            text = self._text(source)
            if text:
                texts[place(source)] = text
        sections = [(name, text.title, _sections(text)) for name, text in texts.items()]
        sections.sort(key=lambda item: item[1].lower())
        rows = as_index(index.page_rows({name: texts[name] for name, *_ in sections}))
        if "docs/index.html" not in texts:
            texts["docs/index.html"] = Text("Documentation", "<h1>Documentation</h1>", (), "")
        for name, text in texts.items():
            contents = _sections(text)
            lists: dict[str, Any] = {"contents": contents if len(contents) > 2 else ()}
            if name == "docs/index.html":
                lists |= {"every": sections, "rows": rows}
            lists["description"] = f"{text.title}: {text.lead or DESCRIPTION}"
            self._document(name, "docs/index.html", text.title, text.html, **lists)

    def _add_downloads(self, offered: list[Download]) -> None:
        groups: dict[str, list[tuple[str, str, int]]] = {}
        for download in offered:
            line = (download.place, download.description, len(download.content))
            groups.setdefault(download.group, []).append(line)
            self.website.files[download.place] = download.content
        self._page(
            "downloads.html",
            "downloads.html",
            "downloads.html",
            title="Downloads",
            groups=list(groups.items()),
        )

    def _add_files(self) -> None:
        """Add copies of the files that pages link to, and lists of folders."""
        for folder in sorted(self.links.folders):
            files = [f"{folder}/{path.name}" for path in listed(self.root / folder, self.root)]
            name, html = f"files/{folder}/index.html", f"<h1>{escape(folder)}</h1>"
            about = f"The files of {folder} in the repository of the benchmark trainbugs."
            self._document(name, "docs/index.html", folder, html, files=files, description=about)
        for source in sorted(self.links.files):
            if copied(self.root / source, self.root):
                self.website.files[f"files/{source}"] = self.root / source
            else:
                self.website.problems.append(
                    f"{source}: is not copied: browsers would run it, or it is too large"
                )


def _story_source(bug: Bug) -> str:
    return f"bugs/{bug.id}/README.md"


def _studies(bug: Bug) -> list[Path]:
    return sorted(bug.directory.glob("studies/*.md"))


def _sections(text: Text) -> list[Heading]:
    """The headings of the sections of a page."""
    return [heading for heading in text.headings if heading.level == 2]


def _figure(part: BugPart) -> str | None:
    """The first picture that is committed of the cases of a bug."""
    pictures = [case.picture for case in part.cases if case.picture]
    return f"bugs/{part.bug.id}/expected/{pictures[0]}" if pictures else None


def _contents(part: BugPart, story: Text | None) -> list[tuple[str, str]]:
    """The anchors and headings of the page of a bug."""
    has_curves = bool(part.cases and part.cases[0].runs and part.cases[0].runs[0].panels)
    contents = [("page-curves", "What happens")] if has_curves else []
    contents += [
        ("page-side-by-side", "Side by side"),
        ("page-facts", "Facts"),
        ("page-run", "Run it"),
    ]
    if story:
        contents += [(heading.anchor, heading.text) for heading in _sections(story)]
    contents.append(("page-cases", "Cases"))
    if part.versions:
        contents.append(("page-versions", "Versions"))
    return [
        *contents,
        ("page-detectors", "Detectors"),
        ("page-provenance", "Provenance"),
        ("page-cite", "Cite it"),
    ]


def _provenances(bug: Bug) -> list[tuple[str, Provenance]]:
    """The provenance of the bug, and of cases that have another one."""
    provenances = [("All cases", bug.provenance)]
    for case in bug.cases.values():
        if case.provenance != bug.provenance:
            provenances.append((f"Case {case.name}", case.provenance))
    return [(heading, provenance) for heading, provenance in provenances if provenance]


def _footer(root: Path) -> str:
    commit = find_revision(root, ())
    place = f" at {_short(commit)}" if commit else ""
    return f"Made by trainbugs site from the committed records{place}."


def _short(commit: str) -> str:
    """A commit with 12 digits, and with its -dirty; the version of a package as it is."""
    return COMMIT.sub(r"\1", commit)
