"""A bug, as config.json describes it; `runner.bugs.catalog` makes it from there."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from runner.bugs.case import Case, Site
from runner.bugs.declared import Declared, Origins
from runner.bugs.labels import Labels, Provenance, Versions
from runner.plurals import counted

# Programs beside the scripts that are about the bug, and belong to no variant.
FAULT, WHY, PROBE = "fault.py", "why.py", "probe.py"
# The folder of a lock that a bug brings.
ENVIRONMENT = "environment"


def brought_name(bug: str) -> str:
    """The name of the environment that a bug brings, in records and among the builds."""
    return f"bug-{bug}"


class Bug(Struct, frozen=True):
    """A bug, as config.json describes it.

    `retired` is the day and the reason; it then runs only when it is named.
    """

    id: str
    directory: Path
    title: str
    source: str
    labels: Labels
    site: Site
    environment: str
    cases: Mapping[str, Case]
    # The scripts of all its cases, also of those that a filter has left out of `cases`.
    variant_scripts: frozenset[Path]
    provenance: Provenance | None = None
    declared: Declared | None = None
    parameter_origins: Origins = {}
    affected: Versions | None = None
    fixed: Versions | None = None
    retired: str | None = None

    @property
    def scripts(self) -> tuple[Path, ...]:
        """The programs of the variants and their modules: all Python files of the bug but `fault`,
        `why`, `probe`.
        """
        paths = sorted(self.directory.glob("*.py"))
        return tuple(path for path in paths if path.name not in (FAULT, WHY, PROBE))

    @property
    def shared(self) -> tuple[Path, ...]:
        """The modules that variants import: those of `scripts` that are not the script of a
        variant.
        """
        return tuple(path for path in self.scripts if path not in self.variant_scripts)

    @property
    def fault(self) -> Path | None:
        """The program that puts the fault back into a release without it and then runs a script, if
        there is one.
        """
        path = self.directory / FAULT
        return path if path.is_file() else None

    @property
    def why(self) -> Path | None:
        """The program that shows the root cause in the torch that runs it, if there is one."""
        path = self.directory / WHY
        return path if path.is_file() else None

    @property
    def probe(self) -> Path | None:
        """The module that measures, while a script runs, what only the expectations need, if there
        is one.
        """
        path = self.directory / PROBE
        return path if path.is_file() else None

    @property
    def brought(self) -> Path | None:
        """The folder of the environment that the bug brings and runs in, if it does."""
        if self.environment != brought_name(self.id):
            return None
        return self.directory / ENVIRONMENT

    @property
    def family(self) -> str:
        """The name of its family: its own ID where it shares its fault with no other bug."""
        return (self.declared and self.declared.family) or self.id

    @property
    def is_injected(self) -> bool:
        """Whether the fault is put in by a program of ours, and met by nobody."""
        return self.declared is not None and self.declared.code_at_fault == "injected"

    @property
    def package(self) -> str:
        """The package whose releases have the fault, or not: torch where config.json names none."""
        return next(
            (versions.package for versions in (self.affected, self.fixed) if versions), "torch"
        )

    @property
    def expected(self) -> Path:
        """The folder of the bug's expected records and figures."""
        return self.directory / "expected"

    def __repr__(self) -> str:
        retired = ", retired" if self.retired else ""
        return f"Bug({self.id!r}, {counted(len(self.cases), 'case')}{retired})"


class Target(Struct, frozen=True):
    """A case and the variants of it to run: what a user names by BUG, BUG/CASE or
    BUG/CASE/VARIANT.
    """

    bug: Bug
    case: Case
    variants: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Target({self.case.id!r}, {' and '.join(self.variants)})"
