"""Results as one table, in pandas or CSV: a row for each record of a script, with the fields of its
run.
"""

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from runner.errors import ResultsError
from runner.files.atomic import replacing
from runner.files.cells import cell
from runner.progress.streams import raw
from runner.results.record import RUN_FORMAT, RunRecord

if TYPE_CHECKING:
    import pandas as pd


# Names of files in records are what a system has, which need be no text.
ENCODING: dict[str, Any] = {"encoding": "utf-8", "errors": "backslashreplace", "newline": ""}


def frame(records: Iterable[RunRecord]) -> "pd.DataFrame":
    """A table with the fields of RunRecord (parameters as parameter.NAME), `record` (from 1),
    metrics as metric.NAME.

    A run without records gives one row with an empty `record`. Lists are JSON texts, so that every
    cell is a scalar.
    """
    import pandas as pd

    table = pd.DataFrame([row for record in records for row in _rows(record)])
    if "record" in table:
        table["record"] = table["record"].astype("Int64")
    return table


def _rows(record: RunRecord) -> Iterator[dict[str, Any]]:
    run = {
        name: value
        for name, value in RUN_FORMAT.flatten(record).items()
        if name not in ("metrics", "parameters")
    }
    run |= {f"parameter.{name}": value for name, value in record.parameters.items()}
    if not record.metrics:
        yield run | {"record": None}
    for index, metrics in enumerate(record.metrics, 1):
        cells = {f"metric.{name}": _scalar(value) for name, value in metrics.items()}
        yield run | {"record": index} | cells


def _scalar(value: Any) -> Any:
    """A scalar; the texts NaN and Infinity, which stand for numbers that JSON lacks, become numbers
    again.
    """
    if isinstance(value, list | dict):
        return json.dumps(value)
    return float(value) if value in ("NaN", "Infinity", "-Infinity") else value


def write_csv(records: Iterable[RunRecord], file: str) -> None:
    """Write the table as CSV to a file, or to standard output for `-`; raises ResultsError.

    One record is in memory at a time, and each is read twice: first for the columns, which differ
    from bug to bug.
    """
    names = list(dict.fromkeys(name for record in records for row in _rows(record) for name in row))
    if file == "-":
        # A terminal shows what is there, escaped; another program gets it as it is.
        _write(records, names, sys.stdout if sys.stdout.isatty() else raw(sys.stdout))
        return
    try:
        with _replacing(Path(file)) as path, path.open("w", **ENCODING) as stream:
            _write(records, names, stream)
    except OSError as error:
        raise ResultsError(f"{file}: cannot be written: {error.strerror or error}") from error


def _replacing(path: Path) -> AbstractContextManager[Path]:
    """A file that takes the place of `path` when it is whole; what is no plain file (/dev/stdout)
    is written itself.
    """
    plain = not path.is_symlink() and (path.is_file() or not path.exists())
    return replacing(path) if plain and path.parent.is_dir() else nullcontext(path)


def _write(records: Iterable[RunRecord], names: Sequence[str], stream: TextIO) -> None:
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    for record in records:
        try:
            for row in _rows(record):
                writer.writerow({name: cell(value) for name, value in row.items()})
        except ValueError as error:
            raise ResultsError(
                "the records have changed while they were read; run the same command again"
            ) from error
