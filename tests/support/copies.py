"""Changed copies of frozen objects."""

import dataclasses
from typing import Any, TypeVar

from msgspec import Struct, structs

T = TypeVar("T")


def replace(thing: T, **changes: Any) -> T:
    """A copy of a dataclass or a struct with other values."""
    if isinstance(thing, Struct):
        return structs.replace(thing, **changes)
    return dataclasses.replace(thing, **changes)  # type: ignore[type-var]
