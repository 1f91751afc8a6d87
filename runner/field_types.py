"""The types of fields in config.json and in records."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

# One of the JSON objects that a script records.
Record = Mapping[str, Any]
Scalar = float | int | str | bool
VariantName = Literal["buggy", "fixed"]
# A name that may be part of a path.
Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$(?!\n)", max_length=80)]
Day = Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}$(?!\n)")]
Text = Annotated[str, Meta(min_length=1)]
# At most a week.
Seconds = Annotated[float, Meta(gt=0, le=604800)]


class ConfigPart(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the parts of config.json that are used as they are written."""
