"""What do env, versions and why do? The subcommands about environments; heavy modules are imported where used."""

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from runner.api import load
from runner.errors import UsageError
from runner.report import columns

if TYPE_CHECKING:
    from runner.environment import Environment


def env_command(arguments: Namespace) -> int:
    from runner import environment

    root = load().root
    chosen = [environment.load(root, name) for name in arguments.names or environment.names(root)]
    if arguments.action != "build" and (arguments.torch_backend or arguments.force):
        raise UsageError(f"--torch-backend and --force are for env build, not for env {arguments.action}")
    if not arguments.names and arguments.action in ("build", "remove") and len(chosen) > 1:
        raise UsageError(f"env {arguments.action} needs the names of environments; `trainbugs env list` shows all")
    call = {"list": _env_list, "build": _env_build, "check": _env_check, "remove": _env_remove}[arguments.action]
    return call(chosen, arguments)


def _env_list(chosen: "Sequence[Environment]", arguments: Namespace) -> int:
    from runner.environment import cache_root, find

    rows = [["ENVIRONMENT", "PYTHON", "DISK", "BUILT"]]
    for described in chosen:
        built = find(described)
        where = f"{built.directory}" if built else f"no; `trainbugs env build {described.name}`"
        rows.append([described.name, described.python, f"{described.disk_gb:.1f} GB", where])
    print(columns(rows))
    print(f"\ncache: {cache_root()}")
    return 0


def _env_build(chosen: "Sequence[Environment]", arguments: Namespace) -> int:
    from runner.build import build
    from runner.progress import on_stderr

    for described in chosen:
        built = build(described, on_stderr(), arguments.torch_backend, arguments.force)
        print(f"{described.name}: {built.directory} (Python {built.python_version}, torch {built.torch_version})")
    return 0


def _env_check(chosen: "Sequence[Environment]", arguments: Namespace) -> int:
    from runner.environment import find, problems

    status = 0
    for described in chosen:
        built = find(described)
        wrong = problems(built) if built else [f"not built; `trainbugs env build {described.name}`"]
        print(f"{described.name}: {'; '.join(wrong) or 'as its lock says'}")
        status = 2 if wrong else status
    return status


def _env_remove(chosen: "Sequence[Environment]", arguments: Namespace) -> int:
    from runner.build import remove

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
    from plots.versions import draw_versions
    from runner.progress import on_stderr
    from runner.report import version_rows
    from runner.settings import Options, default_data
    from runner.verification import INVALID
    from runner.versions import map_versions, save_expected

    catalog = load()
    options = Options(
        results=arguments.results,
        seeds=arguments.seeds,
        device=arguments.device,
        data=arguments.data or default_data(),
        force=arguments.force,
    )
    maps = map_versions(
        catalog, arguments.targets, arguments.environments, options, on_stderr(), arguments.remove_after
    )
    invalid = any(item.state == INVALID for made in maps for item in made.findings)
    arguments.status = 2 if invalid else 0
    print(columns(version_rows(maps)))
    for made in maps:
        if arguments.update_expected:
            print(f"expected records of {made.bug.id}: {len(save_expected(made))} written")
        directory = made.bug.expected if arguments.update_expected else arguments.out / made.bug.id
        print(f"figure: {draw_versions(made.bug, made.findings, directory, 'png')}")
    return int(arguments.status)


def why_command(arguments: Namespace) -> int:
    from runner.place import Places
    from runner.progress import on_stderr
    from runner.why import explain, programs

    if arguments.python and arguments.environment:
        raise UsageError("an interpreter of your own and a pinned environment exclude each other; name one")
    catalog = load()
    bug = catalog.bug(arguments.bug)
    programs(bug, arguments.inject)  # before anything is built
    place = Places(catalog.root, on_stderr(), "cpu", arguments.python).get(arguments.environment or bug.environment)
    print(explain(bug, place, arguments.inject), end="")
    return 0
