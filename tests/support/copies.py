"""Changed copies of frozen objects."""

import dataclasses
from typing import Any, TypeVar

from msgspec import Struct, structs

from runner.results.runtime_identity import RuntimeIdentity

T = TypeVar("T")


def replace(original: T, **changes: Any) -> T:
    """A copy of a dataclass or a struct with other values.

    Of a record you may name the fields of its runtime, too.
    """
    runtime = getattr(original, "runtime", None)
    if isinstance(runtime, RuntimeIdentity):
        names = changes.keys() & set(RuntimeIdentity.__struct_fields__)
        runtime_changes = {name: changes.pop(name) for name in names}
        if runtime_changes:
            changes["runtime"] = structs.replace(runtime, **runtime_changes)
    if isinstance(original, Struct):
        return structs.replace(original, **changes)
    return dataclasses.replace(original, **changes)  # type: ignore[type-var]
