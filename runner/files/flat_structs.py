"""Structs with a part whose fields stand in JSON among the struct's own: nested in memory, flat in
the file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import NODEFAULT, Struct, structs

from runner.files.structs import as_struct

S = TypeVar("S", bound=Struct)


@dataclass(frozen=True)
class FlatFormat(Generic[S]):
    """The format of the files of `kind`, whose field `part` holds another struct.

    `flat` has the fields of both.
    """

    kind: type[S]
    part: str
    flat: type[Struct]

    def load(self, value: Any) -> S:
        """The struct in a value of JSON; raises MismatchError, as `as_struct` does."""
        return self.nest(as_struct(value, self.flat))

    def nest(self, flat: Struct) -> S:
        """The struct of a flat one."""
        values = structs.asdict(flat)
        part_kind = _fields(self.kind)[self.part].type
        part_values = {name: values.pop(name) for name in part_kind.__struct_fields__}
        return self.kind(**values, **{self.part: part_kind(**part_values)})

    def flatten(self, record: S) -> dict[str, Any]:
        """The fields of both in the order of the file, as they are in memory."""
        part = getattr(record, self.part)
        values = {**structs.asdict(record), **structs.asdict(part)}
        return {name: values[name] for name in self.flat.__struct_fields__}

    def dump(self, record: S) -> dict[str, Any]:
        """The value for JSON. A field that its struct leaves out is left out."""
        values: dict[str, Any] = msgspec.to_builtins(record)
        values |= values.pop(self.part)
        return {name: values[name] for name in self.flat.__struct_fields__ if name in values}


def flat_format(
    kind: type[S], part: str, keys: Sequence[str], types: Mapping[str, Any] | None = None
) -> FlatFormat[S]:
    """The format of `kind` with these keys, in the order of the file; `types` replace types of the
    part's fields.
    """
    nested_fields = _fields(kind)
    fields = nested_fields | _fields(nested_fields[part].type)
    del fields[part]
    if sorted(keys) != sorted(fields):
        raise ValueError(f"keys: expected each of {', '.join(fields)} once")
    flat = msgspec.defstruct(
        kind.__name__,
        [_definition(fields[key], types or {}) for key in keys],
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
        omit_defaults=kind.__struct_config__.omit_defaults,
        namespace={"__doc__": kind.__doc__},
    )
    return FlatFormat(kind, part, flat)


@cache
def _fields(kind: type[Struct]) -> dict[str, structs.FieldInfo]:
    return {field.name: field for field in structs.fields(kind)}


def _definition(field: structs.FieldInfo, types: Mapping[str, Any]) -> tuple[str, Any, Any]:
    default = msgspec.field()
    if field.default is not NODEFAULT:
        default = msgspec.field(default=field.default)
    elif field.default_factory is not NODEFAULT:
        default = msgspec.field(default_factory=field.default_factory)
    return field.name, types.get(field.name, field.type), default
