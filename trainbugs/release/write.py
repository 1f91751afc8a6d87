"""A release in a folder: tables as Parquet and JSONL, croissant.json, README.md, DATASHEET.md,
licences, SHA256SUMS.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.bugs.catalog import Catalog
from runner.errors import ResultsError, UsageError
from runner.files import swap
from runner.files.atomic import write_text
from trainbugs.descriptions import harm_rows
from trainbugs.release.about import About
from trainbugs.release.croissant import File, croissant
from trainbugs.release.tables import Table, tables

TEXTS = Path(__file__).parent / "texts"
SUMS = "SHA256SUMS"
# Where the datasheet has its table.
HARM_TABLE = "HARM-TABLE"
KINDS = {
    ".parquet": "application/x-parquet",
    ".jsonl": "application/jsonlines",
    ".md": "text/markdown",
    "": "text/plain",
}
# Sizes in the words of the Hugging Face hub: there are fewer rows than the number.
SIZES = {
    1_000: "n<1K",
    10_000: "1K<n<10K",
    100_000: "10K<n<100K",
    1_000_000: "100K<n<1M",
    10_000_000: "1M<n<10M",
}
LARGEST = "10M<n<100M"
# No task of the hub's list is to find a fault in a program.
TASK = "other"
# Texts are in English, and scripts are a table of their own.
LANGUAGES = ("en", "code")
TAGS = (
    "pytorch",
    "deep-learning",
    "silent-bugs",
    "debugging",
    "fault-localization",
    "software-engineering",
    "benchmark",
)
# A link in Markdown to a file, and not to an address or to a heading of the same page.
FILE_LINK = re.compile(r"\[([^\]]+)\]\((?![a-z]+:|#)([^)#\s]+)[^)\s]*\)")


@dataclass(frozen=True)
class Release:
    """What was written: rows by table, bytes, and a line for each file of the catalogue that cannot
    be read.
    """

    rows: dict[str, int]
    size: int
    problems: Sequence[str]


def write(catalog: Catalog, about: About, out: Path) -> Release:
    """Write a release into a folder that is new, empty or an earlier release;
    raises UsageError for any other.

    It is written beside the folder, and put into its place when it is whole. Raises ResultsError
    where that fails.
    """
    swap.recover(out.resolve())
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / SUMS).is_file())):
        raise UsageError(f"{out} is there, and is no release; name a new folder by --out")
    release_tables, problems = tables(catalog)
    try:
        with swap.changing(out, anew=True) as folder:
            _write(about, release_tables, harm_table(catalog), folder)
            size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    except OSError as error:
        raise ResultsError(f"{out}: cannot be written: {error.strerror}") from error
    return Release({table.name: len(table.frame) for table in release_tables}, size, problems)


def harm_table(catalog: Catalog) -> str:
    """The table of the datasheet: bugs by whose code is at fault and by harm, in Markdown."""
    bugs, _ = catalog.readable()
    heading, *lines = harm_rows(bugs)
    rule = ["---"] * len(heading)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heading, rule, *lines))


def _write(about: About, release_tables: Sequence[Table], harm_numbers: str, folder: Path) -> None:
    (folder / "data").mkdir(parents=True)
    for table in release_tables:
        table.frame.to_parquet(folder / "data" / f"{table.name}.parquet", index=False)
        table.frame.to_json(
            folder / "data" / f"{table.name}.jsonl", orient="records", lines=True, force_ascii=False
        )
    for path in TEXTS.iterdir():
        text = path.read_text(encoding="utf-8").replace(HARM_TABLE, harm_numbers)
        write_text(folder / path.name, without_repository_links(text))
    write_text(folder / "README.md", card(about, release_tables))
    files = [_file(path, folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    document = json.dumps(croissant(about, release_tables, files), indent=1, ensure_ascii=False)
    write_text(folder / "croissant.json", document + "\n")
    files.append(_file(folder / "croissant.json", folder))
    write_text(folder / SUMS, "".join(f"{file.sha256}  {file.place}\n" for file in files))


def _file(path: Path, folder: Path) -> File:
    content = path.read_bytes()
    kind = KINDS.get(path.suffix, "application/json")
    return File(
        path.relative_to(folder).as_posix(), hashlib.sha256(content).hexdigest(), len(content), kind
    )


def without_repository_links(text: str) -> str:
    """A page of the repository whose links to files that a release lacks are words."""
    names = {path.name for path in TEXTS.iterdir()}

    def in_words(link: re.Match[str]) -> str:
        label, place = link.groups()
        return link[0] if place in names else f"{label} (`{place}` of the repository)"

    return FILE_LINK.sub(in_words, text)


def size_category(rows: int) -> str:
    """The category of the hub for a data set of so many rows."""
    return next((name for limit, name in SIZES.items() if rows < limit), LARGEST)


def _metadata(release_tables: Sequence[Table]) -> list[str]:
    """What `datasets` and the Hugging Face hub read at the top of a card, as lines of YAML."""
    rows = sum(len(table.frame) for table in release_tables)
    lists = {
        "language": LANGUAGES,
        "size_categories": [size_category(rows)],
        "task_categories": [TASK],
        "tags": TAGS,
    }
    lines = ["license: mit", "pretty_name: trainbugs"]
    for name, entries in lists.items():
        lines += [f"{name}:", *(f"- {entry}" for entry in entries)]
    lines.append("configs:")
    for table in release_tables:
        lines += [f"- config_name: {table.name}", f"  data_files: data/{table.name}.parquet"]
    return lines


def card(about: About, release_tables: Sequence[Table]) -> str:
    """README.md: what `datasets` and the hub read at its top, and a table of the tables."""
    lines = [
        "---",
        *_metadata(release_tables),
        "---",
        "",
        "# trainbugs",
        "",
        f"{about.title}, version {about.version} of {about.day}.",
        "",
    ]
    lines += ["| table | rows | a row is |", "|---|---|---|"]
    lines += [f"| `{table.name}` | {len(table.frame)} | {table.row} |" for table in release_tables]
    for table in release_tables:
        lines += ["", f"## {table.name}", "", "| column | |", "|---|---|"]
        lines += [f"| `{name}` | {text} |" for name, text in table.columns.items()]
    return "\n".join([*lines, "", USE, ""])


USE = """## Use

From the folder that holds this one, called `release`:

```python
import pandas as pd
bugs = pd.read_parquet("release/data/bugs.parquet")

from datasets import load_dataset
scripts = load_dataset("release", "scripts", split="train")
```

The tables are there as JSON Lines, too. [croissant.json](croissant.json) describes all columns,
[DATASHEET.md](DATASHEET.md) says how the data came about and what it is not for,
[LICENSES.md](LICENSES.md) what follows from the licences of the reports. `sha256sum -c SHA256SUMS`
checks the files. The programs run with the command `trainbugs` of the repository."""
