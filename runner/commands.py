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
    elsewhere = arguments.inject or arguments.environment is not None
    targets = catalog.select(arguments.targets, elsewhere)
    options = Options(
        results=arguments.results,
        seeds=arguments.seeds,
        device=arguments.device,
        python=arguments.python,
        environment=arguments.environment,
        data=arguments.data or default_data(),
        force=arguments.force,
        timeout_s=arguments.timeout,
        inject=arguments.inject,
    )
    session = Session(catalog, options, on_stderr())
    for target in catalog.select(arguments.targets) if elsewhere else ():
        if target not in targets:
            where = target.bug.environment
            session.progress.line(f"{target.case.id}: left out, its numbers are of {where} only; name it to run it")
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
    from plots.figures import Runs, draw_maps
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
    for path in draw_maps(bugs, arguments.out, arguments.format) if arguments.source == "expected" else ():
        print(f"figure: {path}")
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
