"""The program of a case: its variants, and what they need to run."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from runner.bugs.taxonomy import FixKind
from runner.field_types import Scalar

VARIANTS: tuple[str, ...] = ("buggy", "fixed")
# A third one: the buggy script in a release that has the real fix. It is no part of the verdict.
UPSTREAM = "upstream"


class Variant(Struct, frozen=True):
    """One program of a case, and the environment in which it runs.

    `records` is the number of records of a whole run; None where the case does not say. `brought`
    is the folder of an environment that the bug itself brings; None for one of the catalogue.
    `fix` is the kind of the fix, of a variant that has one.
    """

    name: str
    script: Path
    environment: str
    records: int | None = None
    brought: Path | None = None
    fix: FixKind | None = None

    @property
    def place(self) -> str:
        """What the environment is found by: its folder, or its name in the catalogue."""
        return str(self.brought or self.environment)


class CaseProgram(Struct, frozen=True):
    """What is run in a case: its variants, with their seeds, parameters and limits, and what they
    need.

    There is a variant `upstream` where a release has the real fix: it is run where it is named
    only.

    `timeout_s` is in seconds. `data` names files in the folder of data sets, `sha256` has hashes of
    those that are downloaded, `tools` what else the machine must have (c++, gpu). `processes` train
    at the same time in one run, which takes `memory_gb` (10^9 bytes; None: not declared).
    """

    variants: Mapping[str, Variant]
    parameters: Mapping[str, Scalar]
    timeout_s: float
    seeds: tuple[int, ...] = (0,)
    data: tuple[str, ...] = ()
    sha256: Mapping[str, str] = {}
    tools: tuple[str, ...] = ()
    processes: int = 1
    memory_gb: float | None = None

    @property
    def needs(self) -> tuple[str, ...]:
        """What the machine must have: data, c++, gpu, N-processes."""
        processes = (f"{self.processes}-processes",) if self.processes > 1 else ()
        return (*(("data",) if self.data else ()), *self.tools, *processes)
