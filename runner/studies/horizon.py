"""The horizon of a harm: the same programs in training of twice the length,
and what is left of the harm then.

expected/horizon.csv of a bug has a row for each run; `Harm.length` names the parameter that is
doubled.
"""

import csv
import io
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from runner.bugs.bug import Bug, Target
from runner.bugs.case import Case
from runner.bugs.changed_case import with_parameter
from runner.bugs.program import VARIANTS
from runner.errors import CatalogError, MeasureError, ResultsError, UsageError
from runner.expectations.expectation import Expectation
from runner.expectations.reductions import reduce
from runner.expectations.series import Operand, Series, measure
from runner.expectations.values import Value
from runner.field_types import Record
from runner.files import untrusted
from runner.files.cells import cell, text_of
from runner.results.record import RunRecord

FILE = "horizon.csv"
COLUMNS = (
    "case",
    "variant",
    "seed",
    "metric",
    "value",
    "key",
    "environment",
    "python",
    "torch",
    "data",
    "date",
    "revision",
)
MAX_BYTES = 1_000_000
KEY_LENGTH, REVISION_LENGTH = 16, 12
FACTOR = 2
# Reductions of a whole run: most of it is from before the harm can be gone.
OF_WHOLE_RUN = ("mean", "median", "max", "min")
# Fields of records that count: an expectation may pick a record by them, and a longer run has
# others.
COUNTERS = ("epoch", "step", "iteration", "update")


class HorizonRow(Struct, frozen=True):
    """A run of twice the length; `value` is its `end_value`."""

    case: str
    variant: str
    seed: int
    metric: str
    value: float
    key: str
    environment: str
    python: str
    torch: str
    data: str
    date: str
    revision: str


def horizon_targets(bug: Bug, names: Container[str] | None = None) -> list[Target]:
    """The cases of these names, or all, with a declared length, as cases of twice that length;
    empty where there is none.
    """
    cases = [case for case in horizon_cases(bug) if names is None or case.name in names]
    return [Target(bug, _doubled(case), VARIANTS) for case in cases]


def horizon_cases(bug: Bug) -> list[Case]:
    """The cases of which there have to be runs of twice the length."""
    return [case for case in bug.cases.values() if _length(case) and harm_expectation(case)]


def _length(case: Case) -> str | None:
    return case.harm.length if case.harm else None


def harm_expectation(case: Case) -> Expectation | None:
    """The expectation that states the harm of a case; None where none is marked."""
    return next((item for item in case.oracle.expectations if item.harm), None)


def _doubled(case: Case) -> Case:
    """The case with twice the length. How many records it gives is not known before."""
    name = _length(case) or ""
    value = case.program.parameters.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise CatalogError(
            f"{case.id}: harm.length is {name!r}, expected a parameter that is a whole number"
        )
    return with_parameter(case, horizon_name(case), name, FACTOR * value, slower=2 * FACTOR)


def horizon_name(case: Case) -> str:
    """The name of the doubled case in records and results folders; no case of a bug may have it."""
    return f"study-horizon-{case.name}"


def harm_value(case: Case, metrics: Mapping[str, Sequence[Record]], variant: str) -> float:
    """What the harm of a case is judged by in a run of its own length.

    Raises MeasureError where the records lack it.
    """
    values, reduction = _values_of_harm(case, metrics, variant)
    return _number(case, values, reduction)


def end_value(case: Case, metrics: Mapping[str, Sequence[Record]], variant: str) -> float:
    """What the harm is judged by at the end of a run of twice the length: of means and extremes of
    the whole run only the second half, in which a harm that delays the training is gone.

    Raises MeasureError where the records lack it.
    """
    values, reduction = _values_of_harm(case, metrics, variant)
    if reduction in OF_WHOLE_RUN:
        values = values[len(values) // FACTOR :]
    return _number(case, values, reduction)


def _values_of_harm(
    case: Case, metrics: Mapping[str, Sequence[Record]], variant: str
) -> tuple[Sequence[Value], str]:
    """The values by which the harm is judged, whatever the length of the run, and how."""
    expectation = harm_expectation(case)
    if expectation is None:
        raise MeasureError(f"no expectation of {case.id} states the harm")
    series = _end_series(expectation, case.plot.x)
    picks_an_epoch = expectation.where != series.where
    is_last = picks_an_epoch or expectation.reduce in ("all", "distinct")
    return measure(series, variant, metrics), "last" if is_last else expectation.reduce


def _number(case: Case, values: Sequence[Value], reduction: str) -> float:
    value = reduce(values, reduction)
    if isinstance(value, str):
        raise MeasureError(f"metric {_metric(case)!r} is {value!r}, expected a number")
    return float(value)


def _end_series(expectation: Expectation, x: str) -> Series:
    """The series of the expectation in one variant, without the epoch that it picks."""
    counters = {x, *COUNTERS}
    where = {key: value for key, value in expectation.where.items() if key not in counters}
    other = expectation.other
    operand = None
    if other and other.metric and not other.variant:
        operand = Operand(metric=other.metric, where=other.where, reduce=other.reduce)
    over = operand if expectation.over is not None else None
    minus = operand if expectation.over is None else None
    return Series(
        metric=expectation.metric, where=where, minus=minus, over=over, index=expectation.index
    )


def rows(bug: Bug, records: Iterable[RunRecord]) -> list[HorizonRow]:
    """The rows of runs of twice the length; raises ResultsError for a run that failed or lacks the
    metric.
    """
    cases = {horizon_name(case): case for case in bug.cases.values()}
    return [_row(cases[record.case], record) for record in records]


def _row(case: Case, record: RunRecord) -> HorizonRow:
    name = f"{record.bug}/{record.case}, {record.variant} seed {record.seed}"
    if not record.ok:
        raise ResultsError(f"{name}: {record.status}: {record.reason}")
    try:
        value = end_value(case, {record.variant: record.metrics}, record.variant)
    except MeasureError as error:
        raise ResultsError(f"{name}: {error}") from error
    return HorizonRow(
        case=case.name,
        variant=record.variant,
        seed=record.seed,
        metric=_metric(case),
        value=float(f"{value:.6g}"),
        key=record.key[:KEY_LENGTH],
        environment=record.runtime.environment,
        python=record.python,
        torch=record.runtime.torch or "",
        data=record.data or "",
        date=record.started[:10],
        revision=(record.revision or "")[:REVISION_LENGTH],
    )


def text(table: Iterable[HorizonRow]) -> str:
    """The rows as CSV, sorted by case, seed and variant."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in sorted(table, key=lambda row: (row.case, row.seed, row.variant)):
        writer.writerow([_text_cell(getattr(row, name)) for name in COLUMNS])
    return stream.getvalue()


def _metric(case: Case) -> str:
    """The metric by which the harm of a case is judged."""
    expectation = harm_expectation(case)
    return expectation.metric if expectation else ""


def _text_cell(value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return str(cell(text))


def read(bug: Bug) -> list[HorizonRow]:
    """The committed rows; empty where there are none. Raises ResultsError for a file that is no
    such table.
    """
    path = bug.expected / FILE
    if not path.exists():
        return []
    try:
        table = untrusted.read_text(path, MAX_BYTES, bug.directory)
        return list(_parse(table))
    except (untrusted.UnsafeError, ValueError, KeyError, TypeError, csv.Error) as error:
        raise ResultsError(f"{untrusted.shown(path)}: {error}") from error


def _parse(table: str) -> Iterator[HorizonRow]:
    for line in csv.DictReader(io.StringIO(table)):
        yield HorizonRow(
            case=line["case"],
            variant=line["variant"],
            seed=int(line["seed"]),
            metric=text_of(line["metric"]),
            value=float(line["value"]),
            **{name: text_of(line[name]) for name in COLUMNS[5:]},
        )


def is_late(case: Case, table: Sequence[HorizonRow], records: Sequence[RunRecord]) -> bool:
    """Whether the harm is gone after twice the length:
    with some seed the buggy program is no longer worse.

    `records` are the expected ones, which say which side is worse. Raises MeasureError, and
    ResultsError where a seed has no rows.
    """
    by_seed: dict[int, dict[str, Sequence[Record]]] = {}
    for record in records:
        by_seed.setdefault(record.seed, {})[record.variant] = record.metrics
    rows_of_case = [row for row in table if row.case == case.name]
    metrics_of_rows = {row.metric for row in rows_of_case}
    if metrics_of_rows - {_metric(case)}:
        raise ResultsError(
            f"expected/{FILE} has {', '.join(sorted(metrics_of_rows))} of {case.name}, and the "
            f"harm is stated on {_metric(case)}"
        )
    values = {(row.variant, row.seed): row.value for row in rows_of_case}
    late = False
    for seed, metrics in by_seed.items():
        before = [harm_value(case, metrics, variant) for variant in VARIANTS]
        try:
            after = [values[variant, seed] for variant in VARIANTS]
        except KeyError as error:
            raise ResultsError(f"expected/{FILE} has no row of {case.name}, seed {seed}") from error
        late = late or (before[0] - before[1]) * (after[0] - after[1]) <= 0
    return late


def refuse_unfit(bug: Bug, records: Sequence[RunRecord]) -> None:
    """Raise UsageError where these runs cannot be kept: dirty files,
    or no pinned environment of the bug's own.
    """
    if any((record.revision or "").endswith("-dirty") for record in records):
        raise UsageError(
            f"{bug.id} was run from files that are not committed: commit, then run with --force"
        )
    if not all(record.runtime.pinned and not record.runtime.trusted for record in records):
        raise UsageError(
            f"{bug.id} was not run in pinned environments: expected/{FILE} stays as it is"
        )
