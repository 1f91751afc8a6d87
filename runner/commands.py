"""What does each subcommand do? Puts the parts together and prints; heavy modules are imported where they are used."""

import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runner.api import load
from runner.errors import CatalogError, ResultsError, UsageError
from runner.model import Bug
from runner.report import columns, describe, listing

if TYPE_CHECKING:
    from plots.figures import Runs
    from runner.environment import Environment


def list_command(arguments: Namespace) -> int:
    catalog = load()
    bugs, broken = [], []
    for name in catalog.ids():
        try:
            bugs.append(catalog.bug(name))
        except CatalogError as error:
            broken.append(str(error))
    if arguments.json:
        print(json.dumps([describe(bug) for bug in bugs], indent=1))
    else:
        print(columns(listing(bugs)))
    if broken:
        raise CatalogError("; ".join(broken))
    return 0


def info_command(arguments: Namespace) -> int:
    from runner.report import details

    bug = load().bug(arguments.bug)
    print(json.dumps(describe(bug), indent=1) if arguments.json else details(bug))
    return 0


def run_command(arguments: Namespace) -> int:
    from plots.figures import Runs
    from runner.progress import on_stderr
    from runner.report import verdicts
    from runner.session import Options, Session, default_data, exit_status, save_expected

    catalog = load()
    targets = catalog.select(arguments.targets)
    options = Options(
        results=arguments.results,
        seeds=arguments.seeds,
        device=arguments.device,
        python=arguments.python,
        environment=arguments.environment,
        data=arguments.data or default_data(),
        force=arguments.force,
        timeout_s=arguments.timeout,
    )
    session = Session(catalog, options, on_stderr())
    outcomes = session.run(targets)
    arguments.status = exit_status(outcomes)
    print(verdicts(outcomes))
    print(f"\nrecords, logs and verdicts: {session.store.root}")
    if arguments.update_expected:
        print(f"expected records: {len(save_expected(outcomes))} written")
        _draw(_expected_runs(list({target.bug.id: target.bug for target in targets}.values())), None, "png")
    if arguments.figures:
        try:
            _draw([Runs(o.target.bug, o.target.case, o.records) for o in outcomes], arguments.out, "png")
        except ResultsError as error:  # no reason to doubt the verdicts
            print(f"trainbugs: {error}", file=sys.stderr)
    return int(arguments.status)


def figures_command(arguments: Namespace) -> int:
    from plots.figures import Runs
    from runner.records import Store

    catalog = load()
    bugs = [catalog.bug(name) for name in arguments.bugs or catalog.ids()]
    if arguments.source == "expected":
        runs = _expected_runs(bugs)
    else:
        store = Store(arguments.results)
        runs = [Runs(bug, bug.cases[c], tuple(found)) for bug in bugs for c, found in store.judged_runs(bug).items()]
    if not runs:
        raise UsageError(f"there are no {arguments.source} records of {', '.join(bug.id for bug in bugs)} to draw")
    _draw(runs, arguments.out, arguments.format)
    return 0


def results_command(arguments: Namespace) -> int:
    from runner.records import Store
    from runner.report import runs
    from runner.table import write_csv

    records = Store(arguments.results).records(arguments.bugs)
    if not records:
        raise UsageError(f"there are no records of {', '.join(arguments.bugs) or 'any bug'} in {arguments.results}")
    if arguments.csv:
        write_csv(records, arguments.csv)
    else:
        print(columns(runs(records)))
    return 0


def checkout_command(arguments: Namespace) -> int:
    from runner.checkout import checkout

    targets = load().select([arguments.target])
    for line in checkout(targets, arguments.directory, blind=arguments.blind):
        print(line)
    return 0


def validate_command(arguments: Namespace) -> int:
    from runner.wellformed import problems

    catalog = load()
    names = arguments.bugs or catalog.ids()
    found = 0
    for name in names:
        directory = catalog.root / "bugs" / name if name in catalog.ids() else Path(name)
        if not directory.is_dir():
            catalog.bug(name)
        wrong = problems(directory, catalog.root)
        found += len(wrong)
        print(f"{name}: " + ("well formed" if not wrong else f"{len(wrong)} problems"))
        print("".join(f"  {problem}\n" for problem in wrong), end="")
    return 1 if found else 0


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


def _expected_runs(bugs: Sequence[Bug]) -> "list[Runs]":
    from plots.figures import Runs
    from runner.records import expected_runs

    return [Runs(bug, bug.cases[case], tuple(found)) for bug in bugs for case, found in expected_runs(bug).items()]


def _draw(runs: "Sequence[Runs]", out: Path | None, kind: str) -> None:
    """Draw figures and name them; what cannot be drawn is said, and no error: the records are there."""
    from plots.figures import draw

    drawn = draw(runs, out, kind)
    for problem in drawn.problems:
        print(f"trainbugs: {problem}", file=sys.stderr)
    for path in drawn.paths:
        print(f"figure: {path}")
