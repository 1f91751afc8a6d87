"""JSON values as msgspec structs, which declare what a file may hold:
conversion and JSON schemas.
"""

import json
from inspect import cleandoc
from typing import Any, TypeVar

import msgspec

from runner.errors import TrainbugsError
from runner.files.schema_errors import MAX_TRIES, explain, locate, replace_part

T = TypeVar("T")


class MismatchError(TrainbugsError):
    """A value does not match its struct; the message says which key, which value, and what was
    expected.
    """


def as_struct(value: Any, kind: type[T]) -> T:
    """Convert a value, as `json` reads it, to the struct `kind`; raises MismatchError.

    A number like 1.0 is an integer, too, as in JSON Schema. Messages name the key as in
    `cases.simple.seeds[0]`, and a near match where a key is unknown.
    """
    for _ in range(MAX_TRIES):
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            place = locate(value, kind, str(error))
            integral = isinstance(place.part, float) and place.part.is_integer()
            if not (integral and place.text == "Expected `int`, got `float`"):
                raise MismatchError(explain(place, kind)) from error
            value = replace_part(value, list(place.path), int(place.part))
    raise MismatchError(
        f"more than {MAX_TRIES} integers are written with a decimal point; write 1 in place of 1.0"
    )


def schema(kind: Any) -> dict[str, Any]:
    """The JSON schema of a struct, for editors and the docs."""
    whole = _with_clean_texts(msgspec.json.schema(kind))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole}


def _with_clean_texts(value: Any) -> Any:
    """The value with descriptions as Python 3.13 has docstrings: without their indentation."""
    if isinstance(value, list):
        return [_with_clean_texts(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: cleandoc(item) if key == "description" and isinstance(item, str)
        else _with_clean_texts(item)
        for key, item in value.items()
    }  # fmt: skip


def text_of(schema: dict[str, Any]) -> str:
    """The text of a JSON schema, as it is committed."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
