"""Results as one table: a row a record of a script, with what was run beside it (pandas; ready for CSV or parquet)."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from runner.errors import ResultsError
from runner.records import RunRecord, encode

if TYPE_CHECKING:
    import pandas as pd


def frame(records: Iterable[RunRecord]) -> "pd.DataFrame":
    """Columns: the fields of RunRecord (parameters as parameter.NAME), `record` (from 1), metrics as metric.NAME.

    A run without records gives one row with an empty `record`. Lists are JSON texts, so that every cell is a scalar.
    """
    import pandas as pd

    table = pd.DataFrame([row for record in records for row in _rows(record)])
    if "record" in table:
        table["record"] = table["record"].astype("Int64")
    return table


def _rows(record: RunRecord) -> list[dict[str, Any]]:
    fields = encode(record)
    metrics, parameters = fields.pop("metrics"), fields.pop("parameters")
    run = fields | {f"parameter.{name}": value for name, value in parameters.items()}
    return [
        run | {"record": index} | {f"metric.{name}": _cell(value) for name, value in metric.items()}
        for index, metric in enumerate(metrics, 1)
    ] or [run | {"record": None}]


def _cell(value: Any) -> Any:
    """A scalar; what the record writes as text because JSON has no such number becomes a number again."""
    if isinstance(value, list | dict):
        return json.dumps(value)
    return float(value) if value in ("NaN", "Infinity", "-Infinity") else value


def write_csv(records: Iterable[RunRecord], file: str) -> None:
    """Write the table as CSV to a file, or to standard output for `-`; raises ResultsError."""
    table = frame(records)
    if file == "-":
        print(table.to_csv(index=False), end="")
        return
    try:
        table.to_csv(file, index=False)
    except OSError as error:
        raise ResultsError(f"{file}: cannot be written: {error.strerror or error}") from error
