"""The catalogue: reads bugs/<ID>/config.json into frozen objects."""

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from msgspec import structs

from runner.bugs.bug import ENVIRONMENT, Bug, Target, brought_name
from runner.bugs.case import Case, GroundTruth, Oracle
from runner.bugs.config import BROUGHT, Config, WrittenCase, WrittenVariant
from runner.bugs.figures import Plot
from runner.bugs.program import UPSTREAM, VARIANTS, CaseProgram, Variant
from runner.errors import CatalogError, ResultsError, UsageError
from runner.files import swap, untrusted
from runner.files.schema_errors import near
from runner.files.structs import MismatchError, as_struct
from runner.plurals import counted

T = TypeVar("T")

MAX_CONFIG_BYTES = 1_000_000
# It has the catalogue in a wheel. In a checkout it holds links to the folders of the top level.
_PACKAGE = Path(__file__).resolve().parents[2] / "trainbugs"
# The folders of a bug in which commands replace files.
PROMOTED = ("expected", "studies")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Catalog:
    """The bugs under `root/bugs`, each read when it is asked for, so that a malformed one does not
    block the others.
    """

    root: Path

    def __len__(self) -> int:
        return len(self.ids())

    def __iter__(self) -> Iterator[Bug]:
        """Read the bugs one by one, by their IDs; raises CatalogError for one that cannot be
        read.
        """
        return (self.bug(name) for name in self.ids())

    def __contains__(self, name: object) -> bool:
        """Whether there is a bug of that ID."""
        return isinstance(name, str) and self._has(name)

    def __repr__(self) -> str:
        return f"Catalog({str(self.root)!r}, {counted(len(self), 'bug')})"

    def ids(self) -> tuple[str, ...]:
        """The sorted IDs of all directories with a config.json; none is read."""
        directory = self.root / "bugs"
        return tuple(sorted(path.parent.name for path in directory.glob("*/config.json")))

    def _has(self, name: str) -> bool:
        return NAME.fullmatch(name) is not None and _holds_config(self.root / "bugs" / name)

    def active(self) -> tuple[str, ...]:
        """The IDs of bugs that are not retired; raises CatalogError for one that cannot be read."""
        return tuple(name for name in self.ids() if self.bug(name).retired is None)

    def readable(self) -> tuple[list[Bug], list[str]]:
        """The bugs that can be read, and a line for each other one."""
        bugs, problems = [], []
        for name in self.ids():
            try:
                bugs.append(self.bug(name))
            except CatalogError as error:
                problems.append(str(error))
        return bugs, problems

    def bug(self, name: str) -> Bug:
        """The bug of that ID, or the bug directory at that path; raises UsageError or
        CatalogError.
        """
        if self._has(name):
            return load_bug(self.root / "bugs" / name)
        if name and _holds_config(Path(name)):
            return load_bug(Path(name))
        raise self._unknown(name)

    def outside(self, bug: Bug) -> Path | None:
        """The bug's directory where the catalogue does not hold it; None where it does."""
        for name in ("bugs", "detectors"):
            folder = (self.root / name).resolve()
            if bug.directory.is_relative_to(folder):
                return None
        return bug.directory

    def shell_name(self, bug: Bug) -> str:
        """The word for a bug that any command understands, quoted for a shell: its ID, or its
        directory.
        """
        directory = self.outside(bug)
        if directory is None:
            return bug.id
        current = Path.cwd()
        is_below = directory.is_relative_to(current) and directory != current
        path = f"./{directory.relative_to(current)}" if is_below else str(directory)
        return shlex.quote(path)

    def select(self, names: Iterable[str], elsewhere: bool = False) -> list[Target]:
        """The targets named by BUG, BUG/CASE or BUG/CASE/VARIANT, or by the path of a bug
        directory.

        There is one target for each case, with all variants of it that are named. With `elsewhere`
        (not in the bug's own environment), BUG stands for its portable cases only. Raises
        UsageError or CatalogError.
        """
        directories: dict[str, Path] = {}
        targets: dict[str, Target] = {}
        selected = chain.from_iterable(self._select(name, elsewhere) for name in names)
        for target in selected:
            directory = directories.setdefault(target.bug.id, target.bug.directory)
            if directory != target.bug.directory:
                raise UsageError(
                    f"{directory} and {target.bug.directory} have the same ID; give one of them "
                    "another"
                )
            before = targets.get(target.case.id, target)
            variant_names = {*target.variants, *before.variants}
            variants = tuple(name for name in target.case.program.variants if name in variant_names)
            targets[target.case.id] = Target(target.bug, target.case, variants)
        return list(targets.values())

    def _select(self, name: str, elsewhere: bool) -> list[Target]:
        bug, parts = self._split(name)
        if len(parts) > 2:
            raise UsageError(
                f"{name!r} has too many parts; expected BUG, BUG/CASE or BUG/CASE/VARIANT"
            )
        if parts and parts[0] not in bug.cases:
            raise UsageError(
                f"{bug.id} has no case {parts[0]!r}; expected one of {', '.join(bug.cases)}"
            )
        if not parts:
            cases = [case for case in bug.cases.values() if case.portable or not elsewhere]
            return [Target(bug, case, VARIANTS) for case in cases]
        case = bug.cases[parts[0]]
        variants = case.program.variants
        if parts[1:] and parts[1] not in variants:
            raise UsageError(
                f"{case.id} has no variant {parts[1]!r}; expected one of {', '.join(variants)}"
            )
        return [Target(bug, case, tuple(parts[1:]) or VARIANTS)]

    def _unknown(self, name: str) -> UsageError:
        """There is no bug of that name, which may have further parts, or be a path."""
        bare = name.strip("/")
        first = bare.partition("/")[0]
        is_path = bare != first
        if self._has(first):
            return UsageError(f"{name!r} is no bug; expected a whole bug: {first}")
        if NAME.fullmatch(first) and (self.root / "bugs" / first).is_dir():
            return UsageError(f"{self.root / 'bugs' / first} holds no config.json: add it")
        if name.startswith((".", "/", "~")) or (is_path and Path(first).is_dir()):
            return UsageError(
                f"{name}: no such folder, or none with a config.json; expected a bug directory"
            )
        if is_path and not near(first, self.ids()):
            return UsageError(
                f"there is no bug {first!r}, and {name!r} is no bug directory; "
                "`trainbugs list` shows all bugs"
            )
        return UsageError(
            f"there is no bug {first!r}{near(first, self.ids())}; `trainbugs list` shows all"
        )

    def _split(self, name: str) -> tuple[Bug, list[str]]:
        """The bug that a name begins with, and the remaining parts; an ID of the catalogue wins
        over a path.
        """
        first, *parts = name.strip("/").split("/")
        if self._has(first):
            return self.bug(first), parts
        if name and _holds_config(Path(name)):
            return load_bug(Path(name)), []
        folders = Path(name).parts
        for depth in range(1, min(3, len(folders))):
            directory = Path(*folders[: len(folders) - depth])
            if _holds_config(directory):
                return load_bug(directory), list(folders[len(folders) - depth :])
        if Path(name).is_dir():
            raise UsageError(f"{name} is no bug directory: it holds no config.json")
        raise self._unknown(name)


def with_upstream(target: Target) -> Target:
    """The target with its variant `upstream` too, where the case has one."""
    has_it = UPSTREAM in target.case.program.variants
    if not has_it or UPSTREAM in target.variants:
        return target
    return structs.replace(target, variants=(*target.variants, UPSTREAM))


class CatalogSnapshot(Catalog):
    """A catalogue whose bugs are read once, for a command that asks for all of them again and
    again.
    """

    def readable(self) -> tuple[list[Bug], list[str]]:
        """The bugs that could be read when it was first asked, and a line for each other one."""
        bugs, problems = self._readable
        return list(bugs), list(problems)

    @cached_property
    def _readable(self) -> tuple[list[Bug], list[str]]:
        return super().readable()


def default_root() -> Path:
    """The directory that holds `bugs`, `environments` and `detectors`: the checkout, or the
    installed package.

    Raises CatalogError where it has no folder `bugs`.
    """
    root = (_PACKAGE / "bugs").resolve().parent
    if not (root / "bugs").is_dir():
        raise CatalogError(
            f"{root} holds no folder bugs: this copy of trainbugs is not whole; install it again"
        )
    return root


def installed_root() -> Path | None:
    """The directory of the catalogue where it is that of an installed package; None in a checkout.

    An installed catalogue is read only, and its version is the package's.
    """
    return None if (_PACKAGE / "bugs").is_symlink() else default_root()


def _holds_config(directory: Path) -> bool:
    """Whether a config.json exists, even one that is not safe to read."""
    path = directory / "config.json"
    return path.is_symlink() or path.exists()


def load_bug(directory: Path) -> Bug:
    """Read and check `directory/config.json`; raises CatalogError naming the file, the key and the
    value.

    Also raises it where a file of the directory is not safe to read: a bug may come from anyone.
    Where a promotion was killed, the rest of it is done first.
    """
    path = directory / "config.json"
    value = read_json(path, directory)
    try:
        for name in PROMOTED:
            swap.recover(directory / name)
        untrusted.check_directory(directory)
    except ResultsError as error:
        raise CatalogError(str(error)) from error
    except (untrusted.UnsafeError, OSError) as error:
        raise CatalogError(f"{untrusted.shown(directory)}: {error}") from error
    config = check(value, Config, path)
    directory = directory.resolve()
    if directory.name != config.id and directory.parent.name == "bugs":
        raise CatalogError(
            f"{path}: id is {config.id!r}, expected the name of its directory, {directory.name!r}"
        )
    return _bug(config, directory)


def read_json(path: Path, within: Path | None = None) -> Any:
    """The JSON in a file that is short and printable, as `untrusted.check_short` defines it; raises
    CatalogError.

    With `within`, also raises it for a link that leads out of that folder.
    """
    try:
        value = untrusted.read_json(path, MAX_CONFIG_BYTES, within)
        untrusted.check_short(value)
    except untrusted.UnsafeError as error:
        raise CatalogError(f"{untrusted.shown(path)}: {error}") from error
    return value


def check(value: Any, kind: type[T], path: Path) -> T:
    """Convert what was read from the file `path` to the struct `kind`.

    Raises CatalogError naming the file, the key and the value.
    """
    try:
        return as_struct(value, kind)
    except MismatchError as error:
        raise CatalogError(f"{untrusted.shown(path)}: {error}") from error


def _bug(config: Config, directory: Path) -> Bug:
    cases = {name: _case(name, case, config, directory) for name, case in config.cases.items()}
    scripts: set[Path] = set()
    for case in cases.values():
        scripts.update(variant.script for variant in case.program.variants.values())
    retired = None
    if config.status:
        retired = f"{config.status.since}: {config.status.reason}"
    return Bug(
        id=config.id,
        directory=directory,
        title=config.title,
        source=config.source,
        labels=config.labels,
        site=config.site,
        environment=_environment_name(config, config.environment),
        provenance=config.provenance,
        declared=config.declared,
        parameter_origins=config.parameter_origins,
        affected=config.affected,
        fixed=config.fixed,
        retired=retired,
        cases=cases,
        variant_scripts=frozenset(scripts),
    )


def _environment_name(config: Config, place: str) -> str:
    return brought_name(config.id) if place == BROUGHT else place


def _case(name: str, case: WrittenCase, config: Config, directory: Path) -> Case:
    return Case(
        bug=config.id,
        name=name,
        title=case.title,
        benign=case.benign,
        portable=case.portable,
        never_run=case.never_run,
        harm=case.harm or (config.declared.harm if config.declared else None),
        parameter_origins={**config.parameter_origins, **case.parameter_origins},
        provenance=case.provenance or config.provenance,
        program=_program(case, config, directory),
        oracle=Oracle(case.expectations, frozenset(config.volatile)),
        truth=GroundTruth(config.site, case.trigger.iteration, case.trigger.why),
        plot=Plot(config.plot.x, config.plot.panels, case.heatmap),
    )


def _program(case: WrittenCase, config: Config, directory: Path) -> CaseProgram:
    buggy, upstream = case.variants.buggy, case.variants.upstream
    written = {"buggy": buggy, "fixed": case.variants.fixed}
    hashes = {name: config.sha256[name] for name in case.data if name in config.sha256}
    if upstream:
        written[UPSTREAM] = WrittenVariant(
            script=buggy.script,
            environment=upstream.environment,
            records=upstream.records or buggy.records,
            fix="released",
        )
    variants = {
        name: _variant(name, variant, case, config, directory) for name, variant in written.items()
    }
    return CaseProgram(
        variants=variants,
        parameters={**config.parameters, **case.parameters},
        timeout_s=case.timeout_s or config.timeout_s,
        seeds=case.seeds or config.seeds,
        data=case.data,
        sha256=hashes,
        tools=case.needs,
        processes=config.processes,
        memory_gb=case.memory_gb,
    )


def _variant(
    name: str, variant: WrittenVariant, case: WrittenCase, config: Config, directory: Path
) -> Variant:
    place = variant.environment or config.environment
    return Variant(
        name=name,
        script=directory / variant.script,
        environment=_environment_name(config, place),
        records=variant.records or case.records,
        brought=directory / ENVIRONMENT if place == BROUGHT else None,
        fix=variant.fix,
    )
