"""Overhead: bare and watched runs in turns, so that both meet the same machine.

A bare run is started in the same way as a watched one, by an adapter of no detector: waiting for it
costs the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from msgspec import structs

from evaluation.keys import kit_digest, overhead_key
from evaluation.model import TimedPart, Training
from evaluation.records import SCHEMA, CheckRecord, OverheadRecord
from evaluation.running.adapter import Adapter
from evaluation.running.bare_runs import BareRuns
from evaluation.running.detector_check import DetectorCheck
from evaluation.running.detector_run import DetectorRun
from evaluation.running.execute import RecordByCheck
from evaluation.running.options import CampaignOptions
from runner.results.runtime_identity import machine
from runner.sandbox.env import THREADS
from runner.session.session import Session

BARE = Path(__file__).parents[1] / "bare"
# The training as the tool claims it (None where a run does not end well), and the seconds by the
# benchmark's clock.
Turn = Callable[[], tuple[Training | None, float]]


@dataclass(frozen=True)
class TurnTimes:
    """The seconds of the same run in several turns: as claimed, and by the benchmark's clock."""

    claimed: list[float]
    wall: list[float]


def time_detectors(
    checks: Sequence[DetectorCheck],
    records: RecordByCheck,
    options: CampaignOptions,
    session: Session,
    bare_runs: BareRuns,
) -> list[OverheadRecord]:
    """The overheads of the detectors of finished checks, timed one at a time,
    with nothing else beside them.
    """
    timed = select_timed(checks, records, options)
    if session.remote and timed:
        session.progress.note("nothing is timed on a cluster: for overheads leave out --executor")
        return []
    overheads = [_time_check(check, records[check], options, bare_runs) for check in timed]
    return [overhead for overhead in overheads if overhead]


def select_timed(
    checks: Sequence[DetectorCheck], records: RecordByCheck, options: CampaignOptions
) -> list[DetectorCheck]:
    """The check of each detector run on the fixed program of the named case,
    if its detector trains at all.

    The smallest seed counts, so that the check is the same whatever other seeds there are.
    """
    if options.rewriting:
        return []
    timed: dict[DetectorRun, DetectorCheck] = {}
    for check in sorted(checks, key=lambda check: records[check].seed):
        record = records[check]
        is_named = f"{record.bug}/{record.case}" == options.overhead_on
        if is_named and record.kind == "fixed" and record.seconds.training:
            timed.setdefault(check.detector_run, check)
    return list(timed.values())


def _time_check(
    check: DetectorCheck, record: CheckRecord, options: CampaignOptions, bare_runs: BareRuns
) -> OverheadRecord | None:
    """The timing of a detector on the program of a finished check,
    by the part of the run that the detector times.
    """
    detector_run, store = check.detector_run, check.detector_run.settings.store
    assert record.seconds.training is not None
    part = record.seconds.training.of
    blank = _blank_record(check, record, part, options.repeats)
    finished = None if options.force else store.find(blank)
    if finished:
        return finished
    # A check that was done before has not run here.
    (program,) = bare_runs.with_baselines([check.program])
    references = bare_runs.with_baselines(check.references)
    bare_adapter = _bare_adapter(detector_run.adapter, part)

    def run_bare() -> tuple[Training | None, float]:
        with detector_run.place() as place:
            answer, seconds = bare_adapter.check(program, None, place, lambda elapsed: None)
        return answer.training, seconds

    def run_watched() -> tuple[Training | None, float]:
        with detector_run.place() as place:
            _, seconds = detector_run.answer(program, references, place, lambda note: None)
        return seconds.training, seconds.check

    def show(text: str) -> None:
        detector_run.progress.line(f"{detector_run.label}: {text}")

    overhead = take_turns(blank, run_bare, run_watched, options.repeats, show)
    if overhead:
        store.save(overhead)
    return overhead


def take_turns(
    blank: OverheadRecord,
    run_bare: Turn,
    run_watched: Turn,
    repeats: int,
    show: Callable[[str], None],
) -> OverheadRecord | None:
    """The record with the seconds of `repeats` bare and as many watched runs, in turns;
    None where one of them fails.

    `show` is called with the number of the turn.
    """
    bare, watched = TurnTimes([], []), TurnTimes([], [])
    for number in range(1, repeats + 1):
        show(f"overhead on {blank.bug}/{blank.case}, {number} of {repeats}")
        for turn, times in ((run_bare, bare), (run_watched, watched)):
            training, seconds = turn()
            if training is None or training.of != blank.of:
                return None
            times.claimed.append(round(training.seconds, 4))
            times.wall.append(round(seconds, 4))
    return structs.replace(
        blank,
        bare=tuple(bare.claimed),
        watched=tuple(watched.claimed),
        bare_wall=tuple(bare.wall),
        watched_wall=tuple(watched.wall),
    )


def _bare_adapter(adapter: Adapter, part: TimedPart) -> Adapter:
    """An adapter of no detector, which is started as that one is,
    and tells the seconds of the loop or the process.
    """
    detector = structs.replace(adapter.detector, directory=BARE, adapter=f"{part}.py", monitor=None)
    return replace(adapter, detector=detector)


def _blank_record(
    check: DetectorCheck, record: CheckRecord, part: TimedPart, repeats: int
) -> OverheadRecord:
    """The record of a timing that is to be done, on the program of a check."""
    run, digest = check.program.run, check.detector_run.digest
    bare_text = (BARE / f"{part}.py").read_text(encoding="utf-8")
    key = overhead_key(digest, bare_text, run.key, record.references, repeats, part, machine())
    return OverheadRecord(
        schema=SCHEMA,
        key=key,
        detector=record.detector,
        version=record.version,
        references=record.references,
        bug=record.bug,
        case=record.case,
        seed=record.seed,
        torch=run.runtime.torch,
        device=run.runtime.device,
        machine=machine(),
        threads=THREADS,
        of=part,
        bare=(),
        watched=(),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        kit=kit_digest(),
        code=digest,
    )
