"""A detector at work: its adapter is started on a neutral copy of a program, in a scratch folder of its own."""

import errno
import json
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from evaluation.keys import KIT
from evaluation.model import ARGUMENTS, SCRIPT, Alarm, Answer, Detector, OwnAnswer, Status
from evaluation.running.peeking import note_of
from evaluation.running.program import ShownProgram
from runner.bugs.catalog import default_root
from runner.environments import builder, check, owner, spec
from runner.errors import EnvironmentBuildError, TrainbugsError
from runner.execution.launch import launch
from runner.execution.local import StoppedError
from runner.execution.run import Run
from runner.files import untrusted
from runner.files.folders import copy_folder
from runner.files.structs import MismatchError, as_struct
from runner.progress.lines import Progress
from runner.sandbox import process
from runner.sandbox.access import own_interpreter
from runner.sandbox.isolation import isolation
from runner.sandbox.process import Finished
from runner.sandbox.streams import Streams, open_streams

MAX_BYTES = 16_000_000
# What is kept of a detector that raises an alarm at every opportunity, of each code; the rest is counted.
MAX_ALARMS = 100
# What an adapter may take beyond the time that its tool has: to start, and to write its answer.
GRACE_S = 30.0
# Of the reason for a status.
MAX_REASON = 500
# The disk is full: that says nothing of a detector.
FULL = (errno.ENOSPC, errno.EDQUOT)
ANSWER = "verdict.json"
# The folder of a program that is checked, in the folder where the adapter works.
PROGRAM = "program"
# The kit's errors. An adapter that learns writes no answer: it ends with one of these and the reason.
STATUS_OF: dict[str, Status] = {
    "ToolTimeoutError": "timeout",
    "UnsupportedError": "unsupported",
    "ToolError": "tool_error",
}
LEFT_OUT = ("README.md", "requirements.*", "environment.json", "__pycache__")

OnWait = Callable[[float], None]


@dataclass(frozen=True)
class Place:
    """Where an adapter works: a folder, in one that is its own, and what it says, which is kept outside of that."""

    folder: Path
    streams: Streams


@dataclass(frozen=True)
class Adapter:
    """A detector ready to work: `python` runs its adapter, `packages` are folders of packages that it brings.

    It reads these, the system, what it is given, `kit` (a copy of the benchmark's files for detectors) and `reads`, the
    files of its interpreter. `guarded` are folders that it must not look at, where the kernel cannot keep it from that.
    `trusted`: others may change its environment, whom the user trusts.
    """

    detector: Detector
    python: Path
    packages: tuple[Path, ...]
    guarded: tuple[Path, ...]
    timeout_s: float
    kit: Path = KIT
    reads: tuple[Path, ...] = ()
    trusted: bool = False

    def prepare(
        self, programs: Sequence[ShownProgram], state: Path, on_wait: OnWait
    ) -> tuple[Answer | None, float]:
        """Let the detector learn from clean runs, into `state`; returns why it failed, if so, and the seconds."""
        start = time.monotonic()
        try:
            state.mkdir(parents=True)
            with open_streams(state.parent) as streams:
                return self._prepare(
                    programs, state, Place(state.with_name(f"{state.name}-work"), streams), on_wait
                )
        except Exception as error:
            return broken_by(error), time.monotonic() - start

    def check(
        self, program: ShownProgram, state: Path | None, place: Place, on_wait: OnWait
    ) -> tuple[Answer, float]:
        """What the detector answers of a program, and the seconds that it took.

        Whatever a detector does is a status, never an exception: a crash, no answer in time, an answer that is none, a
        state that cannot be copied. Raises StoppedError, and OSError where the disk is full.
        """
        start = time.monotonic()
        try:
            failure, seconds = self._check(program, state, place, on_wait)
            answer = failure or read_answer(place.folder / ANSWER)
            return answer if self.detector.monitor else _unstamped(answer), seconds
        except Exception as error:
            return broken_by(error), time.monotonic() - start

    def _prepare(
        self, programs: Sequence[ShownProgram], state: Path, place: Place, on_wait: OnWait
    ) -> tuple[Answer | None, float]:
        work = place.folder
        work.mkdir(parents=True, exist_ok=True)
        targets = [
            self._target(program, work / f"reference{index}")
            for index, program in enumerate(programs, 1)
        ]
        (work / "refs.json").write_text(
            json.dumps({"schema": 1, "references": targets}, indent=1), encoding="utf-8"
        )
        arguments = ["prepare", "--refs", "refs.json"]
        failure, seconds = self._call(arguments, programs[0], place, state, on_wait)
        if failure and failure.status == "tool_error":
            failure = _by_the_kit(process.error_in(place.streams.stderr)) or failure
        return failure, seconds

    def _check(
        self, program: ShownProgram, state: Path | None, place: Place, on_wait: OnWait
    ) -> tuple[Answer | None, float]:
        work = place.folder
        own_state = work / "state"
        if state is None:
            own_state.mkdir(parents=True)
        else:
            _copy_state(state, own_state)
        target = self._target(program, work / PROGRAM)
        (work / "target.json").write_text(json.dumps(target, indent=1), encoding="utf-8")
        arguments = ["check", "--target", "target.json", "--out", ANSWER]
        return self._call(arguments, program, place, own_state, on_wait)

    def _call(
        self,
        arguments: Sequence[str],
        program: ShownProgram,
        place: Place,
        state: Path,
        on_wait: OnWait,
    ) -> tuple[Answer | None, float]:
        """Run the adapter; returns what is to be said of it instead of its answer, if anything, and the seconds."""
        if isolation() != "none":
            return self._run_adapter(arguments, program, place, state, on_wait, {})
        with note_of(self.guarded, place.folder.parent) as note:
            failure, seconds = self._run_adapter(
                arguments, program, place, state, on_wait, note.variables
            )
            peeked = note.seen and Answer("peeked", f"looked at {note.seen}"[:MAX_REASON])
        return peeked or failure, seconds

    def _run_adapter(
        self,
        arguments: Sequence[str],
        program: ShownProgram,
        place: Place,
        state: Path,
        on_wait: OnWait,
        guard: Mapping[str, str],
    ) -> tuple[Answer | None, float]:
        work, streams = place.folder, place.streams
        copy = work / "detector"
        # A new copy each time: nothing of the benchmark lies beside it, nor what it has left behind.
        copy_folder(self.detector.directory, copy, _is_left_out)
        first = [str(self.kit / "monitor_adapter.py")] if self.detector.monitor else []
        extra = {
            "PYTHONPATH": str(self.kit),
            "PYTHONNOUSERSITE": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            **guard,
        }
        argv = [
            str(self.python),
            *first,
            str(copy / self.detector.program),
            *arguments,
            "--state",
            str(state),
        ]
        timeout_s = self.timeout_s + GRACE_S
        start = time.monotonic()
        finished = launch(
            argv, work, self._run(program), timeout_s=timeout_s, streams=streams, extra=extra, on_wait=on_wait,
            closed=True, reads=(self.kit, *self.reads, *self.packages), room=work.parent, hidden=self.guarded,
        )  # fmt: skip
        return self._failure(finished, streams.stderr), time.monotonic() - start

    def _run(self, program: ShownProgram) -> Run:
        """The run of the program, without network where it can be cut, unless the detector says why it needs it.

        A detector that does not look at the running process cannot read what would run the program.
        """
        offline = self.detector.network is None and process.network_can_be_cut() is None
        run = replace(program.run, network=False) if offline else program.run
        return run if self.detector.runs else replace(run, runtime=replace(run.runtime, paths=()))

    def _failure(self, finished: Finished, stderr: BinaryIO) -> Answer | None:
        if finished.timed_out:
            return Answer("timeout", f"no answer within {self.timeout_s + GRACE_S:.0f} s")
        if finished.exceeded:
            return Answer("tool_error", f"the adapter and what it ran {finished.exceeded}")
        if finished.returncode:
            said = process.error_in(stderr) or "no message"
            return Answer(
                "tool_error", f"the adapter ended with {finished.returncode}: {said}"[:MAX_REASON]
            )
        return None

    def _target(self, program: ShownProgram, directory: Path) -> dict[str, Any]:
        """What target.json says of a program: only what the detector needs is there, the rest is null."""
        runtime, text, runs = program.run.runtime, self.detector.has_text, self.detector.runs
        if text:
            program.lay_out(directory)
        return {
            "schema": 1,
            "directory": str(directory) if text else None,
            "script": SCRIPT if text else None,
            "arguments": list(ARGUMENTS) if text else None,
            "python": str(runtime.python_path) if runs else None,
            "torch": runtime.torch,
            "device": runtime.device,
            "timeout_s": self.timeout_s,
            "launcher": str(self.kit / "launcher") if runs else None,
            "packages": [str(path) for path in self.packages] if runs else None,
            **self._recorded(program, directory),
        }

    def _recorded(self, program: ShownProgram, directory: Path) -> dict[str, str | None]:
        """The files beside `directory` with what was recorded of a bare run, for detectors that need metrics."""
        values: dict[str, str | None] = {"metrics": None, "losses": None}
        needed = "metrics" in self.detector.needs
        for name, records in (("metrics", program.metrics), ("losses", program.losses)):
            if needed and records is not None:
                path = directory.with_name(f"{directory.name}-{name}.json")
                path.write_text(json.dumps(list(records)), encoding="utf-8")
                values[name] = str(path)
        return values


def environment_of(detector: Detector) -> spec.Environment | None:
    """The environment that a detector describes, None for one that brings no packages; raises CatalogError.

    Packages are built from their sources for a lock of the catalogue alone.
    """
    if not detector.has_environment:
        return None
    environment = spec.read_wheels_only(
        f"detector-{detector.name}", detector.directory, detector.directory
    )
    known = default_root() / "detectors" / detector.name / spec.LOCK
    is_known = known.is_file() and known.read_bytes() == environment.lock.read_bytes()
    return replace(environment, wheels_only=not is_known)


def set_up(
    detector: Detector,
    guarded: tuple[Path, ...],
    timeout_s: float | None,
    progress: Progress,
    kit: Path,
    trust: bool = False,
) -> Adapter:
    """The adapter of a detector; its environment is built if it is missing.

    Raises EnvironmentBuildError where that fails, the environment was changed since, or somebody else may change it,
    unless `trust` allows that.

    One that brings no packages is run by the interpreter of this program. `timeout_s`: None for the detector's own.
    """
    python, packages, reads, trusted = (
        Path(sys.executable),
        tuple[Path, ...](),
        own_interpreter(),
        False,
    )
    if described := environment_of(detector):
        built = builder.obtain(described, progress, trust=trust)
        trusted = owner.needs_trust(built, trust)
        changed = check.changed(built)
        if changed:
            raise EnvironmentBuildError(f"{changed}; {built.remedy}")
        python, packages = built.python, tuple(built.directory.glob("lib/python*/site-packages"))
        reads = built.paths
    return Adapter(
        detector, python, packages, guarded, timeout_s or detector.timeout_s, kit, reads, trusted
    )


def broken_by(error: Exception) -> Answer:
    """What is said of a check that an exception has ended; raises it again where it says nothing of the detector."""
    if isinstance(error, StoppedError) or (isinstance(error, OSError) and error.errno in FULL):
        raise error
    kind = "" if isinstance(error, TrainbugsError) else f"{type(error).__name__}: "
    return Answer("tool_error", f"{kind}{error}"[:MAX_REASON])


def _by_the_kit(said: str) -> Answer | None:
    """What an adapter's last words say, if it ended with one of the kit's errors."""
    error, _, reason = said.partition(": ")
    return Answer(STATUS_OF[error], reason[:MAX_REASON]) if error in STATUS_OF else None


def _copy_state(state: Path, target: Path) -> None:
    if state.is_symlink():
        raise untrusted.UnsafeError("the detector has put a link in the place of its state")
    # Links stay links: nothing is read to which they lead.
    shutil.copytree(state, target, symlinks=True, ignore=_odd)


def _odd(folder: str, names: Iterable[str]) -> set[str]:
    """What is neither file nor folder, or a link to nothing; copying a pipe would fail, and a device has no end."""
    return {
        name for name in names if not (path := Path(folder, name)).is_file() and not path.is_dir()
    }


def _is_left_out(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in LEFT_OUT)


def read_answer(path: Path) -> Answer:
    """The answer in a file that a detector wrote; never raises."""
    if not path.exists():
        return Answer("tool_error", f"the detector wrote no {path.name}")
    try:
        answer = as_struct(untrusted.read_json(path, MAX_BYTES, path.parent), OwnAnswer)
    except (untrusted.UnsafeError, MismatchError) as error:
        return Answer("tool_error", f"{path.name}: {error}"[:MAX_REASON])
    if answer.status != "ok":
        # A tool that failed has no alarms: what it said on its way down is no detection.
        return Answer(answer.status, answer.reason or "no reason given")
    # Only a committed alarm stands for several.
    alarms, dropped = thin([msgspec.structs.replace(each, times=1) for each in answer.alarms])
    return Answer(
        status="ok",
        alarms=alarms,
        dropped=answer.dropped + dropped,
        training=answer.training,
        invariants=answer.invariants,
        artefacts=answer.artefacts,
    )


def _unstamped(answer: Answer) -> Answer:
    """The answer without iterations in which alarms were seen: only the launcher's own adapter is believed there."""
    return msgspec.structs.replace(
        answer, alarms=tuple(msgspec.structs.replace(a, seen=None) for a in answer.alarms)
    )


def thin(alarms: Sequence[Alarm], most: int = MAX_ALARMS) -> tuple[tuple[Alarm, ...], int]:
    """The first `most` alarms of each code and severity, and how many others there were."""
    seen: Counter[tuple[str, str]] = Counter()
    kept = []
    for alarm in alarms:
        seen[alarm.code, alarm.severity] += 1
        if seen[alarm.code, alarm.severity] <= most:
            kept.append(alarm)
    return tuple(kept), len(alarms) - len(kept)
