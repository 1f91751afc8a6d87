"""Structs that are nested in memory and flat in JSON."""

import pytest
from msgspec import Struct

from runner.files.flat_structs import flat_format
from runner.files.structs import MismatchError


class Wheel(Struct, frozen=True):
    size: int
    spare: bool = False


class Cart(Struct, frozen=True):
    """A cart."""

    name: str
    wheel: Wheel
    price: float


KEYS = ("name", "size", "price", "spare")
FORMAT = flat_format(Cart, "wheel", KEYS)
CART = Cart("c", Wheel(3), 1.5)
VALUE = {"name": "c", "size": 3, "price": 1.5, "spare": False}


def test_the_file_is_flat_and_in_the_order_of_the_keys():
    assert list(FORMAT.dump(CART).items()) == list(VALUE.items())


def test_reading_nests_the_part():
    assert FORMAT.load(VALUE) == CART


def test_a_default_of_the_part_may_be_left_out():
    value = {key: VALUE[key] for key in ("name", "size", "price")}
    assert FORMAT.load(value) == CART


def test_a_flat_view_has_the_fields_of_both():
    assert FORMAT.flatten(CART) == VALUE


def test_an_error_names_the_key_of_the_file():
    with pytest.raises(MismatchError, match="^size: is 'x', expected a whole number"):
        FORMAT.load(VALUE | {"size": "x"})


def test_a_key_of_neither_is_an_error():
    with pytest.raises(MismatchError, match="there is no key 'wheel'"):
        FORMAT.load(VALUE | {"wheel": 1})


def test_a_file_may_have_another_type():
    text_sizes = flat_format(Cart, "wheel", KEYS, {"size": str})
    assert text_sizes.load(VALUE | {"size": "3"}) == Cart("c", Wheel("3"), 1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("keys", [KEYS[1:], (*KEYS, "wheel"), (*KEYS, "name")])
def test_each_field_is_a_key_once(keys):
    with pytest.raises(ValueError, match="expected each of name, price, size, spare once"):
        flat_format(Cart, "wheel", keys)
