"""What can be downloaded: tables of the catalogue and of the scores, tables of studies, an archive of each bug."""

import csv
import io
import json
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from evaluation.scoring.rewritten import FILE
from evaluation.store.committed import CommittedChecks
from runner.bugs.bug import Bug
from runner.bugs.catalog import Catalog
from runner.files import swap, untrusted
from runner.files.cells import cell
from runner.files.locks import WORK, TemporaryFolder
from trainbugs.descriptions import bug_document, case_rows
from trainbugs.release.about import About

# The earliest that an archive can hold: the same files make the same archive, whenever it is made.
DAY = (1980, 1, 1, 0, 0, 0)
SKIPPED = ("__pycache__", swap.HIDDEN)
# Far above the largest record of a detector.
MAX_BYTES = 200_000_000
SCORES = {
    "scores.csv": "scores of all detectors, a row for each rule",
    "scores.json": "the same",
    "seeds.csv": "how the answers agree on cases that were met by several seeds",
}
OUTCOMES = "what is behind them: a row for each program and rule"


@dataclass(frozen=True)
class Download:
    """A file of the folder downloads, what it holds, and its content."""

    group: str
    name: str
    what: str
    content: bytes

    @property
    def place(self) -> str:
        """Its place on the site."""
        return f"downloads/{self.name}"


def downloads(
    bugs: Sequence[Bug], root: Path, outcomes: str, problems: list[str]
) -> Iterator[Download]:
    """All downloads, in the order in which they are shown; a file that cannot be read is a line in `problems`.

    `outcomes` is the table of them as CSV, which is too large to be committed; empty where there is none.
    """
    reader = _Reader(problems)
    rows = [row for bug in bugs for row in case_rows(bug)]
    documents = [
        {key: value for key, value in bug_document(bug).items() if key != "directory"}
        for bug in bugs
    ]
    yield Download("The catalogue", "cases.csv", "a row for each case", _csv(rows))
    text = json.dumps(documents, indent=1) + "\n"
    yield Download(
        "The catalogue", "bugs.json", "all that config.json says of each bug", text.encode()
    )
    yield from _of_detectors(root, reader, outcomes)
    yield from _of_rewritten(root, reader)
    for bug in bugs:
        for path in sorted(bug.directory.glob("studies/*.csv")):
            what = "the table of a study, a row for each run"
            yield from reader.download(
                "Studies", f"{bug.id}-{path.name}", what, path, bug.directory
            )
    for bug in bugs:
        yield Download("Bugs", f"{bug.id}.zip", bug.title, _archive(bug.id, bug.directory, reader))


def _of_detectors(root: Path, reader: "_Reader", outcomes: str) -> Iterator[Download]:
    """The tables, and the records behind them."""
    for name, what in SCORES.items():
        path = root / "detectors" / "expected" / name
        if path.is_file():
            yield from reader.download("Detectors", name, what, path, root)
    if outcomes:
        yield Download("Detectors", "outcomes.csv", OUTCOMES, outcomes.encode())
    for path in sorted(root.glob("detectors/expected/*.jsonl")):
        yield from reader.download(
            "Detectors", path.name, "its description, and a record a line", path, root
        )
    for path in sorted(root.glob("detectors/expected/seeds/*.jsonl")):
        yield from reader.download(
            "Detectors", f"seeds-{path.name}", "the same by further seeds", path, root
        )


def _of_rewritten(root: Path, reader: "_Reader") -> Iterator[Download]:
    """The same of perturbed and planted programs: nothing of it is in the tables of published ones."""
    group, expected = "Detectors on rewritten programs", root / "detectors" / "expected"
    if (expected / FILE).is_file():
        what = "scores of public, perturbed and planted programs side by side"
        yield from reader.download(group, FILE, what, expected / FILE, root)
    for folder in (each.root for each in CommittedChecks(expected).rewritten):
        for path in sorted(folder.glob("*.json*")):
            what = (
                "its description, and a record a line"
                if path.suffix == ".jsonl"
                else "which planted faults do harm"
            )
            yield from reader.download(group, f"{folder.name}-{path.name}", what, path, root)


def dataset(catalog: Catalog, release: About) -> Iterator[Download]:
    """What `trainbugs export` writes, as an archive; nothing where pyarrow is not installed."""
    if find_spec("pyarrow") is None:
        return
    from trainbugs.release.write import write

    scratch = TemporaryFolder(Path(tempfile.gettempdir()), WORK)
    try:
        folder = scratch.path / "release"
        # What cannot be read, the pages of the bugs name.
        write(catalog, release, folder)
        what = (
            "tables of bugs, cases, scripts, runs and outcomes as Parquet and JSON Lines, "
            "croissant.json, a datasheet"
        )
        yield Download(
            "The dataset", "trainbugs-dataset.zip", what, _archive("release", folder, _Reader([]))
        )
    finally:
        scratch.remove()


@dataclass(frozen=True)
class _Reader:
    """Reads files that nobody has vouched for; notes those that cannot be read."""

    problems: list[str]

    def read(self, path: Path, within: Path) -> bytes | None:
        try:
            return untrusted.read_bytes(path, MAX_BYTES, within)
        except untrusted.UnsafeError as error:
            self.problems.append(f"{untrusted.shown(path)}: {error}")
            return None

    def download(
        self, group: str, name: str, what: str, path: Path, within: Path
    ) -> Iterator[Download]:
        content = self.read(path, within)
        if content is not None:
            yield Download(group, name, what, content)


def _archive(called: str, folder: Path, reader: _Reader) -> bytes:
    """A zip of a folder."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder)
            if path.is_symlink() or not path.is_file() or set(name.parts) & set(SKIPPED):
                continue
            content = reader.read(path, folder)
            if content is None:
                continue
            entry = zipfile.ZipInfo(f"{called}/{name.as_posix()}", DAY)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            file.writestr(entry, content)
    return made.getvalue()


def _csv(rows: Sequence[dict[str, object]]) -> bytes:
    if not rows:
        return b""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    # A number that is not known is an empty field.
    writer.writerows(
        {key: "" if value != value else cell(value) for key, value in row.items()} for row in rows
    )
    return text.getvalue().encode()
