"""Words for a value that does not fit its schema: unknown, misspelt and missing keys,
wrong values, and where.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

import msgspec

from runner.files.untrusted import brief

# Messages of msgspec. The patterns are compiled when a message is made.
UNKNOWN_KEY = r"(?s)Object contains unknown field `(.*)`$"
MISSING_KEY = r"Object missing required field `(.*)`$"
# msgspec says where, but leaves out the keys of mappings: `$.cases[...].program.seeds[0]`.
PLACE = r"(?s)^(.*) - at (`key` in )?`\$(.*)`$"
KEY_PREFIX = r"[a-z_.]+: "
STEP = r"\.([^.\[\]]+)|\[(\d+)\]|\[(\.\.\.)\]"
# Each try converts the whole value again.
MAX_TRIES = 100
# What msgspec calls kinds of values, in words of people who write JSON.
KINDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
URL = " matching regex '^https?://'"
NO_LINE_BREAK = r"(?!\\n)"
Path = tuple[str | int, ...]


def near(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """The text ` (did you mean ...?)`, empty where no name is similar to this one.

    `cutoff` is the least similarity, from 0 to 1.
    """
    import difflib

    lower = {candidate.lower(): candidate for candidate in names}
    close = [
        lower[match] for match in difflib.get_close_matches(name.lower(), lower, n=3, cutoff=cutoff)
    ]
    return f" (did you mean {' or '.join(close)}?)" if close else ""


class MisfitPlace(NamedTuple):
    """Where a value does not fit: the words of msgspec, whether they are about a key, the path, and
    what is there.
    """

    text: str
    is_key: bool
    path: Path
    part: Any


def locate(value: Any, kind: Any, error: str) -> MisfitPlace:
    """The place of an error of msgspec in a value that was to become a `kind`."""
    location = re.match(PLACE, error)
    text, is_key, steps = location.groups() if location else (error, None, "")
    try:
        path = _resolve(value, kind, error, _parse(steps))
        return MisfitPlace(text, bool(is_key), path, _at(value, path))
    except (LookupError, TypeError):  # a key that looks like the end of such a message
        return MisfitPlace(error, False, (), value)


def explain(place: MisfitPlace, kind: Any) -> str:
    """What is wrong at a place, with the keys that lead there."""
    text = _describe(place, list(_schemas(kind, place.path)))
    if not text.isprintable():
        text = brief(text)
    where = "".join(map(_step_text, place.path)).removeprefix(".")
    if not where:
        return text
    # A message of a __post_init__ begins with a key of that struct.
    return f"{where}.{text}" if re.match(KEY_PREFIX, text) else f"{where}: {text}"


def _describe(place: MisfitPlace, allowed: list[dict[str, Any]]) -> str:
    """What is wrong, in words; `allowed` are the schemas of what may stand there."""
    text, part = place.text, place.part
    lowered = f"{text[0].lower()}{text[1:]}"
    unknown, missing = re.match(UNKNOWN_KEY, text), re.match(MISSING_KEY, text)
    if unknown:
        keys: list[str] = []
        for rule in allowed:
            keys += rule.get("properties", {})
        hint = near(unknown[1], keys)
        return f"there is no key {brief(unknown[1])}{hint}; expected some of {', '.join(keys)}"
    if missing:
        return f"the key {missing[1]!r} is missing"
    lowered = _in_plain_words(lowered)
    if place.is_key:
        return f"{lowered}, a key is {_bad_key(part, allowed)}"
    if text.startswith("Invalid enum value"):
        words = list(map(str, chain.from_iterable(map(_words, allowed))))
        choice = "one of " if len(words) > 1 else ""
        return f"is {brief(part)}, expected {choice}{', '.join(words)}"
    if text.startswith(("Expected", "Invalid")):
        # What is there is shown; its kind need not be named.
        expected = lowered if " length " in lowered else lowered.partition(", got ")[0]
        return f"is {brief(part)}, {expected}"
    return text


def _in_plain_words(text: str) -> str:
    """A message of msgspec without its names of types, and without words for programmers."""
    text = re.sub("`([a-z |]+)`", lambda found: _kinds(found[1]), text)
    text = text.replace(URL, " that begins with http:// or https://")
    return text.replace(" matching regex ", " that fits ").replace(NO_LINE_BREAK, "")


def _kinds(names: str) -> str:
    """The kinds of values that msgspec names, in words, with `or` before the last one."""
    listed = names.split(" | ")
    if "float" in listed:
        listed = [name for name in listed if name != "int"]
    *others, last = [KINDS.get(name, name) for name in listed]
    return f"{', '.join(others)} or {last}" if others else last


def _step_text(step: str | int) -> str:
    return f"[{step}]" if isinstance(step, int) else f".{_shown(step)}"


def _shown(key: str) -> str:
    return key if key.isprintable() and len(key) <= 60 else brief(key)


def _parse(steps: str) -> list[str | int | None]:
    """The steps of a path; None for a key of a mapping, which the text leaves out."""
    parsed: list[str | int | None] = []
    for name, index, dots in re.findall(STEP, steps):
        if index:
            parsed.append(int(index))
        else:
            parsed.append(None if dots else name)
    return parsed


def _resolve(value: Any, kind: Any, error: str, steps: list[str | int | None]) -> Path:
    """The path with all keys: for each mapping on it, the first key that causes the same error by
    itself.
    """
    path: list[str | int] = []
    for step in steps:
        if step is None:
            step = _failing_key(value, path, kind, error)
        path.append(step)
    return tuple(path)


def _failing_key(value: Any, path: list[str | int], kind: Any, error: str) -> str:
    """The first key of the mapping at that path that causes the error by itself; raises
    LookupError.
    """
    part = _at(value, tuple(path))
    key: str
    for key in islice(part, MAX_TRIES):
        if _fails(replace_part(value, path, {key: part[key]}), kind, error):
            return key
    raise LookupError


def _fails(value: Any, kind: Any, error: str) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as other:
        return str(other) == error
    return False


def replace_part(value: Any, path: list[str | int], part: Any) -> Any:
    """A copy of the value in which `part` stands at that path."""
    if not path:
        return part
    copy = value.copy()
    copy[path[0]] = replace_part(value[path[0]], path[1:], part)
    return copy


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _schemas(kind: Any, path: Path) -> Iterator[dict[str, Any]]:
    """The parts of the JSON schema that describe what may stand at that path."""
    whole = msgspec.json.schema(kind)
    level = [whole]
    for step in (*path, None):
        level = [part for rule in level for part in _alternatives(rule, whole)]
        if isinstance(step, int):
            level = [rule["items"] for rule in level if isinstance(rule.get("items"), dict)]
        elif step is not None:
            inner = [_schema_of_key(rule, step) for rule in level]
            level = [rule for rule in inner if isinstance(rule, dict)]
    yield from level


def _schema_of_key(rule: dict[str, Any], key: str) -> Any:
    return rule.get("properties", {}).get(key) or rule.get("additionalProperties")


def _alternatives(rule: dict[str, Any], whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "$ref" in rule:
        rule = whole["$defs"][rule["$ref"].rpartition("/")[2]]
    for part in rule.get("anyOf", [rule]):
        if "$ref" in part or "anyOf" in part:
            yield from _alternatives(part, whole)
        else:
            yield part


def _words(rule: dict[str, Any]) -> list[Any]:
    return [rule["const"]] if "const" in rule else rule.get("enum", [])


def _bad_key(part: Any, allowed: list[dict[str, Any]]) -> str:
    rules = [schema.get("propertyNames", {}) for schema in allowed]
    for key in part:
        for rule in rules:
            long = len(key) > rule.get("maxLength", len(key))
            if long or not re.search(rule.get("pattern", ""), key):
                return brief(key)
    return brief(next(iter(part), ""))
