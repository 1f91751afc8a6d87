"""What does one detector say of one program? Starts its adapter on a neutral copy, in a scratch folder of its own."""

import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.catalog.detectors import SCHEMA
from evaluation.model import Alarm, Answer, Detector, Invariants, Training
from evaluation.running.program import Program
from runner.bugs.catalog import check_schema
from runner.bugs.model import Record
from runner.errors import CatalogError
from runner.execution.launch import launch
from runner.sandbox import process

MAX_BYTES = 16_000_000
# What is kept of a detector that raises an alarm at every opportunity, of each code; the rest is counted.
MAX_ALARMS = 100

KIT = Path(__file__).parents[1] / "kit"
# What an adapter may take beyond the time that its tool has: to start, and to write its verdict.
GRACE_S = 30.0
LEFT_OUT = shutil.ignore_patterns("README.md", "requirements.*", "environment.json", "__pycache__")


@dataclass(frozen=True, eq=False)
class Sample:
    """A program as a detector gets it. `metrics` are its records, `losses` one loss an iteration, of a bare run.

    `seconds` is what the bare run took.
    """

    program: Program
    metrics: Sequence[Record] | None = None
    losses: Sequence[Mapping[str, Any]] | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Adapter:
    """A detector ready to work: `python` runs its adapter, `packages` are folders of packages that it brings.

    `guarded` are folders that it must not look at.
    """

    detector: Detector
    python: Path
    packages: tuple[Path, ...]
    guarded: tuple[Path, ...]
    timeout_s: float


def own_python() -> Path:
    """The interpreter for adapters that bring no packages: that of this program."""
    return Path(sys.executable)


def prepare(
    bench: Adapter, samples: Sequence[Sample], state: Path, on_wait: Callable[[float], None]
) -> tuple[Answer, float]:
    """Let the detector learn from clean runs, into `state`; returns ok, or why it failed, and the seconds."""
    state.mkdir(parents=True)
    work = state.with_name(f"{state.name}-work")
    targets = [_target(bench, sample, work / f"reference{index}") for index, sample in enumerate(samples, 1)]
    (work / "refs.json").write_text(json.dumps({"schema": 1, "references": targets}, indent=1), encoding="utf-8")
    return _call(bench, samples[0].program, work, ["prepare", "--refs", "refs.json"], state, on_wait)


def check(
    bench: Adapter, sample: Sample, state: Path | None, work: Path, on_wait: Callable[[float], None]
) -> tuple[Answer, float]:
    """The detector's verdict on a program, and the seconds that it took. `work` is a new folder for all that it writes.

    Whatever a detector does is a status, never an exception: a crash, no answer in time, an answer that is none.
    """
    own_state = work / "state"
    if state is None:
        own_state.mkdir(parents=True)
    else:
        shutil.copytree(state, own_state)
    target = _target(bench, sample, work / "program")
    (work / "target.json").write_text(json.dumps(target, indent=1), encoding="utf-8")
    arguments = ["check", "--target", "target.json", "--out", "verdict.json"]
    verdict, seconds = _call(bench, sample.program, work, arguments, own_state, on_wait)
    return (read_answer(work / "verdict.json") if verdict.status == "ok" else verdict), seconds


def _call(
    bench: Adapter, program: Program, work: Path, arguments: list[str], state: Path, on_wait: Callable[[float], None]
) -> tuple[Answer, float]:
    """Run the adapter; the verdict is ok where it ended well, and says nothing of its answer."""
    peeked, copy = work / "peeked", work / "detector"
    # A new copy each time: nothing of the benchmark lies beside it, nor what it has left behind.
    shutil.copytree(bench.detector.directory, copy, ignore=LEFT_OUT)
    first = [str(KIT / "monitor_adapter.py")] if bench.detector.in_launcher else []
    command = [str(bench.python), *first, str(copy / bench.detector.program), *arguments]
    start = time.monotonic()
    done = launch(
        [*command, "--state", str(state)],
        work,
        program.run,
        timeout_s=bench.timeout_s + GRACE_S,
        extra=_variables(bench, peeked),
        on_wait=on_wait,
    )
    seconds = time.monotonic() - start
    if peeked.exists():
        return Answer("peeked", f"looked at {peeked.read_text(encoding='utf-8').splitlines()[0]}"), seconds
    if done.timed_out:
        return Answer("timeout", f"no answer within {bench.timeout_s + GRACE_S:.0f} s"), seconds
    if done.exceeded:
        return Answer("tool_error", f"the adapter and what it ran {done.exceeded}"), seconds
    if done.returncode:
        said = process.error_in(work / "stderr")
        return Answer("tool_error", f"the adapter ended with {done.returncode}: {said or 'no message'}"[:500]), seconds
    return Answer("ok"), seconds


def _variables(bench: Adapter, peeked: Path) -> dict[str, str]:
    return {
        "PYTHONPATH": str(KIT),
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TRAINBUGS_GUARDED": os.pathsep.join(str(path.resolve()) for path in bench.guarded),
        "TRAINBUGS_PEEKED": str(peeked),
    }


def _target(bench: Adapter, sample: Sample, directory: Path) -> dict[str, Any]:
    """What target.json says of a program, which is laid out in `directory`."""
    sample.program.lay_out(directory)
    runtime = sample.program.run.runtime
    values: dict[str, str | None] = {}
    for name, records in (("metrics", sample.metrics), ("losses", sample.losses)):
        path = directory.with_name(f"{directory.name}-{name}.json")
        if records is not None:
            path.write_text(json.dumps(list(records)), encoding="utf-8")
        values[name] = str(path) if records is not None else None
    return {
        "schema": 1,
        "directory": str(directory),
        "script": "program.py",
        "arguments": ["config.json"],
        "python": str(runtime.python_path),
        "torch": runtime.torch,
        "device": runtime.device,
        "timeout_s": bench.timeout_s,
        "launcher": str(KIT / "launcher.py"),
        "packages": [str(path) for path in bench.packages],
        **values,
    }


def read_answer(path: Path) -> Answer:
    """The verdict in a file that a detector wrote; never raises."""
    try:
        if path.stat().st_size > MAX_BYTES:
            return Answer("tool_error", f"{path.name} is larger than {MAX_BYTES} bytes")
        found = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
        check_schema(found, Path(path.name), SCHEMA, "verdict")
    except FileNotFoundError:
        return Answer("tool_error", f"the detector wrote no {path.name}")
    except (OSError, ValueError, RecursionError) as error:
        return Answer("tool_error", f"{path.name} is not JSON: {error}"[:500])
    except CatalogError as error:
        return Answer("tool_error", str(error)[:500])
    return _verdict(found)


def thin(alarms: Sequence[Alarm]) -> tuple[tuple[Alarm, ...], int]:
    """The first MAX_ALARMS alarms of each code and severity, and how many others there were."""
    seen: Counter[tuple[str, str]] = Counter()
    kept = []
    for alarm in alarms:
        seen[alarm.code, alarm.severity] += 1
        if seen[alarm.code, alarm.severity] <= MAX_ALARMS:
            kept.append(alarm)
    return tuple(kept), len(alarms) - len(kept)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _verdict(found: Any) -> Answer:
    if found["status"] != "ok":
        # A tool that failed has no alarms: what it said on its way down is no detection.
        return Answer(found["status"], found.get("reason") or "no reason given")
    alarms, dropped = thin([Alarm(**alarm) for alarm in found.get("alarms", [])])
    training, invariants = found.get("training"), found.get("invariants")
    return Answer(
        status="ok",
        alarms=alarms,
        dropped=found.get("dropped", 0) + dropped,
        training=Training(**training) if training else None,
        invariants=Invariants(**invariants) if invariants else None,
        artefacts=tuple(found.get("artefacts", ())),
    )
