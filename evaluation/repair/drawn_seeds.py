"""The seeds that are drawn for the grading of patches, which whoever wrote them cannot know.

They stay in the results folder: a command that goes on after a stop finds the runs on them.
"""

import hashlib
import json
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from evaluation.repair.patches import Patch
from runner.files import untrusted
from runner.files.atomic import write_json
from runner.files.folders import inside
from runner.files.structs import MismatchError, as_struct
from runner.results.store import Store

# Far from the small ones that people write down.
FIRST_DRAWN, LAST_DRAWN = 1000, 999_999
FOLDER = ".drawn-seeds"
MAX_BYTES = 100_000


class DrawnSeeds(Struct, frozen=True, forbid_unknown_fields=True):
    """A file of drawn seeds."""

    seeds: tuple[Annotated[int, Meta(ge=FIRST_DRAWN, le=LAST_DRAWN)], ...]


def draw_seeds(count: int) -> tuple[int, ...]:
    """Seeds that nobody knows beforehand."""
    seeds: set[int] = set()
    while len(seeds) < count:
        seeds.add(FIRST_DRAWN + secrets.randbelow(LAST_DRAWN - FIRST_DRAWN))
    return tuple(sorted(seeds))


def seeds_for(store: Store, patches: Iterable[tuple[Patch, str]], count: int) -> tuple[int, ...]:
    """The seeds that were drawn for exactly these patches of these cases before, or new ones.

    Whoever changes a patch gets others, and cannot fit it to them. Raises ResultsError where they
    cannot be written.
    """
    path = store.root / FOLDER / f"{_digest(patches, count)}.json"
    known = _read(path)
    if known is not None and len(known) == count:
        return known
    seeds = draw_seeds(count)
    write_json(inside(path, store.root), {"seeds": seeds}, store.scratch.path)
    return seeds


def _read(path: Path) -> tuple[int, ...] | None:
    """The seeds of a file; None where there is none, or it is none of ours."""
    try:
        return as_struct(untrusted.read_json(path, MAX_BYTES), DrawnSeeds).seeds
    except (untrusted.UnsafeError, MismatchError):
        return None


def _digest(patches: Iterable[tuple[Patch, str]], count: int) -> str:
    parts = sorted(
        [case, patch.model, patch.id, patch.script or "", patch.patch or ""]
        for patch, case in patches
    )
    return hashlib.sha256(json.dumps([count, parts]).encode()).hexdigest()
