"""What does each subcommand do? Puts the parts together and prints; heavy modules are imported where they are used."""

import gc
import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from runner.api import load
from runner.errors import CatalogError, ResultsError, UsageError
from runner.model import Bug, Target
from runner.report import columns, describe, listing, markdown, unreadable
from runner.selection import Filter

if TYPE_CHECKING:
    from plots.figures import Runs
    from runner.catalog import Catalog
    from runner.cluster import Cluster
    from runner.store import Store


def list_command(arguments: Namespace) -> int:
    catalog = load()
    bugs, broken = [], []
    for name in catalog.ids():
        try:
            bugs.append(catalog.bug(name))
        except CatalogError as error:
            broken.append(str(error))
    bugs = Filter(arguments.label, arguments.needs, arguments.max_seconds).of(bugs)
    if arguments.json:
        print(json.dumps([describe(bug) for bug in bugs], indent=1))
    else:
        print(markdown(bugs) if arguments.markdown else columns(listing(bugs)))
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
    from runner.outcome import exit_status, save_expected
    from runner.progress import on_stderr
    from runner.report import verdicts
    from runner.session import Session
    from runner.settings import Options, default_data

    catalog = load()
    data = arguments.data or default_data()
    targets, notes = _chosen(arguments, catalog, data)
    options = Options(
        results=arguments.results,
        seeds=arguments.seeds,
        device=arguments.device,
        python=arguments.python,
        environment=arguments.environment,
        data=data,
        force=arguments.force,
        timeout_s=arguments.timeout,
        inject=arguments.inject,
        jobs=arguments.jobs or max(1, len(arguments.gpus) * arguments.runs_per_gpu),
        gpus=arguments.gpus,
        per_gpu=arguments.runs_per_gpu,
        repeat=arguments.repeat,
        network=not arguments.no_network,
        max_memory_gb=arguments.max_memory,
    )
    progress = on_stderr()
    for note in notes:
        progress.line(note)
    with _cluster(arguments) as cluster:
        session = Session(catalog, options, progress, cluster)
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


def _cluster(arguments: Namespace) -> "AbstractContextManager[Cluster | None]":
    """The workers of --executor, or nobody."""
    if arguments.executor == "local":
        return nullcontext()
    if arguments.gpus:
        raise UsageError("--gpus is for this machine: a worker uses what its CUDA_VISIBLE_DEVICES shows")
    if arguments.jobs and arguments.executor != "slurm":
        raise UsageError("-j is for this machine and for slurm; Dask does as much at a time as it has workers")
    from runner.cluster import connect

    return connect(arguments.executor, arguments.jobs or 1, arguments.results.absolute() / "slurm")


def _chosen(arguments: Namespace, catalog: "Catalog", data: Path | None) -> tuple[list[Target], list[str]]:
    """The targets to run, and what is to be said of those that are left out."""
    if arguments.all == bool(arguments.targets):
        raise UsageError("name the bugs to run, or all of them by --all; `trainbugs list` shows them")
    names = arguments.targets or catalog.active()
    targets = catalog.select(names, elsewhere=arguments.inject or arguments.environment is not None)
    notes = [
        f"{target.case.id}: left out, its numbers are of {target.bug.environment} only; name it to run it"
        for target in catalog.select(names)
        if target not in targets
    ]
    lacking = [target for target in targets if arguments.all and target.case.data and data is None]
    notes += [f"{target.case.id}: left out, it needs --data; name it to let it download" for target in lacking]
    return [target for target in targets if target not in lacking], notes


def figures_command(arguments: Namespace) -> int:
    from plots.figures import draw_maps
    from runner.store import Store

    catalog = load()
    bugs = [catalog.bug(name) for name in arguments.bugs or catalog.ids()]
    problems: list[str] = []
    if arguments.source == "expected":
        runs = _expected_runs(bugs)
    else:
        runs, problems = _judged_runs(bugs, Store(arguments.results))
    arguments.status = 2 if problems else 0
    if not runs and not problems:
        raise UsageError(f"there are no {arguments.source} records of {', '.join(bug.id for bug in bugs)} to draw")
    _draw(runs, arguments.out, arguments.format)
    for path in draw_maps(bugs, arguments.out, arguments.format) if arguments.source == "expected" else ():
        print(f"figure: {path}")
    print(unreadable(problems), end="", file=sys.stderr)
    return int(arguments.status)


def results_command(arguments: Namespace) -> int:
    # The search for cycles among 100,000 rows, which have none, would take as long as reading their index.
    gc.disable()
    try:
        return _show_results(arguments)
    finally:
        gc.enable()


def _show_results(arguments: Namespace) -> int:
    from runner.report import runs
    from runner.store import Store
    from runner.table import write_csv

    records = Store(arguments.results).records(arguments.bugs)
    if not records and not records.problems:
        raise UsageError(f"there are no records of {', '.join(arguments.bugs) or 'any bug'} in {arguments.results}")
    arguments.status = 2 if records.problems else 0
    if arguments.csv:
        write_csv(records, arguments.csv)
    elif records:
        print(columns(runs(records.rows)))
    print(unreadable(records.problems), end="", file=sys.stderr)
    return int(arguments.status)


def checkout_command(arguments: Namespace) -> int:
    from runner import environment
    from runner.checkout import checkout

    catalog = load()
    targets = catalog.select([arguments.target])
    name = targets[0].bug.environment
    known = name in environment.names(catalog.root)  # a bug directory from elsewhere may name another one
    built = environment.find(environment.load(catalog.root, name)) if known else None
    for line in checkout(targets, arguments.directory, arguments.blind, str(built.python) if built else "python3"):
        print(line)
    if built is None:
        print(f"{name} is not built here (`trainbugs env build`): python3 has to have its packages", file=sys.stderr)
    return 0


def new_command(arguments: Namespace) -> int:
    from runner.new import new

    root = load().root
    directory = arguments.directory or root / "bugs" / arguments.id
    for path in new(arguments.id, directory, root, arguments.environment):
        print(path)
    print(f"fill in what says TODO; `trainbugs validate {arguments.directory or arguments.id}` tells what is left")
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


def _expected_runs(bugs: Sequence[Bug]) -> "list[Runs]":
    from plots.figures import Runs
    from runner.records import expected_runs

    return [Runs(bug, bug.cases[case], tuple(found)) for bug in bugs for case, found in expected_runs(bug).items()]


def _judged_runs(bugs: Sequence[Bug], store: "Store") -> "tuple[list[Runs], list[str]]":
    """The runs behind the verdicts, and a line for each case of which they cannot be read."""
    from plots.figures import Runs

    judged, problems = [], []
    for bug in bugs:
        for case in bug.cases.values():
            try:
                found = store.judged_runs(bug.id, case.name)
            except ResultsError as error:
                problems.append(str(error))
            else:
                judged += [Runs(bug, case, tuple(found))] if found else []
    return judged, problems


def _draw(runs: "Sequence[Runs]", out: Path | None, kind: str) -> None:
    """Draw figures and name them; what cannot be drawn is said, and no error: the records are there."""
    from plots.figures import draw

    drawn = draw(runs, out, kind)
    for problem in drawn.problems:
        print(f"trainbugs: {problem}", file=sys.stderr)
    for path in drawn.paths:
        print(f"figure: {path}")
