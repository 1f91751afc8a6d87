"""The numbers of cells, made of the committed records of a bug."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from runner.authoring.table_sources import FRACTION, Extreme, Range, Source, merge
from runner.bugs.bug import Bug
from runner.errors import MeasureError
from runner.expectations.reductions import reduce
from runner.expectations.series import Series, measure, select
from runner.expectations.values import Value
from runner.field_types import Record
from runner.files.schema_errors import near
from runner.results.expected import (
    CPU,
    CUDA,
    expected_records,
    upstream_records,
    version_records,
)
from runner.results.record import RunRecord
from runner.studies import definition, table

# The metrics of each variant, by seed.
SeedMetrics = Mapping[int, Mapping[str, Sequence[Record]]]


@dataclass(frozen=True)
class CellNumbers:
    """What a cell shows, word by word, and the values that these are made of."""

    words: tuple[str, ...]
    values: tuple[Value, ...]


@dataclass(frozen=True)
class CommittedRecords:
    """The committed records of a bug; those of a case in an environment, and those of a study, are
    read once.
    """

    bug: Bug
    _by_place: dict[tuple[str, str | None], SeedMetrics] = field(default_factory=dict)
    _by_study: dict[str, Mapping[str, Sequence[Record]]] = field(default_factory=dict)

    def case_name(self, source: Source) -> str:
        """The case that a source names, or the only one; raises MeasureError."""
        cases = self.bug.cases
        if source.case is None and len(cases) == 1:
            return next(iter(cases))
        if source.case is None:
            raise MeasureError(f"no case is named; expected one of {', '.join(cases)}")
        if source.case not in cases:
            raise MeasureError(f"there is no case {source.case!r}{near(source.case, cases)}")
        return source.case

    def seed_metrics(self, case: str, environment: str | None) -> SeedMetrics:
        """The metrics of a case's runs, or of those in the map of versions; raises ResultsError."""
        place = (case, environment)
        if place not in self._by_place:
            self._by_place[place] = _by_seed(self._records(case, environment))
        return self._by_place[place]

    def trainings(self, study_name: str) -> Mapping[str, Sequence[Record]]:
        """The trainings of a study, by variant; raises ResultsError, UsageError or CatalogError."""
        if study_name not in self._by_study:
            self._by_study[study_name] = self._read_trainings(study_name)
        return self._by_study[study_name]

    def _read_trainings(self, study_name: str) -> Mapping[str, Sequence[Record]]:
        study = definition.load(self.bug, study_name)
        trainings: dict[str, list[Record]] = {variant: [] for variant in study.variants}
        for row in filter(lambda row: row.ok, table.read(study)):
            parameters = dict(zip(study.written.axes, row.point.values, strict=True))
            setting = {study.written.setting: row.setting, "seed": row.seed}
            trainings[row.variant].append({**parameters, **setting, **row.metrics})
        return trainings

    def _records(self, case: str, environment: str | None) -> list[RunRecord]:
        if environment is not None:
            return [
                record
                for record in version_records(self.bug)
                if record.case == case and record.runtime.environment == environment
            ]
        device = CUDA if "gpu" in self.bug.cases[case].program.tools else CPU
        bug = self.bug
        return [*expected_records(bug, case, device), *upstream_records(bug, case, device)]


def compute(source: Source, records: CommittedRecords) -> CellNumbers:
    """The numbers of a cell; raises MeasureError where the records do not give them,
    or ResultsError.
    """
    numbers = _numbers(source, records)
    for other in source.also:
        other_words = _numbers(merge([source, other]), records).words
        if other_words != numbers.words:
            raise MeasureError(
                f"`also` names what gives {' '.join(other_words)}, not {' '.join(numbers.words)}"
            )
    return numbers


def _numbers(source: Source, records: CommittedRecords) -> CellNumbers:
    cell_values = values(source, records)
    texts = format_values(cell_values, source.format)
    if source.seeds != "alike":
        return CellNumbers(tuple(texts), tuple(cell_values))
    if len(set(texts)) > 1:
        raise MeasureError(f"the seeds are to be alike, and give {' '.join(texts)}")
    return CellNumbers((texts[0],), (cell_values[0],))


def values(source: Source, records: CommittedRecords) -> list[Value]:
    """The values of a cell, seed by seed; raises MeasureError or ResultsError."""
    if source.metric is None or source.variant is None:
        key = "metric" if source.metric is None else "variant"
        raise MeasureError(f"no {key} is named for it; add {key!r} to its row or its column")
    if source.study is not None:
        return _series_values(
            source, source.metric, source.variant, records.trainings(source.study)
        )
    case = records.case_name(source)
    by_seed = records.seed_metrics(case, source.environment)
    seeds = records.bug.cases[case].program.seeds
    if isinstance(source.seeds, tuple):
        seeds = source.seeds
    elif source.environment is not None:
        seeds = tuple(by_seed)
    cell_values: list[Value] = []
    for seed in seeds:
        if source.variant not in by_seed.get(seed, {}):
            raise MeasureError(f"{case} has no record of variant {source.variant}, seed {seed}")
        cell_values += _series_values(source, source.metric, source.variant, by_seed[seed])
    return cell_values


def format_values(cell_values: Sequence[Value], spec: str | None) -> list[str]:
    """The values as a cell shows them: without decimals where all are whole numbers.

    Raises MeasureError for other numbers without a format.
    """
    if all(map(_is_whole, cell_values)):
        return [f"{value:.0f}" for value in cell_values]
    return [_format(value, spec) for value in cell_values]


def _series_values(
    source: Source, metric: str, variant: str, metrics: Mapping[str, Sequence[Record]]
) -> list[Value]:
    series = Series(
        metric=metric,
        where=source.where,
        minus=source.minus,
        over=source.over,
        index=source.index,
    )
    chosen = {name: _choose(source, name, records) for name, records in metrics.items()}
    if not chosen[variant]:
        raise MeasureError(f"no record of variant {variant} has {_describe_ranges(source.between)}")
    reduction = source.reduce or "last"
    series_values = measure(series, variant, chosen, lists=reduction == "distinct")
    return series_values if reduction == "all" else [reduce(series_values, reduction)]


def _choose(source: Source, variant: str, records: Sequence[Record]) -> list[Record]:
    """The records of a variant that `between` and `at` leave."""
    chosen = list(records)
    if source.between:
        chosen = [record for record in records if _is_between(record, source.between)]
    return _extreme(source.at, variant, chosen) if source.at and chosen else chosen


def _is_between(record: Record, between: Mapping[str, Range]) -> bool:
    for name, (lowest, highest) in between.items():
        value = record.get(name)
        if not isinstance(value, int | float) or not lowest <= value <= highest:
            return False
    return True


def _describe_ranges(between: Mapping[str, Range]) -> str:
    ranges = [f"{name} from {low:g} to {high:g}" for name, (low, high) in between.items()]
    return " and ".join(ranges) or "any field"


def _extreme(extreme: Extreme, variant: str, records: Sequence[Record]) -> list[Record]:
    numbers = select(extreme.metric, {}, records, variant)
    place = numbers.index(reduce(numbers, extreme.reduce))
    return [records[place]]


def _by_seed(records: Iterable[RunRecord]) -> SeedMetrics:
    by_seed: dict[int, dict[str, Sequence[Record]]] = {}
    for record in records:
        by_seed.setdefault(record.seed, {})[record.variant] = record.metrics
    return by_seed


def _is_whole(value: Value) -> bool:
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def _format(value: Value, spec: str | None) -> str:
    if isinstance(value, str | bool):
        return str(value)
    if spec is None:
        raise MeasureError(f"{value!r} is no whole number; add 'format' to its row, as in '.3f'")
    if spec == FRACTION:
        return _fraction(value)
    # `z`: a small negative number is 0.00, too.
    digits, exponent, power = f"{value:z{spec}}".partition("e")
    return f"{digits}{exponent}{int(power)}" if exponent else digits


def _fraction(value: float) -> str:
    if value in (0, 1):
        return f"{value:.0f}"
    return f"1/{1 / value:.0f}"
