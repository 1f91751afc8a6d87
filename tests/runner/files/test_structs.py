"""Messages for values that are not what a struct declares: which key, which value, what was
expected.
"""

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
    assert as_struct(inner(op="close", tolerance=0.5), Outer).cases["other"] == (
        Inner("loss", "close", 0.5),
    )


@pytest.mark.parametrize(
    "value, message",
    [
        (inner(metric=""), "cases.other[0].metric: is '', expected a text of length >= 1"),
        (inner(metric=[1]), "cases.other[0].metric: is [1], expected a text"),
        (
            inner(metrik="x"),
            "cases.other[0]: there is no key 'metrik' (did you mean metric?); expected some of "
            "metric, op",
        ),
        (inner(op="<="), "cases.other[0].op: is '<=', expected one of ==, close"),
        (inner(op="close"), "cases.other[0]: tolerance goes with close, and with nothing else"),
        ({"cases": {"fine": [{}]}}, "cases.fine[0]: the key 'metric' is missing"),
        (
            {"cases": {"fine": [], "Bad": []}},
            "cases: expected a text that fits '^[a-z]+$', a key is 'Bad'",
        ),
        ({"cases": {"fine": [], "toolongtoolong": []}}, "a key is 'toolongtoolong'"),
        ({"cases": {}, "count": 0}, "count: is 0, expected a whole number >= 1"),
        ({"cases": {}, "count": 1.5}, "count: is 1.5, expected a whole number"),
        ({"count": 1}, "the key 'cases' is missing"),
        ([], "is [], expected an object"),
        ({"cases": {}, "x` - at `$.foo": 1}, "there is no key 'x` - at `$.foo'"),
        ({"cases": {}, "x` - at `$.cases[...]": 1}, "there is no key"),
        (
            {"cases": {f"{'a' * n}": [] for n in range(1, 10)} | {"b": [{}]}},
            "cases.b[0]: the key 'metric' is missing",
        ),
    ],
)
def test_a_message_names_key_value_and_what_was_expected(value, message):
    with pytest.raises(MismatchError) as error:
        as_struct(value, Outer)
    assert message in str(error.value)


def test_a_whole_number_may_have_a_decimal_point():
    assert as_struct({"cases": {}, "count": 3.0}, Outer).count == 3
    assert as_struct(inner(op="close", tolerance=2), Outer).cases["other"][0].tolerance == 2.0


class Free(Struct):
    values: dict[str, int]


def test_a_key_cannot_write_to_the_terminal_nor_take_long():
    with pytest.raises(MismatchError) as error:
        as_struct({"values": {"a\n\x1b[31m": None}}, Free)
    assert str(error.value).isprintable()
    assert "values.'a" in str(error.value)
    with pytest.raises(
        MismatchError,
        match=r"Expected `int`, got `null` - at `\$.values\[...\]`|expected a whole number",
    ):
        as_struct({"values": {str(number): 1 for number in range(5_000)} | {"last": None}}, Free)
