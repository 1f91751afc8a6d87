"""Whether committed records are of the present files, and as they were made: by their keys and
digests.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.environments import spec
from runner.environments.spec import Environment
from runner.errors import CatalogError, UsageError
from runner.execution.key import read_scripts, run_key
from runner.files.state import FileState, file_state
from runner.results.record import RunRecord, run_name


@dataclass(frozen=True)
class PresentFiles:
    """The present scripts of a bug and the environments, read once for the records of a check."""

    bug: Bug
    root: Path
    _scripts: dict[tuple[str, str, bool], dict[str, bytes]] = field(default_factory=dict)
    _environments: dict[str, Environment | None] = field(default_factory=dict)

    def scripts(self, case: Case, variant: str, inject: bool = False) -> dict[str, bytes]:
        """The text of a variant's Python files, by name; raises CatalogError."""
        program = (case.name, variant, inject)
        if program not in self._scripts:
            self._scripts[program] = read_scripts(self.bug, case.program.variants[variant], inject)
        return self._scripts[program]

    def environment(self, place: str) -> Environment | None:
        """The environment of that name or in that folder, as `environment_at` says."""
        if place not in self._environments:
            self._environments[place] = environment_at(self.root, place)
        return self._environments[place]


def is_current(present: PresentFiles, case: Case, record: RunRecord, place: str) -> bool:
    """Whether a record is of the present scripts, parameters and lock of that environment: its key
    is the same.
    """
    described = present.environment(place)
    runtime = (
        record.runtime.environment,
        record.lock,
        str(record.runtime.pinned),
        record.python,
        record.runtime.torch,
    )
    scripts = present.scripts(case, record.variant, record.injected)
    key = run_key(
        case, record.variant, scripts, record.seed, record.runtime.device, runtime, record.data
    )
    now = (described.name, described.lock_hash) if described else (place, record.lock)
    return (key, record.runtime.environment, record.lock) == (record.key, *now)


def check_digests(folder: str, records: Iterable[RunRecord], again: str) -> Iterator[str]:
    """Committed records have digests; without one an edit of the numbers is not seen.

    `folder` is where they are, `again` what makes them anew.
    """
    names = [
        f"{run_name(record)}.json"
        for record in records
        if record.metrics and record.metrics_digest is None
    ]
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield (
            f"{folder}/{names[0]}{more}: no metrics_digest, an edit would not be seen; {again} "
            "makes one"
        )


def environment_at(root: Path, place: str) -> Environment | None:
    """The environment of that name or in that folder; None where there is none to read, which is
    said elsewhere.
    """
    states = tuple(file_state(root / "environments" / place / name) for name in spec.FILES)
    return _load(root, place) if None in states else _load_in_state(root, place, states)


@lru_cache(maxsize=1024)
def _load_in_state(
    root: Path, place: str, states: tuple[FileState | None, ...]
) -> Environment | None:
    """The environment, read once for each state of its files: many records are of one."""
    return _load(root, place)


def _load(root: Path, place: str) -> Environment | None:
    try:
        return spec.load(root, place)
    except (CatalogError, UsageError):
        return None
