"""The table of a study: a row for each point, variant, seed and setting, as CSV."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from runner.errors import ResultsError
from runner.field_types import Scalar
from runner.files import untrusted
from runner.files.cells import cell, text_of
from runner.results.record import RunRecord
from runner.studies.definition import RUN_COLUMNS, Point, Study

MAX_TABLE_BYTES = 50_000_000
# Digits of a key: enough to tell runs from each other, and present ones from older ones.
KEY_LENGTH = 16
# Digits of a commit.
REVISION_LENGTH = 12
OK = "ok"
# Numbers that are not finite: as JSON records write them, and as the table does.
NOT_FINITE = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}


class StudyRow(Struct, frozen=True):
    """One training of a run, or a run that failed, which has no `setting` and no metrics.

    `centre` is the value of the parameter that another study gave, `run` has the columns
    RUN_COLUMNS.
    """

    point: Point
    variant: str
    seed: int
    run: Mapping[str, str]
    setting: float | None = None
    centre: float | None = None
    metrics: Mapping[str, Scalar] = {}

    @property
    def ok(self) -> bool:
        """Whether its run ended as it should."""
        return self.run["status"] == OK


def rows(study: Study, records: Iterable[tuple[Point, RunRecord]]) -> list[StudyRow]:
    """The rows of these runs, read back from their CSV: so numbers are the same whether it was
    committed or not.
    """
    run_rows: list[StudyRow] = []
    for point, record in records:
        run_rows += _run_rows(study, point, record)
    return parse(study, text(study, run_rows))


def _run_rows(study: Study, point: Point, record: RunRecord) -> list[StudyRow]:
    run = _run_columns(record)
    setting = study.written.setting
    centre = None
    if study.written.centre:
        centre = float(record.parameters[study.written.centre.parameter])
    if not record.ok:
        return [StudyRow(point, record.variant, record.seed, run, None, centre)]
    run_rows = []
    for metrics in record.metrics:
        if not isinstance(metrics.get(setting), int | float):
            raise ResultsError(
                f"{study.id}: a record has no number {setting!r}, which the study names: {metrics}"
            )
        numbers = {name: value for name, value in metrics.items() if name != setting}
        value = float(metrics[setting])
        run_rows.append(StudyRow(point, record.variant, record.seed, run, value, centre, numbers))
    return run_rows


def _run_columns(record: RunRecord) -> dict[str, str]:
    """The columns RUN_COLUMNS of a run."""
    values = (
        record.status,
        record.key[:KEY_LENGTH],
        record.runtime.environment,
        record.python,
        record.runtime.torch,
        record.runtime.device,
        record.data,
        record.started[:10],
        (record.revision or "")[:REVISION_LENGTH],
    )
    texts = ("" if value is None else str(value) for value in values)
    return dict(zip(RUN_COLUMNS, texts, strict=True))


def text(study: Study, rows: Sequence[StudyRow]) -> str:
    """The table as CSV: sorted in the order of the study's file, numbers with six digits."""
    written = study.written
    ordered = _sort(study, rows)
    metrics = list(dict.fromkeys(name for row in ordered for name in row.metrics))
    centre = [written.centre.parameter] if written.centre else []
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    names = [*written.axes, *centre, "variant", "seed", written.setting, *metrics, *RUN_COLUMNS]
    writer.writerow(map(cell, names))
    for row in ordered:
        values = list(map(str, row.point.values))
        if written.centre:
            values.append(_cell(row.centre))
        values += [row.variant, str(row.seed), _cell(row.setting)]
        values += [_cell(row.metrics.get(name)) for name in metrics]
        values += [row.run[name] for name in RUN_COLUMNS]
        writer.writerow(map(cell, values))
    return stream.getvalue()


def _sort(study: Study, rows: Sequence[StudyRow]) -> list[StudyRow]:
    place = {point: index for index, point in enumerate(study.points)}
    variants = list(study.variants)

    def key(row: StudyRow) -> tuple[int, int, int, float]:
        return place[row.point], variants.index(row.variant), row.seed, row.setting or 0.0

    return sorted(rows, key=key)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool | list | dict):
        return json.dumps(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    return NOT_FINITE.get(str(value), str(value))


def read(study: Study) -> list[StudyRow]:
    """The committed table; empty where there is none.

    Raises ResultsError for one that is not of this study's grid.
    """
    path = study.path(".csv")
    if not path.exists():
        return []
    try:
        return parse(
            study, untrusted.read_text(path, MAX_TABLE_BYTES, study.folder.directory), path
        )
    except untrusted.UnsafeError as error:
        raise ResultsError(f"{untrusted.shown(path)}: {error}") from error


def parse(study: Study, table: str, path: Path | None = None) -> list[StudyRow]:
    """The rows of a CSV; raises ResultsError, with the number of the line, for one that is none of
    this study.
    """
    points = {tuple(map(str, point.values)): point for point in study.points}
    reader = csv.DictReader(io.StringIO(table), strict=True)
    parsed = []
    try:
        for line in reader:
            parsed.append(_row(study, points, _texts(line)))
    except (KeyError, ValueError, TypeError, csv.Error) as error:
        where = untrusted.shown(path) if path else study.id
        raise ResultsError(
            f"{where}: line {reader.line_num} is no row of this study: {error}"
        ) from error
    return parsed


def _texts(line: dict[str, str]) -> dict[str, str]:
    """The texts of a line by column. DictReader gives None for a cell that is missing, and names
    surplus cells None.

    Raises ValueError for a line that has fewer or more cells than the first one.
    """
    absent = [name for name, cell in line.items() if cell is None]
    if absent:
        raise ValueError(f"it has no cell for {untrusted.brief(absent[0])}")
    if None in line:
        raise ValueError("it has more cells than the first line names")
    return {text_of(name): text_of(cell) for name, cell in line.items()}


def _row(
    study: Study, points: Mapping[tuple[str, ...], Point], line: Mapping[str, str]
) -> StudyRow:
    written = study.written
    centre = written.centre and written.centre.parameter
    point = points[tuple(line[name] for name in written.axes)]
    if line["variant"] not in study.variants:
        raise ValueError(f"there is no variant {untrusted.brief(line['variant'])}")
    columns = {*written.axes, "variant", "seed", written.setting, centre, *RUN_COLUMNS}
    metrics = {
        name: _value(cell) for name, cell in line.items() if name not in columns and cell != ""
    }
    return StudyRow(
        point=point,
        variant=line["variant"],
        seed=int(line["seed"]),
        run={name: line[name] for name in RUN_COLUMNS},
        setting=_number(line[written.setting]),
        centre=_number(line[centre]) if centre else None,
        metrics=metrics,
    )


def _number(cell: str) -> float | None:
    return float(cell) if cell else None


def _value(cell: str) -> Scalar:
    if cell in ("true", "false"):
        return cell == "true"
    try:
        return float(cell)
    except ValueError:
        return cell
