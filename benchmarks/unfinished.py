"""Keeps the answers of an evaluation that is not whole yet, so that it goes on on another machine.

    python unfinished.py pack RESULTS DETECTOR …      # RESULTS/detectors -> detectors/unfinished
    python unfinished.py unpack RESULTS DETECTOR …    # the other way round
    python unfinished.py table                        # what the kept answers say so far, as Markdown

Then `trainbugs evaluate --results RESULTS` finds the answers, and asks for the others alone. Answers
of the same code are put together. A whole evaluation becomes the committed one by
`--update-expected`; nothing in detectors/unfinished is in the committed scores.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from evaluation.catalog import detectors
from evaluation.catalog.declared import declared_programs
from evaluation.keys import detector_digest
from evaluation.model import Detector
from evaluation.reading.subsets import select_counted, select_current
from evaluation.records import CheckRecord, program_name
from evaluation.scoring.chosen import without_rejected
from evaluation.scoring.tables import ScoreTables
from evaluation.store.committed import CommittedChecks
from evaluation.store.results import CheckStore
from runner.bugs.catalog import Catalog
from runner.files.untrusted import without_folders

ROOT = Path(__file__).resolve().parents[1]
UNFINISHED = CommittedChecks(ROOT / "detectors" / "unfinished")

# The columns of the table, and the scores behind them.
SHARES = ("detected", "paired", "paired_new", "false_fixed", "false_controls")
HEADER = "| detector (rule) | DETECTED | PAIRED | PAIRED on NEW | ON FIXED | ON CONTROLS |"
RULER = "|---" * 6 + "|"


def pack(store: CheckStore, detector: Detector, kept: CommittedChecks = UNFINISHED) -> int:
    """Add the answers of a results folder to the kept ones; returns how many are kept then.

    Answers of another code, and of a detector that was not committed, are left out.
    """
    digest = detector_digest(detector)
    records = {}
    for record in (*kept.read([detector.name]).checks, *store.read([detector.name]).checks):
        if record.code == digest and not (record.revision or "-dirty").endswith("-dirty"):
            records[record.references, program_name(record)] = _without_paths(record)
    kept.root.mkdir(exist_ok=True)
    triggers = _triggers()
    current = [
        replace(record, trigger=triggers.get((record.bug, record.case), record.trigger))
        for record in records.values()
    ]
    kept.replace(detector, current, ())
    return len(records)


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


def kept_names() -> list[str]:
    """The detectors that have kept answers, in the order of their names."""
    return sorted({path.name.split(".")[0] for path in UNFINISHED.root.glob("*.jsonl")})


def table(names: Sequence[str], kept: CommittedChecks = UNFINISHED) -> str:
    """What the kept answers of detectors say so far: a row of Markdown a detector, by the rule by
    which it is meant to be used.

    Shares are of the cases, fixed programs and controls that a detector has met.
    """
    catalog = Catalog(ROOT)
    counted = select_counted(kept.read(names), declared_programs(catalog))
    scored = ScoreTables(select_current(counted, catalog), catalog).scores
    rows = [HEADER, RULER]
    for row in without_rejected(scored).itertuples():
        shares = [f"{getattr(row, share)}/{getattr(row, f'{share}_n')}" for share in SHARES]
        rows.append(f"| {row.detector} ({row.rule}) | {' | '.join(shares)} |")
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("pack", "unpack", "table"))
    parser.add_argument("results", type=Path, nargs="?")
    parser.add_argument("detectors", nargs="*", metavar="DETECTOR")
    arguments = parser.parse_args()
    if arguments.action == "table":
        print(table(kept_names()))
        return 0
    if not arguments.detectors:
        parser.error(f"{arguments.action} needs RESULTS and at least one DETECTOR")
    store = CheckStore(arguments.results.absolute() / "detectors")
    action = pack if arguments.action == "pack" else unpack
    for name in arguments.detectors:
        print(f"{name}: {action(store, detectors.load(ROOT, name))} answers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
