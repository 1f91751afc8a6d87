"""Series: the values that expectations and figures take from records."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta

from runner.errors import MeasureError
from runner.expectations.reductions import ReductionName, reduce
from runner.expectations.values import Value, brief, difference, is_finite, ratio
from runner.field_types import ConfigPart, Record, Scalar, Text, VariantName
from runner.files.schema_errors import near
from runner.plurals import counted

Metric = Annotated[Text, Meta(description="The field of a record; a number, or a list of numbers.")]
Where = Annotated[
    Mapping[str, Scalar], Meta(description="Only records whose fields have these values.")
]


class Operand(ConfigPart, frozen=True, kw_only=True):
    """The values that are subtracted, or divided by;
    what it leaves out is as on the side they are compared with.
    """

    variant: Annotated[VariantName | None, Meta(description="Of this variant (same seed).")] = None
    metric: Annotated[Metric | None, Meta(description="This metric.")] = None
    where: Annotated[
        Where | None,
        Meta(description="Of the records with these values. A single one counts for every value."),
    ] = None
    reduce: Annotated[
        ReductionName | None,
        Meta(description="One number made of them, which counts for every value."),
    ] = None

    def __post_init__(self) -> None:
        """Raise ValueError where nothing is named."""
        if all(part is None for part in (self.variant, self.metric, self.where, self.reduce)):
            raise ValueError(
                "expected some of variant, metric, where, reduce: without them nothing differs"
            )


class Series(ConfigPart, frozen=True):
    """A sequence of values taken from records: a metric, perhaps minus or over other values,
    value by value.
    """

    metric: Metric
    where: Where = {}
    minus: Annotated[
        VariantName | Operand | None,
        Meta(
            description=(
                "Subtract the same metric of this variant (same seed), or what an object names. Of "
                "lists, the largest absolute difference of elements is taken."
            )
        ),
    ] = None
    minus_where: Annotated[
        Mapping[str, Scalar] | None,
        Meta(
            description=(
                "Records to subtract; of the variant `minus`, or of the same one where that is "
                "absent. A single one is subtracted from every value."
            )
        ),
    ] = None
    over: Annotated[
        VariantName | Operand | None,
        Meta(
            description=(
                "Divide by the same metric of this variant (same seed), or by what an object names."
            )
        ),
    ] = None
    index: Annotated[
        int | None,
        Meta(description="The metric is a list: take this element, from 0; -1 is the last one."),
    ] = None

    def __post_init__(self) -> None:
        """Raise ValueError for what the types cannot express."""
        if self.over is not None and (self.minus is not None or self.minus_where is not None):
            raise ValueError(
                "over: the values are subtracted or divided; leave out `over`, or `minus` and "
                "minus_where"
            )
        if isinstance(self.minus, Operand) and self.minus_where is not None:
            raise ValueError("minus_where: `minus` is an object; put it there, as `where`")

    @property
    def other(self) -> Operand | None:
        """What is subtracted or divided by, from whichever keys name it; None where nothing is."""
        side = self.minus if self.over is None else self.over
        if isinstance(side, Operand) or (side is None and self.minus_where is None):
            return side
        return Operand(variant=side, where=self.minus_where)


def measure(
    series: Series, variant: str, records: Mapping[str, Sequence[Record]], lists: bool = False
) -> list[Value]:
    """The values of the series of `variant`; `records` maps each variant to its records, in order.

    With `lists`, a value may be a list. Raises MeasureError where a metric is missing or not
    finite, or the two sides of a difference or a ratio differ in length.
    """
    metrics = select(series.metric, series.where, records[variant], variant)
    values = _elements(series, metrics)
    other = series.other
    if other is None:
        return values if lists else _scalars(values, series.metric)
    other_values = _other_values(series, other, variant, records)
    may_repeat = other.where is not None or other.reduce is not None
    if len(other_values) == 1 and may_repeat:
        other_values *= len(values)
    if len(values) != len(other_values):
        raise MeasureError(_unequal(series, len(values), len(other_values)))
    combine = ratio if series.over else difference
    return [combine(a, b) for a, b in zip(values, other_values, strict=True)]


def _unequal(series: Series, length: int, other_length: int) -> str:
    """The message about two sides of different lengths."""
    key = "over" if series.over else "minus"
    sides = f"`where` and that of `{key}`"
    if series.minus_where is not None:
        sides = "`where` and `minus_where`"
    return (
        f"metric {series.metric!r}: {counted(length, 'value')} {key} "
        f"{counted(other_length, 'value')}: if config.json means other records, "
        f"let {sides} pick as many, or one"
    )


def _other_values(
    series: Series, other: Operand, variant: str, records: Mapping[str, Sequence[Record]]
) -> list[Any]:
    """The values that are subtracted or divided by."""
    other_variant = other.variant or variant
    metric = other.metric or series.metric
    where = series.where if other.where is None else other.where
    if other_variant not in records:
        raise MeasureError(
            f"metric {metric!r} of variant {other_variant} is needed, and there is no such run"
        )
    metrics = select(metric, where, records[other_variant], other_variant)
    values = _elements(series, metrics)
    return [reduce(values, other.reduce)] if other.reduce else values


def _elements(series: Series, values: list[Any]) -> list[Any]:
    """The element `index` of each value, or the values as they are."""
    index = series.index
    if index is None:
        return values
    for value in values:
        if not isinstance(value, list) or not -len(value) <= index < len(value):
            raise MeasureError(
                f"metric {series.metric!r} is {brief(value)}, which has no element {index}"
            )
    return [value[index] for value in values]


def select(
    metric: str, where: Mapping[str, Any], records: Sequence[Record], variant: str
) -> list[Any]:
    """The metric of each record that matches `where`.

    Raises MeasureError where none matches, or the metric is missing or not finite in one.
    """
    matches = records
    if where:
        matches = [record for record in records if matches_where(record, where)]
    if not matches:
        raise MeasureError(f"no record of variant {variant} has {_describe(where)}")
    missing = [index for index, record in enumerate(matches, 1) if metric not in record]
    if missing:
        place = f"record {missing[0]} of variant {variant}"
        remedy = _remedy(metric, missing, matches)
        raise MeasureError(f"metric {metric!r} is missing in {place}{remedy}")
    values = [record[metric] for record in matches]
    for index, value in enumerate(values, 1):
        if not is_finite(value):
            raise MeasureError(
                f"metric {metric!r} is {value!r} in record {index} of variant {variant}"
            )
    return values


def matches_where(record: Record, where: Mapping[str, Any]) -> bool:
    """Whether the record's fields have these values."""
    # `all` takes twice as long, and there are many records.
    for key, value in where.items():  # noqa: SIM110
        if record.get(key) != value:
            return False
    return True


def _remedy(metric: str, missing: Sequence[int], records: Sequence[Record]) -> str:
    """What to do about a metric that these of the records lack."""
    if len(missing) < len(records):
        number = f"{len(missing)} of {len(records)}"
        return f", {number} lack it: add `where`, which picks those that have it"
    everywhere = " and in all others" if len(records) > 1 else ""
    return everywhere + near(metric, records[0])


def _scalars(values: list[Any], metric: str) -> list[Value]:
    """The values; raises MeasureError where one is a list."""
    for value in values:
        if not isinstance(value, float | int | str):
            hint = "; name an element by `index`" if isinstance(value, list) else ""
            raise MeasureError(
                f"metric {metric!r} is {brief(value)}, expected one value in each record{hint}"
            )
    return values


def _describe(where: Mapping[str, Any]) -> str:
    return " and ".join(f"{key} = {value!r}" for key, value in where.items()) or "any field"
