"""Messages for values that are not what a struct declares: which key, which value, what was expected."""

from typing import Annotated, Literal

import pytest
from msgspec import Meta, Struct

from runner.files.structs import MismatchError, as_struct


class Inner(Struct, forbid_unknown_fields=True):
    metric: Annotated[str, Meta(min_length=1)]
    op: Literal["==", "close"] = "=="
    tolerance: float | None = None

    def __post_init__(self) -> None:
        if (self.op == "close") != (self.tolerance is not None):
            raise ValueError("tolerance goes with close, and with nothing else")


class Outer(Struct, forbid_unknown_fields=True):
    cases: dict[Annotated[str, Meta(pattern="^[a-z]+$", max_length=9)], tuple[Inner, ...]]
    count: Annotated[int, Meta(ge=1)] = 1


def inner(**changes):
    return {"cases": {"fine": [{"metric": "loss"}], "other": [{"metric": "loss"} | changes]}}


def test_what_fits_is_read():
    assert as_struct(inner(op="close", tolerance=0.5), Outer).cases["other"] == (Inner("loss", "close", 0.5),)


@pytest.mark.parametrize(
    "value, message",
    [
        (inner(metric=""), "cases.other[0].metric: is '', expected `str` of length >= 1"),
        (inner(metric=[1]), "cases.other[0].metric: is [1], expected `str`, got `array`"),
        (
            inner(metrik="x"),
            "cases.other[0]: there is no key 'metrik' (did you mean metric?); expected some of metric, op",
        ),
        (inner(op="<="), "cases.other[0].op: is '<=', expected one of ==, close"),
        (inner(op="close"), "cases.other[0]: tolerance goes with close, and with nothing else"),
        ({"cases": {"fine": [{}]}}, "cases.fine[0]: the key 'metric' is missing"),
        ({"cases": {"fine": [], "Bad": []}}, "cases: expected `str` matching regex '^[a-z]+$', a key is 'Bad'"),
        ({"cases": {"fine": [], "toolongtoolong": []}}, "a key is 'toolongtoolong'"),
        ({"cases": {}, "count": 0}, "count: is 0, expected `int` >= 1"),
        ({"cases": {}, "count": 1.5}, "count: is 1.5, expected `int`, got `float`"),
        ({"count": 1}, "the key 'cases' is missing"),
        ([], "is [], expected `object`, got `array`"),
    ],
)
def test_a_message_names_key_value_and_what_was_expected(value, message):
    with pytest.raises(MismatchError) as error:
        as_struct(value, Outer)
    assert message in str(error.value)
