"""A detector at work: its adapter is started on a neutral copy of a program, in a scratch folder of its own."""

import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.model import Alarm, Answer, Detector, OwnAnswer
from evaluation.running.keys import KIT
from evaluation.running.subject import ARGUMENTS, SCRIPT, Sample, Subject
from runner.environments import builder, spec
from runner.execution.launch import launch
from runner.files import untrusted
from runner.files.structs import MismatchError, as_struct
from runner.progress.lines import Progress
from runner.sandbox import process
from runner.sandbox.process import Finished

MAX_BYTES = 16_000_000
# What is kept of a detector that raises an alarm at every opportunity, of each code; the rest is counted.
MAX_ALARMS = 100
# What an adapter may take beyond the time that its tool has: to start, and to write its answer.
GRACE_S = 30.0
ANSWER = "verdict.json"
LEFT_OUT = shutil.ignore_patterns("README.md", "requirements.*", "environment.json", "__pycache__")

OnWait = Callable[[float], None]


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

    def prepare(self, samples: Sequence[Sample], state: Path, on_wait: OnWait) -> tuple[Answer | None, float]:
        """Let the detector learn from clean runs, into `state`; returns why it failed, if so, and the seconds."""
        state.mkdir(parents=True)
        work = state.with_name(f"{state.name}-work")
        targets = [self._target(sample, work / f"reference{index}") for index, sample in enumerate(samples, 1)]
        (work / "refs.json").write_text(json.dumps({"schema": 1, "references": targets}, indent=1), encoding="utf-8")
        return self._call(["prepare", "--refs", "refs.json"], samples[0].subject, work, state, on_wait)

    def check(self, sample: Sample, state: Path | None, work: Path, on_wait: OnWait) -> tuple[Answer, float]:
        """What the detector answers of a program, and the seconds that it took.

        `work` is a new folder for all that it writes. Whatever a detector does is a status, never an exception: a
        crash, no answer in time, an answer that is none.
        """
        own_state = work / "state"
        if state is None:
            own_state.mkdir(parents=True)
        else:
            shutil.copytree(state, own_state)
        target = self._target(sample, work / "program")
        (work / "target.json").write_text(json.dumps(target, indent=1), encoding="utf-8")
        arguments = ["check", "--target", "target.json", "--out", ANSWER]
        failure, seconds = self._call(arguments, sample.subject, work, own_state, on_wait)
        return failure or read_answer(work / ANSWER), seconds

    def _call(
        self, arguments: Sequence[str], subject: Subject, work: Path, state: Path, on_wait: OnWait
    ) -> tuple[Answer | None, float]:
        """Run the adapter; returns what is to be said of it instead of its answer, if anything, and the seconds."""
        peeked, copy = work / "peeked", work / "detector"
        # A new copy each time: nothing of the benchmark lies beside it, nor what it has left behind.
        shutil.copytree(self.detector.directory, copy, ignore=LEFT_OUT)
        first = [str(KIT / "monitor_adapter.py")] if self.detector.monitor else []
        extra = {
            "PYTHONPATH": str(KIT),
            "PYTHONNOUSERSITE": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TRAINBUGS_GUARDED": os.pathsep.join(str(path.resolve()) for path in self.guarded),
            "TRAINBUGS_PEEKED": str(peeked),
        }
        argv = [str(self.python), *first, str(copy / self.detector.program), *arguments, "--state", str(state)]
        start = time.monotonic()
        finished = launch(argv, work, subject.run, timeout_s=self.timeout_s + GRACE_S, extra=extra, on_wait=on_wait)
        return self._failure(finished, peeked, work / "stderr"), time.monotonic() - start

    def _failure(self, finished: Finished, peeked: Path, stderr: Path) -> Answer | None:
        if peeked.exists():
            return Answer("peeked", f"looked at {peeked.read_text(encoding='utf-8').splitlines()[0]}")
        if finished.timed_out:
            return Answer("timeout", f"no answer within {self.timeout_s + GRACE_S:.0f} s")
        if finished.exceeded:
            return Answer("tool_error", f"the adapter and what it ran {finished.exceeded}")
        if finished.returncode:
            said = process.error_in(stderr) or "no message"
            return Answer("tool_error", f"the adapter ended with {finished.returncode}: {said}"[:500])
        return None

    def _target(self, sample: Sample, directory: Path) -> dict[str, Any]:
        """What target.json says of a program, which is laid out in `directory`."""
        sample.subject.lay_out(directory)
        runtime = sample.subject.run.runtime
        values: dict[str, str | None] = {}
        for name, records in (("metrics", sample.metrics), ("losses", sample.losses)):
            path = directory.with_name(f"{directory.name}-{name}.json")
            if records is not None:
                path.write_text(json.dumps(list(records)), encoding="utf-8")
            values[name] = str(path) if records is not None else None
        return {
            "schema": 1,
            "directory": str(directory),
            "script": SCRIPT,
            "arguments": list(ARGUMENTS),
            "python": str(runtime.python_path),
            "torch": runtime.torch,
            "device": runtime.device,
            "timeout_s": self.timeout_s,
            "launcher": str(KIT / "launcher.py"),
            "packages": [str(path) for path in self.packages],
            **values,
        }


def set_up(detector: Detector, guarded: tuple[Path, ...], timeout_s: float | None, progress: Progress) -> Adapter:
    """The adapter of a detector; its environment is built if it is missing. Raises EnvironmentBuildError.

    One that brings no packages is run by the interpreter of this program. `timeout_s`: None for the detector's own.
    """
    python, packages = Path(sys.executable), tuple[Path, ...]()
    if detector.has_environment:
        described = spec.read(f"detector-{detector.name}", detector.directory)
        built = spec.find(described) or builder.build(described, progress)
        python, packages = built.python, tuple(built.directory.glob("lib/python*/site-packages"))
    return Adapter(detector, python, packages, guarded, timeout_s or detector.timeout_s)


def read_answer(path: Path) -> Answer:
    """The answer in a file that a detector wrote; never raises."""
    if not path.exists():
        return Answer("tool_error", f"the detector wrote no {path.name}")
    try:
        answer = as_struct(untrusted.read_json(path, MAX_BYTES, path.parent), OwnAnswer)
    except (untrusted.UnsafeError, MismatchError) as error:
        return Answer("tool_error", f"{path.name}: {error}"[:500])
    if answer.status != "ok":
        # A tool that failed has no alarms: what it said on its way down is no detection.
        return Answer(answer.status, answer.reason or "no reason given")
    alarms, dropped = thin(answer.alarms)
    return Answer(
        status="ok",
        alarms=alarms,
        dropped=answer.dropped + dropped,
        training=answer.training,
        invariants=answer.invariants,
        artefacts=answer.artefacts,
    )


def thin(alarms: Sequence[Alarm]) -> tuple[tuple[Alarm, ...], int]:
    """The first MAX_ALARMS alarms of each code and severity, and how many others there were."""
    seen: Counter[tuple[str, str]] = Counter()
    kept = []
    for alarm in alarms:
        seen[alarm.code, alarm.severity] += 1
        if seen[alarm.code, alarm.severity] <= MAX_ALARMS:
            kept.append(alarm)
    return tuple(kept), len(alarms) - len(kept)
