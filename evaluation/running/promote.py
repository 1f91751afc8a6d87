"""Which records of detectors are committed? Those of an evaluation that is whole, clean and pinned."""

import shutil
from dataclasses import replace
from pathlib import Path

from evaluation.model import REFERENCES
from evaluation.records import CheckRecord, Evaluations
from evaluation.running.adapter import thin
from evaluation.running.campaign import Campaign, Result
from runner.errors import UsageError


def refuse_part(campaign: Campaign, seeds: tuple[int, ...] | None) -> None:
    """Raise UsageError for an evaluation of less than everything: the table compares what met the same programs."""
    whole = not campaign.bugs and campaign.with_controls and set(campaign.references) >= set(REFERENCES) - {"none"}
    if not whole or seeds is not None or campaign.overhead_on is None:
        raise UsageError("--update-expected is for whole evaluations: leave out what chooses bugs, seeds and the like")


def promote_checks(campaign: Campaign, result: Result, folder: Path) -> Evaluations:
    """Put the records of the evaluated detectors in the place of those that are there; raises UsageError.

    Refused are records of what is not committed or not pinned, and an evaluation in which a program did not run.
    """
    for record in result.checks:
        _refuse(record)
    if result.broken:
        raise UsageError(f"{result.broken[0].run.name} does not run by itself: expected records stay as they are")
    evaluations = Evaluations(folder)
    for detector in campaign.detectors:
        shutil.rmtree(folder / detector.name, ignore_errors=True)
        evaluations.save_detector(detector)
    for record in result.checks:
        alarms, dropped = thin(record.alarms)
        evaluations.save(replace(record, alarms=alarms, dropped=record.dropped + dropped))
    for overhead in result.overheads:
        evaluations.save(overhead)
    return evaluations


def _refuse(record: CheckRecord) -> None:
    if (record.revision or "-dirty").endswith("-dirty"):
        raise UsageError(f"detector {record.detector} is not committed: expected records stay as they are; commit it")
    if not record.pinned:
        raise UsageError(f"{record.name} did not run in a pinned environment: expected records stay as they are")
