"""Committed records of toy detectors on public, perturbed and planted programs."""

from pathlib import Path

from msgspec.structs import replace

from evaluation.catalog.detectors import read
from evaluation.planting import judgements
from evaluation.planting.judgements import Judgement
from evaluation.store.committed import CommittedChecks
from support.checks import HIT, record
from support.detectors import write_detector

CODE = 64 * "a"


def pair(case="one", alarms=(HIT,), **changes):
    """The records of a buggy program, on which the detector alarms,
    and of its silent fixed twin.
    """
    return [record(case=case, alarms=alarms, **changes), record("fixed", case, **changes)]


def commit(root: Path, detector: str, rewriting: str, checks, seed: int = 0) -> None:
    """Commit records of a detector to a catalogue, of programs that are rewritten so,
    or by a further seed.
    """
    described = read(
        write_detector(root / "detectors" / detector, "main(lambda target, state: {})")
    )
    expected = CommittedChecks(root / "detectors" / "expected").rewritten_by(rewriting)
    expected, checks = (
        (expected.further, [replace(each, seed=seed) for each in checks])
        if seed
        else (expected, checks)
    )
    expected.replace(described, [replace(each, detector=detector) for each in checks], ())


def commit_all(root: Path) -> None:
    """Two detectors on programs of each kind; one of them finds only what is published."""
    both = pair("one", code=CODE) + pair("two", code=CODE)
    for name, alarms in (("memory", ()), ("optimizer-progress", (HIT,))):
        commit(root, name, "", both)
        commit(root, name, "perturb-1", pair("one", alarms, code=CODE, perturb=1))
        commit(root, name, "plant-1", pair("no-step", alarms, code=CODE, plant=1, bug="planted-B"))
    expected = CommittedChecks(root / "detectors" / "expected")
    judgements.write(
        expected.rewritten_by("plant-1").root,
        [Judgement("B", "no-step", "without step", 3, True, "it is worse")],
    )
