"""Keeps the answers of an evaluation that is not whole yet, so that it goes on on another machine.

    python unfinished.py pack RESULTS DETECTOR …      # RESULTS/detectors -> detectors/unfinished
    python unfinished.py unpack RESULTS DETECTOR …    # the other way round
    python unfinished.py table                        # what the kept answers say so far, as Markdown
    python unfinished.py draw                         # prints the cases of today in a drawn order: drawn.txt
    python unfinished.py promote DETECTOR …           # the drawn cases and the controls -> detectors/expected

Then `trainbugs evaluate --results RESULTS` finds the answers, and asks for the others alone. Answers
of the same code are put together. A whole evaluation becomes the committed one by
`--update-expected`; nothing in detectors/unfinished is in the committed scores.
"""

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from evaluation.catalog import controls, detectors
from evaluation.catalog.declared import declared_programs
from evaluation.keys import detector_digest
from evaluation.model import CONTROL, Detector
from evaluation.reading.load import committed_folder
from evaluation.reading.subsets import select_counted, select_current
from evaluation.records import CheckRecord, OverheadRecord, Records, program_name
from evaluation.running.promote import thinned
from evaluation.scoring.chosen import without_rejected
from evaluation.scoring.tables import ScoreTables
from evaluation.store.committed import CommittedChecks
from evaluation.store.results import CheckStore
from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.catalog import Catalog
from runner.bugs.program import VARIANTS
from runner.errors import UsageError
from runner.files.untrusted import without_folders
from runner.results import expected

ROOT = Path(__file__).resolve().parents[1]
UNFINISHED = CommittedChecks(ROOT / "detectors" / "unfinished")

# The columns of the table, and the scores behind them.
SHARES = ("detected", "paired", "paired_new", "false_fixed", "false_controls")
HEADER = "| detector (rule) | DETECTED | PAIRED | PAIRED on NEW | ON FIXED | ON CONTROLS |"
RULER = "|---" * 6 + "|"
DRAWN = ROOT / "detectors" / "drawn.txt"
WHOLE = CommittedChecks(committed_folder(ROOT))
SEED = 46


def pack(store: CheckStore, detector: Detector, kept: CommittedChecks = UNFINISHED) -> int:
    """Add the answers of a results folder to the kept ones; returns how many are kept then.

    Answers of another code, and of a detector that was not committed, are left out. Overheads are
    kept, too: the newest for each kind of clean runs.
    """
    digest = detector_digest(detector)
    records = {}
    before, new = kept.read([detector.name]), store.read([detector.name])
    for record in (*before.checks, *new.checks):
        if record.code == digest and not (record.revision or "-dirty").endswith("-dirty"):
            records[record.references, program_name(record)] = _without_paths(record)
    kept.root.mkdir(exist_ok=True)
    triggers = _triggers()
    current = [
        replace(record, trigger=triggers.get((record.bug, record.case), record.trigger))
        for record in records.values()
    ]
    kept.replace(detector, current, _newest_overheads(digest, before, new))
    return len(records)


def _newest_overheads(digest: str, *parts: Records) -> list[OverheadRecord]:
    """The last overhead for each program and kind of clean runs, if it is of this code."""
    newest = {}
    overheads = [overhead for part in parts for overhead in part.overheads]
    for overhead in sorted(overheads, key=lambda overhead: overhead.started):
        if overhead.code == digest:
            newest[overhead.references, overhead.bug, overhead.case] = overhead
    return list(newest.values())


def _triggers() -> dict[tuple[str, str], int]:
    """The trigger of each case of the catalogue: a fact about the bug, and no part of an answer.
    An answer that is older than a correction counts by the corrected trigger.
    """
    cases = [(bug.id, case) for bug in Catalog(ROOT) for case in bug.cases.values()]
    return {(bug, case.name): case.truth.iteration for bug, case in cases}


def _without_paths(record: CheckRecord) -> CheckRecord:
    """The record, whose alarms name no folder of this machine: a traceback may be in them."""
    alarms = [replace(alarm, message=without_folders(alarm.message)) for alarm in record.alarms]
    return replace(record, alarms=tuple(alarms))


def unpack(store: CheckStore, detector: Detector, kept: CommittedChecks = UNFINISHED) -> int:
    """Write the kept answers of a detector into a results folder; returns how many.

    An answer that is there already stays.
    """
    records: list[CheckRecord] = list(kept.read([detector.name]).checks)
    for record in records:
        if store.find(record) is None:
            store.save(record)
    return len(records)


def drawn_cases() -> list[str]:
    """The cases of a whole evaluation, in the order in which they were drawn."""
    return DRAWN.read_text(encoding="utf-8").split()


def promote(
    detector: Detector, kept: CommittedChecks = UNFINISHED, whole: CommittedChecks = WHOLE
) -> int:
    """Move the answers of a detector about the drawn cases and the controls to the committed
    records; returns how many are there then.

    Committed answers of the same code stay, if nothing newer is kept about their programs; others
    go. Raises UsageError if the detector has not met all programs.
    """
    drawn = set(drawn_cases())
    moved, others = [], []
    before, unfinished = whole.read([detector.name]), kept.read([detector.name])
    for record in unfinished.checks:
        is_drawn = record.kind in VARIANTS and f"{record.bug}/{record.case}" in drawn
        (moved if is_drawn or record.kind == CONTROL else others).append(record)
    stays = _of_the_same_code(before.checks, moved)
    _refuse_unmet(detector, [*stays, *moved], drawn)
    thin = [thinned(record, detector.alarm_rules.values()) for record in moved]
    overheads = _newest_overheads(detector_digest(detector), before, unfinished)
    whole.replace(detector, [*stays, *thin], overheads)
    kept.replace(detector, others, ())
    if not others:
        (kept.root / f"{detector.name}.jsonl").unlink()
    return len(stays) + len(moved)


def _of_the_same_code(
    earlier: Sequence[CheckRecord], newer: Sequence[CheckRecord]
) -> list[CheckRecord]:
    """The earlier records of the code of the newer ones, but for programs that these are about."""
    codes = {record.code for record in newer}
    programs = {(record.references, program_name(record)) for record in newer}
    return [
        record
        for record in earlier
        if record.code in codes and (record.references, program_name(record)) not in programs
    ]


def _refuse_unmet(detector: Detector, records: Sequence[CheckRecord], drawn: set[str]) -> None:
    """Raise UsageError where answers are missing, by any kind of clean runs."""
    control_set = controls.load(ROOT)
    programs = {(case, variant) for case in drawn for variant in VARIANTS}
    for references in detector.with_references:
        met = {_program(record) for record in records if record.references == references}
        learnt_from = control_set.references if references == "cross" else ()
        asked = {(name, CONTROL) for name in control_set.bug.cases if name not in learnt_from}
        unmet = sorted((programs | asked) - met)
        if unmet:
            name, variant = unmet[0]
            raise UsageError(
                f"{detector.name} ({references}) has not met {len(unmet)} programs, such as "
                f"{name} ({variant}): evaluate it on the cases of {DRAWN.name} and all controls"
            )


def _program(record: CheckRecord) -> tuple[str, str]:
    name = record.case if record.kind == CONTROL else f"{record.bug}/{record.case}"
    return name, record.kind


def kept_names() -> list[str]:
    """The detectors that have kept answers, in the order of their names."""
    return sorted({path.name.split(".")[0] for path in UNFINISHED.root.glob("*.jsonl")})


def table(names: Sequence[str], kept: CommittedChecks = UNFINISHED) -> str:
    """What the kept answers of detectors say so far: a row of Markdown a detector, by the rule by
    which it is meant to be used.

    Shares are of the cases, fixed programs and controls that a detector has met.
    """
    rows = [HEADER, RULER]
    for row in _scored(kept.read(names)):
        shares = [f"{getattr(row, share)}/{getattr(row, f'{share}_n')}" for share in SHARES]
        rows.append(f"| {row.detector} ({row.rule}) | {' | '.join(shares)} |")
    return "\n".join(rows)


def _counted(records: Records, catalog: Catalog) -> Records:
    """The records of programs that count and have not changed since."""
    return select_current(select_counted(records, declared_programs(catalog)), catalog)


def _scored(records: Records) -> list[Any]:
    """The rows of the scores of records."""
    catalog = Catalog(ROOT)
    scored = ScoreTables(_counted(records, catalog), catalog).scores
    return list(without_rejected(scored).itertuples())


def draw(seconds: float = 90.0) -> list[str]:
    """The harmful cases that count and that any CPU trains in one process, in a drawn order.

    Both twins together take at most `seconds` by the committed records: an evaluation has to end.
    """
    cases = [
        (bug.id, case.id)
        for bug in Catalog(ROOT)
        if bug.retired is None and not bug.is_injected
        for case in bug.cases.values()
        if not (case.benign or case.never_run or case.program.needs)
        and 0 < seconds_a_seed(bug, case) <= seconds
    ]
    return in_drawn_order([case for _, case in sorted(cases)])


def in_drawn_order(cases: Sequence[str]) -> list[str]:
    """The cases, which are sorted by bug and case, as a seed shuffles them."""
    drawn = list(cases)
    random.Random(SEED).shuffle(drawn)
    return drawn


def seconds_a_seed(bug: Bug, case: Case) -> float:
    """The committed seconds of a case by one seed, both twins together."""
    return (expected.seconds(bug, case) or 0.0) / len(case.program.seeds)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("pack", "unpack", "table", "draw", "promote"))
    parser.add_argument("names", nargs="*", metavar="NAME", help="RESULTS, and detectors")
    arguments = parser.parse_args()
    if arguments.action == "table":
        print(table(kept_names()))
        return 0
    if arguments.action == "draw":
        print("\n".join(draw()))
        return 0
    if arguments.action == "promote":
        return _promote_all(arguments.names)
    if len(arguments.names) < 2:
        parser.error(f"{arguments.action} needs RESULTS and at least one DETECTOR")
    results, *names = arguments.names
    store = CheckStore(Path(results).absolute() / "detectors")
    action = pack if arguments.action == "pack" else unpack
    for name in names:
        print(f"{name}: {action(store, detectors.load(ROOT, name))} answers")
    return 0


def _promote_all(names: Sequence[str]) -> int:
    """Promote what is whole of some detectors; returns 2 if one is not whole."""
    status = 0
    for name in names:
        try:
            print(f"{name}: {promote(detectors.load(ROOT, name))} answers")
        except UsageError as error:
            print(error, file=sys.stderr)
            status = 2
    return status


if __name__ == "__main__":
    sys.exit(main())
