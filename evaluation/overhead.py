"""How much slower does a detector make training? Bare and watched runs in turns, so that both meet the same machine."""

import hashlib
import json
from datetime import UTC, datetime

from evaluation.evaluate import Evaluation
from evaluation.model import Training
from evaluation.records import SCHEMA, OverheadRecord
from evaluation.samples import launch
from evaluation.trial import Sample
from runner.execution import machine
from runner.key import THREADS


def measure(evaluation: Evaluation, sample: Sample, training: Training, repeats: int) -> OverheadRecord | None:
    """Seconds of `repeats` bare and as many watched runs, in turns; None where one of them fails.

    `training` is what an earlier check said of this program: what it timed is timed here.
    """
    blank = _blank(evaluation, sample, training.of, repeats)
    done = None if evaluation.settings.force else evaluation.settings.evaluations.find_overhead(blank)
    if done:
        return done
    references = evaluation.samples.references(sample.program, evaluation.how) or []
    bare, watched = [], []
    for turn in range(1, repeats + 1):
        evaluation.progress.line(f"{evaluation.label}: overhead on {blank.bug}/{blank.case}, {turn} of {repeats}")
        directory = evaluation.new_folder() / "program"
        sample.program.lay_out(directory)
        seconds = launch(sample.program, directory)
        verdict, _ = evaluation.answer(sample, references, evaluation.new_folder())
        if seconds is None or verdict.training is None or verdict.training.of != training.of:
            return None
        bare.append(round(seconds[0 if training.of == "loop" else 1], 4))
        watched.append(round(verdict.training.seconds, 4))
    record = OverheadRecord(**{**vars(blank), "bare": tuple(bare), "watched": tuple(watched)})
    evaluation.settings.evaluations.save(record)
    return record


def _blank(evaluation: Evaluation, sample: Sample, of: str, repeats: int) -> OverheadRecord:
    program, detector = sample.program, evaluation.detector
    parts = [SCHEMA, evaluation.digest, program.run.key, evaluation.how, repeats, of, machine()]
    return OverheadRecord(
        schema=SCHEMA,
        key=hashlib.sha256(json.dumps(parts).encode()).hexdigest(),
        detector=detector.name,
        version=detector.version,
        references=evaluation.how,
        bug=program.bug.id,
        case=program.case.name,
        seed=program.run.seed,
        torch=program.run.place.torch,
        device=program.run.place.device,
        machine=machine(),
        threads=THREADS,
        of=of,
        bare=(),
        watched=(),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
    )
