"""The records of detectors that are committed: those of an evaluation that is whole, clean and pinned."""

from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path

from msgspec.structs import replace

from evaluation.catalog import submissions
from evaluation.model import REFERENCES
from evaluation.records import CheckRecord
from evaluation.running.adapter import thin
from evaluation.running.campaign import Campaign, Result
from evaluation.store import ExpectedEvaluations
from runner.errors import UsageError
from runner.session.options import Options


def homes(campaign: Campaign, root: Path) -> dict[str, Path]:
    """By detector, the folder of its committed records: that of its submission, or the one of all of ours.

    Raises CatalogError.
    """
    ours = root / "detectors" / "expected"
    return {each.name: submissions.records_of(root, each) or ours for each in campaign.detectors}


def refuse_part(campaign: Campaign, options: Options, root: Path) -> None:
    """Raise UsageError for an evaluation of less than everything: the table compares what met the same programs.

    Submissions may be of a part: what they are beside is chosen by what they met.
    """
    if campaign.rewriting:
        raise UsageError("--update-expected is for programs as they are published: leave out --perturb and --plant")
    if all(folder.parent.name == submissions.FOLDER for folder in homes(campaign, root).values()):
        return
    whole = not campaign.bugs and campaign.controls == "all" and set(campaign.references) >= set(REFERENCES) - {"none"}
    if not whole or options.label or options.seeds is not None or campaign.overhead_on is None:
        raise UsageError("--update-expected is for whole evaluations: leave out what chooses bugs, seeds and the like")


def promote_checks(campaign: Campaign, result: Result, folders: Mapping[str, Path]) -> dict[Path, ExpectedEvaluations]:
    """Put the records of the evaluated detectors in the place of those in their folders, which it returns.

    Nothing is done where there are none. Raises UsageError for records of what is not committed or not pinned, and an
    evaluation in which a program did not run.
    """
    if not folders:
        return {}
    for record in result.checks:
        _refuse(record)
    if result.broken:
        raise UsageError(f"{result.broken[0].run.name} does not run by itself: expected records stay as they are")
    kept = {folder: ExpectedEvaluations(folder) for folder in folders.values()}
    for detector in campaign.detectors:
        expected = kept[folders[detector.name]]
        most = max(rule.at_least for rule in detector.alarm_rules.values())
        checks = [_thinned(record, most) for record in result.checks if record.detector == detector.name]
        overheads = [record for record in result.overheads if record.detector == detector.name]
        expected.replace(detector, checks, overheads)
    return kept


def _thinned(record: CheckRecord, most: int) -> CheckRecord:
    """The record with the earliest alarms of each code, as many as a rule asks for: all would be large files."""
    alarms, dropped = thin(sorted(record.alarms, key=attrgetter("when")), most)
    return replace(record, alarms=alarms, dropped=record.dropped + dropped)


def _refuse(record: CheckRecord) -> None:
    if (record.revision or "-dirty").endswith("-dirty"):
        raise UsageError(f"detector {record.detector} is not committed: expected records stay as they are; commit it")
    if not record.pinned:
        raise UsageError(f"{record.name} did not run in a pinned environment: expected records stay as they are")
