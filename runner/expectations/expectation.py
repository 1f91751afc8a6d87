"""Expectations, as config.json states them."""

from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Meta

from runner.expectations.operators import OPERATORS, OperatorName
from runner.expectations.reductions import REDUCTIONS, ReductionName
from runner.expectations.series import Operand, Series
from runner.field_types import Scalar, Text, VariantName


class Expectation(Series, frozen=True, kw_only=True):
    """A checkable statement about the records of one variant, for every seed:
    `reduce(series) op value`.
    """

    statement: Annotated[Text, Meta(description="What is expected, as a sentence.")]
    variant: Annotated[VariantName, Meta(description="Whose records are looked at.")]
    reduce: Annotated[
        Literal["all"] | ReductionName,
        Meta(
            description=(
                "What is compared: all values in order, or one number made of them. `largest_drop` "
                "is the largest decrease from one record to the next, `distinct` the number of "
                "different values, or lists."
            )
        ),
    ]
    op: Annotated[
        OperatorName,
        Meta(description="How it is compared with `value`. `close` needs `tolerance`."),
    ]
    value: Annotated[
        Scalar | Annotated[tuple[Scalar, ...], Meta(min_length=1)],
        Meta(description="A list only with `reduce: all`."),
    ]
    tolerance: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(description="Largest absolute difference that `close` allows."),
    ] = None
    relative: Annotated[
        bool, Meta(description="`tolerance` is a share of `value`: 0.05 allows 5 %.")
    ] = False
    harm: Annotated[
        bool,
        Meta(
            description=(
                "True for the one expectation of a case that states the harm: it tells the two "
                "variants apart with each seed."
            )
        ),
    ] = False
    across_seeds: Annotated[
        Literal["mean", "min", "max", "distinct"] | None,
        Meta(
            description=(
                "One check for all seeds that were run: of the numbers that `reduce` makes for "
                "each, this one is compared. Left out of maps of versions, which run one seed."
            )
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise ValueError for what can never be decided, or never hold."""
        super().__post_init__()
        if OPERATORS[self.op].needs_tolerance != (self.tolerance is not None):
            raise ValueError(
                f"op is {self.op!r}: `close` needs the key 'tolerance', and nothing else may have "
                "it"
            )
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        for problem in (*self._check_value(values), *self._check_reduction()):
            raise ValueError(problem)

    @property
    def variants(self) -> frozenset[str]:
        """The variants whose records are looked at."""
        variants: set[str] = {self.variant}
        if self.other and self.other.variant:
            variants.add(self.other.variant)
        return frozenset(variants)

    @property
    def _needs_number(self) -> bool:
        """Whether `value` is compared with a number, whatever the metric holds."""
        if self.reduce != "all" and REDUCTIONS[self.reduce].makes_number:
            return True
        return self.across_seeds is not None or self.other is not None

    def _check_value(self, values: tuple[Scalar, ...]) -> Iterator[str]:
        operator = OPERATORS[self.op]
        texts = [value for value in values if isinstance(value, str)]
        if texts and (self._needs_number or operator.needs_numbers):
            numbers_only = f"{self.op} compares numbers"
            reason = "a number is compared" if self._needs_number else numbers_only
            yield f"value: is {texts[0]!r}, and {reason}; expected a number"
        if self.relative and (not operator.needs_tolerance or not all(values) or texts):
            yield "relative: needs op close, and a value that is a number other than 0"

    def _check_reduction(self) -> Iterator[str]:
        if isinstance(self.value, tuple) and self.reduce != "all":
            yield f"value: a list as value needs reduce all, not {self.reduce}"
        if self.across_seeds and self.reduce == "all":
            yield "across_seeds: needs one number of each seed, `reduce` is all"
        if self.other and self._is_of_itself(self.other):
            verb = "divided by itself" if self.over is not None else "subtracted from itself"
            yield (
                f"metric: {self.metric!r} of {self.variant} is {verb}; "
                "name another variant, metric or `where`"
            )

    def _is_of_itself(self, other: Operand) -> bool:
        """Whether the values are subtracted from, or divided by, themselves."""
        is_same_metric = other.metric in (None, self.metric)
        is_same_choice = other.where in (None, self.where)
        is_same_variant = other.variant in (None, self.variant)
        is_same = is_same_metric and is_same_choice and is_same_variant
        return is_same and other.reduce is None
