"""The subcommand repair: buggy programs to be mended, and the grades of patches."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import ResultsError, UsageError
from runner.files.atomic import make_folder
from runner.files.untrusted import shown
from runner.plurals import counted
from runner.progress.streams import message
from runner.results.expected import expected_records
from runner.session.options import Options
from trainbugs import api
from trainbugs.cli.documents import print_json
from trainbugs.cli.exits import INVALID, SUCCESS, ExitStatus
from trainbugs.cli.parser import (
    Help,
    Subparsers,
    add_command,
    add_json,
    add_quiet,
    add_session_options,
)
from trainbugs.cli.terminal import show_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evaluation.repair.grading import Grade
    from evaluation.repair.patches import Patch
    from evaluation.repair.tasks import RepairKey
    from runner.bugs.bug import Target

HELP = Help(
    "write buggy programs to be mended, and grade patches by running them",
    [
        "repair export --out tasks",
        "repair grade patches.jsonl --key tasks/key.json --out grades",
        "repair grade my/patches --key tasks/key.json --vary -j 2",
    ],
)
ACTIONS = ("export", "grade")
GRADES = "grades.json"
HEADING = ("TASK", "CASE", "MODEL", "GRADE", "SEEDS", "SAME", "VARIED", "LINES", "SITE", "WHY")


@dataclass(frozen=True)
class RepairOptions:
    """The options of `trainbugs repair`."""

    action: str
    patches: tuple[Path, ...]
    key: Path | None
    out: Path | None
    drawn: int | None
    vary: bool
    json: bool
    quiet: bool
    session: Options

    def check(self) -> None:
        """Raise UsageError for options that the action does not have, or lacks."""
        if self.action == "export":
            if self.patches or self.key or self.drawn is not None or self.vary:
                raise UsageError("patches, --key, --drawn and --vary are for repair grade")
            if self.out is None:
                raise UsageError("repair export needs the folder to write: --out DIR")
        elif not self.patches or self.key is None:
            raise UsageError("repair grade needs patches, and --key DIR/key.json of the export")
        if self.drawn is not None and not 0 <= self.drawn <= 100:
            raise UsageError(f"--drawn is {self.drawn}, expected 0 to 100 seeds")


def add_arguments(subparsers: Subparsers) -> None:
    """Add repair."""
    parser = add_command(subparsers, "repair", manage_repairs, RepairOptions, HELP)
    parser.add_argument(
        "action",
        choices=ACTIONS,
        metavar="|".join(ACTIONS),
        help="export: write tasks; grade: run and judge patches",
    )
    parser.add_argument(
        "patches",
        nargs="*",
        type=Path,
        metavar="PATCHES",
        help="grade: files with a patch a line, folders with ID.py and ID.diff, or logs (.eval)",
    )
    parser.add_argument("--key", type=Path, metavar="FILE", help="grade: key.json of the export")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="export: folder for tasks and key; grade: folder for grades",
    )
    parser.add_argument(
        "--drawn",
        type=int,
        metavar="N",
        help="grade: random seeds in addition to the case's; default: 2",
    )
    parser.add_argument(
        "--vary",
        action="store_true",
        help="grade: run patches with the fixed twin's numbers with other parameters, too",
    )
    add_session_options(parser, "python", "jobs", "timeout_s", "trust_environments", "results")
    add_json(parser)
    add_quiet(parser)


def manage_repairs(options: RepairOptions) -> ExitStatus:
    """Export tasks, or grade patches."""
    options.check()
    return _export(options) if options.action == "export" else _grade(options)


def _export(options: RepairOptions) -> ExitStatus:
    from evaluation.exporting import KEY, TASKS, refuse_known_key
    from evaluation.repair.further_seeds import steadiness
    from evaluation.repair.tasks import repairable, write_tasks

    assert options.out is not None
    refuse_known_key(options.out)
    catalog = api.load()
    targets, left_out = repairable(catalog)
    # A bug that somebody is still writing has no records yet, by which patches are judged.
    unfinished = [
        target for target in targets if not expected_records(target.bug, target.case.name)
    ]
    targets = [target for target in targets if target not in unfinished]
    left_out += [f"{target.case.id}: left out, it has no records yet" for target in unfinished]
    for line in left_out:
        print(line, file=sys.stderr)
    try:
        write_tasks(options.out, targets, catalog.root)
    except OSError as error:
        raise ResultsError(f"{options.out}: cannot be written: {error.strerror}") from error
    print(f"{options.out / TASKS}: {counted(len(targets), 'program')}")
    unasked = sum(steadiness(target.case) is None for target in targets)
    if unasked:
        print(f"{unasked} of these did not run with further seeds, and may be unsteady")
    print(f"{options.out / KEY}: what they are; show it to nobody who mends them")
    return SUCCESS


def _grade(options: RepairOptions) -> ExitStatus:
    """Grade the patches; INVALID where some cannot be graded."""
    from evaluation.repair.grading import grade
    from evaluation.repair.patches import collect_patches
    from evaluation.repair.tasks import read_repair_key
    from evaluation.repair.varying import vary
    from runner.progress.lines import on_stderr
    from runner.session.session import Session

    assert options.key is not None
    catalog = api.load()
    key = read_repair_key(options.key)
    targets = {
        name: target for name, case in key.tasks.items() for target in catalog.select([case])
    }
    # Of all files together: a patch of the same model for the same task is one too many.
    read = collect_patches(chain.from_iterable(map(_values, options.patches)), key.tasks)
    if not read.patches and not read.problems:
        raise ResultsError(f"{shown(options.patches[0])}: holds no patch; expected one a line")
    patches, changed = _without_changed(read.patches, key, targets)
    problems = [*read.problems, *changed]
    for problem in problems:
        print(f"trainbugs: {message(problem)}", file=sys.stderr)
    if options.out is not None:
        make_folder(options.out)
    session = Session(catalog, options.session, on_stderr(options.quiet))
    drawn = 2 if options.drawn is None else options.drawn
    grades = grade(session, patches, targets, drawn)
    if options.vary:
        grades = vary(session, patches, targets, grades)
    families = {target.case.id: target.bug.family for target in targets.values()}
    _show(list(grades), families, options)
    return INVALID if problems else SUCCESS


def _values(path: Path) -> "Iterator[tuple[str, object]]":
    """What a file, a folder or a log of inspect_ai holds, with its places."""
    from evaluation.repair.patches import read_values
    from trainbugs.inspect_tracks import logs

    if not logs.is_log(path):
        yield from read_values(path)
        return
    for number, patch in enumerate(logs.repairs(path), 1):
        yield f"{shown(path)}, sample {number}", patch


def _without_changed(
    patches: "Sequence[Patch]", key: "RepairKey", targets: "Mapping[str, Target]"
) -> "tuple[list[Patch], list[str]]":
    """The patches of programs that are what they were at the export, and a line for each task of
    the others.
    """
    from evaluation.repair.tasks import changed_tasks

    if not key.programs:
        print(
            "trainbugs: the key is of an older trainbugs: it does not say which texts its programs "
            f"had (catalogue {key.catalogue}), so that one that has changed is not noticed",
            file=sys.stderr,
        )
    asked = {patch.id for patch in patches}
    changed = {name: line for name, line in changed_tasks(key, targets).items() if name in asked}
    return [patch for patch in patches if patch.id not in changed], list(changed.values())


def _show(grades: "Sequence[Grade]", families: "Mapping[str, str]", options: RepairOptions) -> None:
    """Print the grades and scores, and write them to the folder that is named."""
    import msgspec

    from evaluation.repair.grading import OUTCOMES
    from evaluation.repair.scoring import ROW, score_repairs, score_row
    from runner.files.atomic import write_text

    scores = score_repairs(grades, families)
    document = {
        "schema": 1,
        "grades": msgspec.to_builtins(grades),
        "scores": msgspec.to_builtins(scores),
    }
    # A file of mere mistakes overwrites no grades.
    if options.out is not None and grades:
        write_text(options.out / GRADES, json.dumps(document, indent=1) + "\n")
    if options.json:
        print_json(document)
        return
    if grades:
        show_table([HEADING, *map(_row, grades)])
    counts = Counter(item.outcome for item in grades)
    print(", ".join(f"{counts[name]} {name}" for name in OUTCOMES if counts[name]) or "no patch")
    if scores:
        show_table([tuple(ROW), *map(score_row, scores)])


def _row(item: "Grade") -> tuple[str, ...]:
    from evaluation.repair.scoring import AT_SITE

    site = AT_SITE[item.at_site]
    seeds = f"{len(item.held)}/{len(item.seeds)}" if item.seeds else "-"
    same = f"{len(item.same)}/{len(item.seeds)}" if item.seeds else "-"
    varied = f"{len(item.varied.same)}/{len(item.varied.tried)}" if item.varied else "-"
    lines = f"{item.changed} ({item.real})"
    why = (item.varied and item.varied.difference) or item.reason
    facts = (item.outcome, seeds, same, varied, lines, site, why)
    return (item.id, item.case, item.model, *facts)
