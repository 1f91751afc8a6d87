"""The subcommand env: lists, builds, checks and removes environments."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from runner.bugs.program import VARIANTS
from runner.errors import UsageError
from trainbugs import api
from trainbugs.cli.documents import environment_document, print_json, print_rows
from trainbugs.cli.exits import SUCCESS, ExitStatus, invalid_if
from trainbugs.cli.parser import Help, Subparsers, add_command, add_session_options
from trainbugs.cli.tables import environment_table
from trainbugs.cli.terminal import show_table, show_text

if TYPE_CHECKING:
    from runner.bugs.bug import Bug
    from runner.bugs.catalog import Catalog
    from runner.environments.spec import Built, Environment

# How the names of environments of detectors begin.
DETECTOR = "detector-"
HELP = Help(
    "list, build, check or remove the environments of the bugs",
    [
        "env list",
        "env build torch-2.2.2",
        "env build --all                  # what `run --all` needs",
        "env build detector-torchfix",
        "env build torch-2.2.2 --torch-backend cpu",
        "env check my/own/bug",
        "env remove torch-2.2.2",
    ],
)


@dataclass(frozen=True)
class EnvOptions:
    """The options of `trainbugs env`."""

    action: str
    names: tuple[str, ...]
    all: bool
    torch_backend: str | None
    force: bool
    json: bool
    quiet: bool
    trust_environments: bool = False

    def check(self) -> None:
        """Raise UsageError for options that the action does not have."""
        if self.action != "build" and (self.all or self.torch_backend or self.force):
            raise UsageError(
                f"--all, --torch-backend and --force are for env build, not for env {self.action}"
            )
        if self.all and self.names:
            raise UsageError("--all builds what `run --all` needs: leave out the names, or --all")
        if self.action not in ("list", "check") and self.json:
            raise UsageError(f"--json is for env list and env check, not for env {self.action}")

    def check_names(self, environments: int) -> None:
        """Raise UsageError where the action needs names; so many environments are chosen."""
        is_named = bool(self.names) or self.all
        if not is_named and self.action in ("build", "remove") and environments > 1:
            raise UsageError(
                f"env {self.action} needs the names of environments; `trainbugs env list` shows all"
            )


def add_arguments(subparsers: Subparsers) -> None:
    """Add env."""
    parser = add_command(subparsers, "env", manage_environments, EnvOptions, HELP)
    parser.add_argument(
        "action",
        choices=list(ACTIONS),
        metavar="|".join(ACTIONS),
        help="what to do; check compares with the lock",
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="names of environments, or directories of bugs or detectors that bring one; "
        "list, check: default: all",
    )
    parser.add_argument(
        "--all", action="store_true", help="build: the environments that `run --all` needs"
    )
    parser.add_argument(
        "--torch-backend",
        metavar="BACKEND",
        help="build: uv's option of this name; cpu is smaller, but not hashed",
    )
    parser.add_argument("--force", action="store_true", help="build: build again what is built")
    add_session_options(
        parser, trust_environments="build, check: use environments that other users may change"
    )
    parser.add_argument(
        "--json", action="store_true", help="list, check: print one JSON document instead"
    )
    parser.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        help="build: no progress on standard error, only errors",
    )


def manage_environments(options: EnvOptions) -> ExitStatus:
    """List, build, check or remove the named environments."""
    options.check()
    catalog = api.load()
    names = _needed(catalog) if options.all else options.names
    environments = _select(catalog, names)
    options.check_names(len(environments))
    return ACTIONS[options.action](environments, options)


def _select(catalog: "Catalog", names: Sequence[str]) -> "list[Environment]":
    """The named environments, a bug standing for the one that it brings;
    without names all of the catalogue.
    """
    from runner.environments import spec

    catalogue_names = spec.names(catalog.root)
    environments = []
    for name in names or catalogue_names:
        is_shared = name in catalogue_names
        environments.append(spec.load(catalog.root, name) if is_shared else _brought(catalog, name))
    return environments


def _needed(catalog: "Catalog") -> list[str]:
    """The environments that all bugs of the catalogue need, by name; a bug's own by its folder."""
    names: set[str] = set()
    for name in catalog.active():
        for case in catalog.bug(name).cases.values():
            names |= {case.program.variants[variant].place for variant in VARIANTS}
    return sorted(names)


def _of_detector(catalog: "Catalog", name: str) -> "Environment | None":
    """The environment of a detector, which is named as messages call it, or by its folder; None
    where the name is another thing's.

    Raises UsageError where there is no such detector, or it brings none.
    """
    from evaluation.catalog import detectors
    from evaluation.running.adapter import environment_of

    if (Path(name) / "detector.json").is_file():
        detector = detectors.read(Path(name))
    elif name.startswith(DETECTOR):
        detector = detectors.load(catalog.root, name.removeprefix(DETECTOR))
    else:
        return None
    environment = environment_of(detector)
    if environment is None:
        raise UsageError(f"{detector.name} brings no environment: it needs no package")
    return environment


def _brought(catalog: "Catalog", name: str) -> "Environment":
    """The environment that a bug or a detector brings; raises UsageError where there is no such
    bug or detector, or it brings none.
    """
    from runner.bugs.catalog import load_bug
    from runner.environments import spec

    if name in catalog:
        return _of_bug(catalog.bug(name), name)
    if (Path(name) / "config.json").is_file():
        return _of_bug(load_bug(Path(name)), name)
    detector_environment = _of_detector(catalog, name)
    if detector_environment is not None:
        return detector_environment
    # Also the folder of a bug's environment; else the error says what is near.
    return spec.load(catalog.root, name)


def _of_bug(bug: "Bug", name: str) -> "Environment":
    """The environment that a bug brings; raises UsageError where it brings none."""
    from runner.environments import spec

    if bug.brought is None:
        raise UsageError(
            f"{name} brings no environment, it runs in {bug.environment}; name that one"
        )
    return spec.brought(bug)


def _list(environments: "Sequence[Environment]", options: EnvOptions) -> ExitStatus:
    from runner.environments.spec import cache_root, find

    builds = [(environment, find(environment)) for environment in environments]
    if options.json:
        print_rows([environment_document(environment, build) for environment, build in builds])
    else:
        show_table(environment_table(builds))
        print(f"\ncache: {cache_root()}")
    return SUCCESS


def _build(environments: "Sequence[Environment]", options: EnvOptions) -> ExitStatus:
    from runner.environments.builder import build
    from runner.progress.lines import on_stderr

    progress, trust = on_stderr(options.quiet), options.trust_environments
    for environment in environments:
        built = build(environment, progress, options.torch_backend, options.force, trust=trust)
        torch = f"torch {built.torch_version}" if built.torch_version else "no torch"
        versions = f"Python {built.python_version}, {torch}"
        print(f"{environment.name}: {built.directory} ({versions})")
    return SUCCESS


def _check(environments: "Sequence[Environment]", options: EnvOptions) -> ExitStatus:
    from runner.environments.spec import find

    documents = []
    for environment in environments:
        build = find(environment)
        problems = _problems(environment, build, options.trust_environments)
        documents.append(environment_document(environment, build) | {"problems": problems})
        if not options.json:
            show_text(f"{environment.name}: {'; '.join(problems) or 'as its lock says'}")
    if options.json:
        print_json(documents)
    return invalid_if(any(document["problems"] for document in documents))


def _problems(environment: "Environment", build: "Built | None", trust: bool) -> list[str]:
    """What is wrong with a build, and what to do; nothing is run in one that others may change."""
    from runner.environments import owner
    from runner.environments.check import all_problems

    if build is None:
        return [f"not built; `trainbugs env build {environment.shell_name}`"]
    stranger = None if trust else owner.problem(build, whole=True)
    if stranger:
        return [stranger]
    problems = all_problems(build)
    return [*problems, build.remedy] if problems else []


def _remove(environments: "Sequence[Environment]", options: EnvOptions) -> ExitStatus:
    from runner.environments.builder import remove

    for environment in environments:
        removal = remove(environment)
        if removal is None:
            print(f"{environment.name}: was not built")
            continue
        print(
            f"{environment.name}: removed; {removal.freed_gb:.1f} GB freed, "
            f"{removal.linked_gb:.1f} GB stay in uv's cache for the next build (`uv cache clean` "
            "frees them)"
        )
    return SUCCESS


Action: TypeAlias = "Callable[[Sequence[Environment], EnvOptions], ExitStatus]"
ACTIONS: Mapping[str, Action] = {
    "list": _list,
    "build": _build,
    "check": _check,
    "remove": _remove,
}
