"""What can be downloaded: tables of the catalogue and of the scores, tables of studies,
an archive of each bug.
"""

import csv
import io
import json
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from evaluation.reading.load import committed_folder, folder_with
from evaluation.scoring.rewritten import FILE
from evaluation.store.committed import SEEDS, CommittedChecks
from runner.bugs.bug import Bug
from runner.bugs.catalog import Catalog
from runner.bugs.config import REWRITTEN
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


RECORDS = "its description, and a record a line"


@dataclass(frozen=True)
class Download:
    """A file of the folder downloads, what it holds, and its content."""

    group: str
    name: str
    description: str
    content: bytes

    @property
    def place(self) -> str:
        """Its place on the website."""
        return f"downloads/{self.name}"


def downloads(
    bugs: Sequence[Bug], root: Path, outcomes: str, problems: list[str]
) -> Iterator[Download]:
    """All downloads, in the order in which they are shown;
    a file that cannot be read is a line in `problems`.

    `outcomes` is the table of them as CSV, which is too large to be committed; empty where there is
    none.
    """
    reader = _Reader(problems)
    yield from _catalogue(bugs)
    yield from _detectors(root, reader, outcomes)
    yield from _rewritten(root, reader)
    for bug in bugs:
        yield from _studies(bug, reader)
    for bug in bugs:
        yield Download("Bugs", f"{bug.id}.zip", bug.title, _archive(bug.id, bug.directory, reader))


def _catalogue(bugs: Sequence[Bug]) -> Iterator[Download]:
    group, documents = "The catalogue", []
    rows = [row for bug in bugs for row in case_rows(bug)]
    for bug in bugs:
        document = bug_document(bug)
        # The folder of the machine that makes the website.
        del document["directory"]
        documents.append(document)
    text = json.dumps(documents, indent=1) + "\n"
    yield Download(group, "cases.csv", "a row for each case", _csv(rows))
    yield Download(group, "bugs.json", "all that config.json says of each bug", text.encode())


def _studies(bug: Bug, reader: "_Reader") -> Iterator[Download]:
    description = "the table of a study, a row for each run"
    for path in sorted(bug.directory.glob("studies/*.csv")):
        name = f"{bug.id}-{path.name}"
        yield from reader.download("Studies", name, description, path, bug.directory)


def _detectors(root: Path, reader: "_Reader", outcomes: str) -> Iterator[Download]:
    """The tables, and the records behind them."""
    group, expected = "Detectors", committed_folder(root)
    for name, description in SCORES.items():
        path = expected / name
        if path.is_file():
            yield from reader.download(group, name, description, path, root)
    if outcomes:
        yield Download(group, "outcomes.csv", OUTCOMES, outcomes.encode())
    for path in sorted(expected.glob("*.jsonl")):
        yield from reader.download(group, path.name, RECORDS, path, root)
    for path in sorted((folder_with(root, SEEDS) / SEEDS).glob("*.jsonl")):
        name = f"seeds-{path.name}"
        yield from reader.download(group, name, "the same by further seeds", path, root)


def _rewritten(root: Path, reader: "_Reader") -> Iterator[Download]:
    """The same of perturbed and planted programs: nothing of it is in the tables of published
    ones.
    """
    group, expected = "Detectors on rewritten programs", committed_folder(root)
    if (expected / FILE).is_file():
        description = "scores of public, perturbed and planted programs side by side"
        yield from reader.download(group, FILE, description, expected / FILE, root)
    for checks in CommittedChecks(folder_with(root, REWRITTEN)).rewritten:
        for path in sorted(checks.root.glob("*.json*")):
            description = RECORDS if path.suffix == ".jsonl" else "which planted faults do harm"
            name = f"{checks.root.name}-{path.name}"
            yield from reader.download(group, name, description, path, root)


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
        description = (
            "tables of bugs, cases, scripts, runs and outcomes as Parquet and JSON Lines, "
            "croissant.json, a datasheet"
        )
        content = _archive("release", folder, _Reader([]))
        yield Download("The dataset", "trainbugs-dataset.zip", description, content)
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
        self, group: str, name: str, description: str, path: Path, within: Path
    ) -> Iterator[Download]:
        content = self.read(path, within)
        if content is not None:
            yield Download(group, name, description, content)


def _archive(name: str, folder: Path, reader: _Reader) -> bytes:
    """A zip of a folder, which has that name in it."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(folder.rglob("*")):
            place = path.relative_to(folder)
            is_skipped = any(part in SKIPPED for part in place.parts)
            if path.is_symlink() or not path.is_file() or is_skipped:
                continue
            content = reader.read(path, folder)
            if content is None:
                continue
            entry = zipfile.ZipInfo(f"{name}/{place.as_posix()}", DAY)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            file.writestr(entry, content)
    return archive.getvalue()


def _csv(rows: Sequence[dict[str, object]]) -> bytes:
    if not rows:
        return b""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _field(value) for name, value in row.items()})
    return text.getvalue().encode()


def _field(value: object) -> object:
    """A value for CSV; a number that is not known is an empty field."""
    is_nan = value != value
    return "" if is_nan else cell(value)
