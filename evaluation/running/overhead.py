"""Overhead: bare and watched runs in turns, so that both meet the same machine.

A bare run is started in the same way as a watched one, by an adapter of no detector: waiting for it costs the same.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from msgspec import structs

from evaluation.keys import kit_digest, overhead_key
from evaluation.model import TimedPart, Training
from evaluation.records import SCHEMA, CheckRecord, OverheadRecord
from evaluation.running.adapter import Adapter
from evaluation.running.subject import Sample
from runner.results.runtime_identity import machine
from runner.sandbox.env import THREADS

BARE = Path(__file__).parents[1] / "bare"
# What the tool says of the seconds of one run (None where it does not end well), and those of the benchmark's clock.
Turn = Callable[[], tuple[Training | None, float]]


def measure(
    blank: OverheadRecord, bare: Turn, watched: Turn, repeats: int, line: Callable[[str], None]
) -> OverheadRecord | None:
    """The record with the seconds of `repeats` bare and as many watched runs, in turns; None where one of them fails.

    `line` is told which turn it is.
    """
    taken: tuple[list[list[float]], list[list[float]]] = [[], []], [[], []]
    for number in range(1, repeats + 1):
        line(f"overhead on {blank.bug}/{blank.case}, {number} of {repeats}")
        for turn, (claimed, wall) in zip((bare, watched), taken, strict=True):
            training, seconds = turn()
            if training is None or training.of != blank.of:
                return None
            claimed.append(round(training.seconds, 4))
            wall.append(round(seconds, 4))
    (bare_s, bare_wall), (watched_s, watched_wall) = taken
    walls = {"bare_wall": tuple(bare_wall), "watched_wall": tuple(watched_wall)}
    return structs.replace(blank, bare=tuple(bare_s), watched=tuple(watched_s), **walls)


def bare_adapter(adapter: Adapter, of: TimedPart) -> Adapter:
    """An adapter of no detector, which is started as that one is, and tells the seconds of the loop or the process."""
    detector = structs.replace(adapter.detector, directory=BARE, adapter=f"{of}.py", monitor=None)
    return replace(adapter, detector=detector)


def blank(
    record: CheckRecord, of: TimedPart, sample: Sample, digest: str, repeats: int
) -> OverheadRecord:
    """The record of a timing that is to be done, on the program of a check."""
    run, text = sample.subject.run, (BARE / f"{of}.py").read_text(encoding="utf-8")
    return OverheadRecord(
        schema=SCHEMA,
        key=overhead_key(digest, text, run.key, record.references, repeats, of, machine()),
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
        of=of,
        bare=(),
        watched=(),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        kit=kit_digest(),
        code=digest,
    )
