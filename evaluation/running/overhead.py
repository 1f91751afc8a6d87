"""How much slower does a detector make training? Bare and watched runs in turns, so that both meet the same machine.

A bare run is started in the same way as a watched one, by an adapter of no detector: waiting for it costs the same.
"""

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from evaluation.model import Training
from evaluation.records import SCHEMA, OverheadRecord
from evaluation.running.adapter import Sample, check
from evaluation.running.evaluation import Evaluation
from runner.results.provenance import machine
from runner.sandbox.env import THREADS

BARE = Path(__file__).parents[1] / "bare"


def measure(evaluation: Evaluation, sample: Sample, training: Training, repeats: int) -> OverheadRecord | None:
    """Seconds of `repeats` bare and as many watched runs, in turns; None where one of them fails.

    `training` is what an earlier check said of this program: what it timed is timed here.
    """
    blank = _blank(evaluation, sample, training.of, repeats)
    done = None if evaluation.settings.force else evaluation.settings.evaluations.find_overhead(blank)
    if done:
        return done
    references = evaluation.references(sample.program) or []
    bare, watched = [], []
    for turn in range(1, repeats + 1):
        evaluation.progress.line(f"{evaluation.label}: overhead on {blank.bug}/{blank.case}, {turn} of {repeats}")
        alone = _bare(evaluation, sample, training.of)
        verdict, _ = evaluation.answer(sample, references, evaluation.new_folder(), lambda note: None)
        if alone is None or verdict.training is None or verdict.training.of != training.of:
            return None
        bare.append(round(alone.seconds, 4))
        watched.append(round(verdict.training.seconds, 4))
    record = OverheadRecord(**{**vars(blank), "bare": tuple(bare), "watched": tuple(watched)})
    evaluation.settings.evaluations.save(record)
    return record


def _bare(evaluation: Evaluation, sample: Sample, of: str) -> Training | None:
    """The seconds of the program without a detector; None where it does not end well."""
    detector = replace(evaluation.detector, directory=BARE, program=f"{of}.py", in_launcher=False)
    bench = replace(evaluation.bench, detector=detector)
    verdict, _ = check(bench, sample, None, evaluation.new_folder(), lambda elapsed: None)
    return verdict.training


def _blank(evaluation: Evaluation, sample: Sample, of: str, repeats: int) -> OverheadRecord:
    program, detector = sample.program, evaluation.detector
    alone = (BARE / f"{of}.py").read_text(encoding="utf-8")
    parts = [SCHEMA, evaluation.digest, alone, program.run.key, evaluation.how, repeats, of, machine()]
    return OverheadRecord(
        schema=SCHEMA,
        key=hashlib.sha256(json.dumps(parts).encode()).hexdigest(),
        detector=detector.name,
        version=detector.version,
        references=evaluation.how,
        bug=program.bug.id,
        case=program.case.name,
        seed=program.run.seed,
        torch=program.run.runtime.torch,
        device=program.run.runtime.device,
        machine=machine(),
        threads=THREADS,
        of=of,
        bare=(),
        watched=(),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
    )
