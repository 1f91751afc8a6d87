"""Can a value of JSON be that field of a run record? Also of a stranger's: fields become paths and lines."""

import re
from typing import Any

from runner.bugs.model import VARIANTS

STATUSES = ("ok", "crashed", "killed", "timeout", "no records", "environment broken", "refused")
# As runner/schema.json has it: part of a path.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
VERSION = re.compile(r"[A-Za-z0-9.+!_-]{1,80}")
# Texts without a shape may be long: nothing makes a path of them, and the lists of runs do not show them.
SHAPES = {
    "bug": NAME,
    "case": NAME,
    "variant": re.compile("|".join(VARIANTS)),
    "status": re.compile("|".join(STATUSES)),
    "environment": NAME,
    "key": re.compile(r"[0-9a-f]{64}"),
    "started": re.compile(r"\d{4}-\d\d-\d\dT[0-9:.]{8,15}([+-]\d\d:\d\d|Z)"),
    "python": VERSION,
    "torch": VERSION,
    "device": re.compile(r"cpu|cuda(:\d{1,4})?"),
}
# Of seconds and of MB: far above what can be, and far below what an axis can show.
MAX_NUMBER = 1e12


def fits(name: str, value: Any, kind: Any) -> bool:
    """Whether a value can be the field `name`, of the type `kind`, of a RunRecord."""
    if name == "metrics":
        return isinstance(value, list) and all(isinstance(record, dict) for record in value)
    if name == "parameters":
        return isinstance(value, dict) and all(isinstance(part, int | float | str) for part in value.values())
    if isinstance(value, bool):  # which is an int, too
        return kind is bool
    if isinstance(value, str) and name in SHAPES:
        return SHAPES[name].fullmatch(value) is not None
    if kind is float:
        return isinstance(value, int | float) and 0 <= value <= MAX_NUMBER
    return isinstance(value, kind) and (name != "seed" or value >= 0)
