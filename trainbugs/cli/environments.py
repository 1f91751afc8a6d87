"""Subcommands about environments: env, versions, why."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import UsageError
from trainbugs import api
from trainbugs.cli.documents import beside, of_environment, of_map, print_json, print_rows
from trainbugs.cli.terminal import show_table, show_text, show_verdicts
from trainbugs.cli.types import Commands, add, add_json, add_options, add_quiet, options

if TYPE_CHECKING:
    from runner.bugs.catalog import Catalog
    from runner.bugs.model import Bug
    from runner.environments.spec import Built, Environment


def add_commands(to: Commands) -> None:
    """Add env, versions and why."""
    _add_env(to)
    _add_versions(to)
    _add_why(to)


def _add_env(to: Commands) -> None:
    text = "list, build, check or remove the environments of the bugs"
    build = "env build torch-2.2.2"
    examples = [
        "env list",
        build,
        f"{build} --torch-backend cpu",
        "env check my/own/bug",
        "env remove torch-2.2.2",
    ]
    parser = add(to, "env", env_command, text, examples)
    actions = ("list", "build", "check", "remove")
    parser.add_argument(
        "action", choices=actions, metavar="|".join(actions), help="check: against the lock"
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="of environments, or a bug directory that brings one; list, check: default: all",
    )
    parser.add_argument(
        "--torch-backend",
        metavar="BACKEND",
        help="build: uv's option, e.g. cpu: smaller, not hashed",
    )
    parser.add_argument("--force", action="store_true", help="build: anew, even if it is there")
    add_options(parser, trust_environments="build, check: also what other users may change")
    parser.add_argument(
        "--json", action="store_true", help="list, check: one JSON document on standard output"
    )
    parser.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        help="build: no progress on standard error, only errors",
    )


def _add_versions(to: Commands) -> None:
    text = "run the buggy scripts of bugs in many environments and map which versions are affected"
    examples = [
        "versions PyTorch-115607 PyTorch-107076/eager --remove-after",
        "versions PyTorch-107076/eager --environments 'torch-2.[0-4].*'",
    ]
    parser = add(to, "versions", versions_command, text, examples)
    parser.set_defaults(status=2)
    parser.add_argument(
        "targets", nargs="+", metavar="BUG[/CASE]", help="whose buggy scripts to run"
    )
    parser.add_argument(
        "--environments",
        metavar="GLOB",
        help="default: those of the bug's package, 'torch-*' for most",
    )
    parser.add_argument(
        "--remove-after",
        action="store_true",
        help="remove each environment that was not there before: 5 GB at a time",
    )
    seeds = "comma-separated; default: the first one of each case"
    add_options(parser, "device", "data", "force", "trust_environments", "results", seeds=seeds)
    parser.add_argument(
        "--update-expected", action="store_true", help="keep the map as the bug's expected one"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("figures"),
        metavar="DIR",
        help="of the map; default: ./figures",
    )
    add_json(parser)
    add_quiet(parser)


def _add_why(to: Commands) -> None:
    examples = ["why PyTorch-115607", "why PyTorch-115607 --environment torch-2.13.0"]
    text = "show the root cause of a bug in a version of PyTorch, by the bug's own why.py"
    parser = add(to, "why", why_command, text, examples)
    parser.add_argument("bug", metavar="BUG", help="ID of a bug, or a bug directory")
    texts = {"environment": "default: that of the bug", "inject": "put the fault back first"}
    add_options(parser, "python", "trust_environments", **texts)
    add_quiet(parser)


def env_command(arguments: Namespace) -> int:
    """List, build, check or remove the named environments."""
    catalog = api.load()
    chosen = _chosen(catalog, arguments.names)
    if arguments.action != "build" and (arguments.torch_backend or arguments.force):
        raise UsageError(
            f"--torch-backend and --force are for env build, not for env {arguments.action}"
        )
    if arguments.action not in ("list", "check") and arguments.json:
        raise UsageError(f"--json is for env list and env check, not for env {arguments.action}")
    if not arguments.names and arguments.action in ("build", "remove") and len(chosen) > 1:
        raise UsageError(
            f"env {arguments.action} needs the names of environments; `trainbugs env list` shows all"
        )
    call = {"list": _env_list, "build": _env_build, "check": _env_check, "remove": _env_remove}[
        arguments.action
    ]
    return call(chosen, arguments)


def _chosen(catalog: "Catalog", names: "Sequence[str]") -> "list[Environment]":
    """The named environments, a bug standing for the one that it brings; without names all of the catalogue."""
    from runner.environments import spec

    known = spec.names(catalog.root)
    return [
        spec.load(catalog.root, name) if name in known else _brought(catalog, name)
        for name in names or known
    ]


def _brought(catalog: "Catalog", name: str) -> "Environment":
    """The environment that a bug brings; raises UsageError where there is no such bug, or it brings none."""
    from runner.bugs.catalog import load_bug
    from runner.environments import spec

    if name not in catalog and not (Path(name) / "config.json").is_file():
        return spec.load(catalog.root, name)  # says which there are
    bug = catalog.bug(name) if name in catalog else load_bug(Path(name))
    if bug.brought is None:
        raise UsageError(
            f"{name} brings no environment, it runs in {bug.environment}; name that one"
        )
    return spec.brought(bug)


def _env_list(chosen: "Sequence[Environment]", arguments: Namespace) -> int:
    from runner.environments.spec import cache_root, find

    if arguments.json:
        print_rows([of_environment(described, find(described)) for described in chosen])
        return 0
    rows = [["ENVIRONMENT", "PYTHON", "DISK", "BUILT"]]
    for described in chosen:
        built = find(described)
        where = f"{built.directory}" if built else f"no; `trainbugs env build {described.named}`"
        rows.append([described.name, described.python, f"{described.disk_gb:.1f} GB", where])
    show_table(rows)
    print(f"\ncache: {cache_root()}")
    return 0


def _env_build(chosen: "Sequence[Environment]", arguments: Namespace) -> int:
    from runner.environments.builder import build
    from runner.progress.lines import on_stderr

    progress, trust = on_stderr(arguments.quiet), options(arguments).trust_environments
    for described in chosen:
        built = build(described, progress, arguments.torch_backend, arguments.force, trust=trust)
        print(
            f"{described.name}: {built.directory} (Python {built.python_version}, torch {built.torch_version})"
        )
    return 0


def _env_check(chosen: "Sequence[Environment]", arguments: Namespace) -> int:
    from runner.environments.spec import find

    found, trust = [], options(arguments).trust_environments
    for described in chosen:
        built = find(described)
        wrong = (
            _wrong(built, trust)
            if built
            else [f"not built; `trainbugs env build {described.named}`"]
        )
        found.append(of_environment(described, built) | {"problems": wrong})
        if not arguments.json:
            show_text(f"{described.name}: {'; '.join(wrong) or 'as its lock says'}")
    if arguments.json:
        print_json(found)
    return 2 if any(each["problems"] for each in found) else 0


def _wrong(built: "Built", trust: bool) -> list[str]:
    """What is wrong with a build, and what to do; nothing is run in one that others may change."""
    from runner.environments import owner
    from runner.environments.check import all_problems

    strange = None if trust else owner.problem(built, whole=True)
    if strange:
        return [strange]
    wrong = all_problems(built)
    return [*wrong, built.remedy] if wrong else []


def _env_remove(chosen: "Sequence[Environment]", arguments: Namespace) -> int:
    from runner.environments.builder import remove

    for described in chosen:
        gone = remove(described)
        if gone is None:
            print(f"{described.name}: was not built")
            continue
        print(
            f"{described.name}: removed; {gone.freed_gb:.1f} GB freed, {gone.linked_gb:.1f} GB stay in uv's cache "
            "for the next build (`uv cache clean` frees them)"
        )
    return 0


def versions_command(arguments: Namespace) -> int:
    """Map the affected versions; status 2 where some case is INVALID in some version."""
    from plots.versions import draw_versions
    from runner.environments.spec import releases
    from runner.progress.lines import on_stderr
    from runner.session.promote import promote_versions, refuse_installed
    from runner.session.version_sweep import map_versions
    from runner.verdicts.verdict import INVALID
    from trainbugs.cli.text import version_rows

    names, pattern, after = arguments.targets, arguments.environments, arguments.remove_after
    catalog, progress, to = api.load(), on_stderr(arguments.quiet), beside(arguments)
    if arguments.update_expected:
        refuse_installed(
            "--update-expected", (target.bug.directory for target in catalog.select(names))
        )

    def draw(bug: "Bug", folder: Path) -> Path:
        results = next(sweep.findings for sweep in maps if sweep.bug.id == bug.id)
        return draw_versions(bug, results, folder, "png", releases(catalog.root, bug.package))

    maps = map_versions(catalog, names, pattern, options(arguments), progress, after)
    invalid = any(item.state == INVALID for sweep in maps for item in sweep.findings)
    arguments.status = 2 if invalid else 0
    if arguments.json:
        print_rows(row for sweep in maps for row in of_map(sweep))
    else:
        show_verdicts(version_rows(maps), column=3)
    for sweep in maps:
        if arguments.update_expected:
            print(
                f"expected records of {sweep.bug.id}: {len(promote_versions(sweep, draw))} written",
                file=to,
            )
            print(f"figure: {sweep.bug.expected / 'versions.png'}", file=to)
        else:
            print(f"figure: {draw(sweep.bug, arguments.out / sweep.bug.id)}", file=to)
    return int(arguments.status)


def why_command(arguments: Namespace) -> int:
    """Print what the bug's why.py prints."""
    from runner.environments.runtime import Runtimes
    from runner.progress.lines import on_stderr
    from runner.session.explain import explain, programs

    catalog, how = api.load(), options(arguments)
    bug = catalog.bug(arguments.bug)
    programs(bug, how.inject)  # raises UsageError before anything is built
    runtimes = Runtimes(
        catalog.root, on_stderr(arguments.quiet), "cpu", how.python, trust=how.trust_environments
    )
    runtime = runtimes.get(how.environment or str(bug.brought or bug.environment))
    print(explain(bug, runtime, how.inject), end="")
    return 0
