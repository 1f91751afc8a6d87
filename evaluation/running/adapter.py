"""A detector at work: its adapter is started on a neutral copy of a program,
in a scratch folder of its own.
"""

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, BinaryIO

from evaluation.keys import KIT
from evaluation.model import ARGUMENTS, SCRIPT, Answer, Detector
from evaluation.running.answers import (
    broken_by,
    failed,
    parse_kit_error,
    read_answer,
    without_stamps,
)
from evaluation.running.peeking import make_note
from evaluation.running.program import ShownProgram
from runner.bugs.catalog import default_root
from runner.environments import builder, check, owner, spec
from runner.errors import EnvironmentBuildError
from runner.execution.launch import launch
from runner.execution.run import Run
from runner.files import untrusted
from runner.files.folders import copy_folder
from runner.progress.lines import Progress
from runner.sandbox import process
from runner.sandbox.access import own_interpreter
from runner.sandbox.isolation import isolation
from runner.sandbox.process import Finished
from runner.sandbox.streams import Streams

# Seconds that an adapter may take beyond the time of its tool: to start, and to write its answer.
GRACE_S = 30.0
ANSWER = "verdict.json"
# The folder of a program that is checked, in the folder where the adapter works.
PROGRAM = "program"
# Files of a detector that are not copied for its adapter.
LEFT_OUT = ("README.md", "requirements.*", "environment.json", "__pycache__")

OnWait = Callable[[float], None]


@dataclass(frozen=True)
class Place:
    """Where an adapter works: a folder inside of a folder of its own, and its streams,
    which are kept outside.
    """

    folder: Path
    streams: Streams


@dataclass(frozen=True)
class Adapter:
    """A detector ready to work: `python` runs its adapter,
    `packages` are folders of packages that it brings.

    It reads these, the system, what it is given, `kit` (a copy of the benchmark's files for
    detectors) and `reads`, the files of its interpreter. `guarded` are folders that it must not
    look at, where the kernel cannot keep it from that. `trusted`: others may change its
    environment, whom the user trusts.
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
        self, programs: Sequence[ShownProgram], state: Path, streams: Streams, on_wait: OnWait
    ) -> tuple[Answer | None, float]:
        """Let the detector learn from clean runs, into `state`; returns why it failed, if so,
        and the seconds.

        It writes to `streams`.
        """
        start = time.monotonic()
        try:
            state.mkdir(parents=True)
            place = Place(state.with_name(f"{state.name}-work"), streams)
            return self._prepare(programs, state, place, on_wait)
        except Exception as error:
            return broken_by(error), time.monotonic() - start

    def check(
        self, program: ShownProgram, state: Path | None, place: Place, on_wait: OnWait
    ) -> tuple[Answer, float]:
        """The detector's answer about a program, and the seconds that it took.

        Whatever a detector does is a status, never an exception: a crash, no answer in time, an
        answer that is none, a state that cannot be copied. Raises StoppedError, and OSError where
        the disk is full.
        """
        start = time.monotonic()
        try:
            failure, seconds = self._check(program, state, place, on_wait)
            answer = failure or read_answer(place.folder / ANSWER)
            return answer if self.detector.monitor else without_stamps(answer), seconds
        except Exception as error:
            return broken_by(error), time.monotonic() - start

    def _prepare(
        self, programs: Sequence[ShownProgram], state: Path, place: Place, on_wait: OnWait
    ) -> tuple[Answer | None, float]:
        work = place.folder
        work.mkdir(parents=True, exist_ok=True)
        targets = [
            self._describe(program, work / f"reference{index}")
            for index, program in enumerate(programs, 1)
        ]
        references = json.dumps({"schema": 1, "references": targets}, indent=1)
        (work / "refs.json").write_text(references, encoding="utf-8")
        arguments = ["prepare", "--refs", "refs.json"]
        failure, seconds = self._call(arguments, programs[0], place, state, on_wait)
        if failure and failure.status == "tool_error":
            message = process.error_in(place.streams.stderr)
            failure = parse_kit_error(message) or failure
        return failure, seconds

    def _check(
        self, program: ShownProgram, state: Path | None, place: Place, on_wait: OnWait
    ) -> tuple[Answer | None, float]:
        work = place.folder
        state_copy = work / "state"
        if state is None:
            state_copy.mkdir(parents=True)
        else:
            _copy_state(state, state_copy)
        target = self._describe(program, work / PROGRAM)
        (work / "target.json").write_text(json.dumps(target, indent=1), encoding="utf-8")
        arguments = ["check", "--target", "target.json", "--out", ANSWER]
        return self._call(arguments, program, place, state_copy, on_wait)

    def _call(
        self,
        arguments: Sequence[str],
        program: ShownProgram,
        place: Place,
        state: Path,
        on_wait: OnWait,
    ) -> tuple[Answer | None, float]:
        """Run the adapter; returns the failure that stands in the place of its answer, if any,
        and the seconds.
        """
        if isolation() != "none":
            return self._run_adapter(arguments, program, place, state, on_wait, {})
        with make_note(self.guarded, place.folder.parent) as note:
            failure, seconds = self._run_adapter(
                arguments, program, place, state, on_wait, note.variables
            )
            path = note.first_path
        if path:
            return failed("peeked", f"looked at {path}"), seconds
        return failure, seconds

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
        # A new copy for every call: nothing of the benchmark lies beside it, nor what an earlier
        # call left.
        copy_folder(self.detector.directory, copy, _is_left_out)
        monitor_adapter = [str(self.kit / "monitor_adapter.py")] if self.detector.monitor else []
        variables = {
            "PYTHONPATH": str(self.kit),
            "PYTHONNOUSERSITE": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            **guard,
        }
        argv = [
            str(self.python),
            *monitor_adapter,
            str(copy / self.detector.program),
            *arguments,
            "--state",
            str(state),
        ]
        timeout_s = self.timeout_s + GRACE_S
        start = time.monotonic()
        finished = launch(
            argv,
            work,
            self._restrict_run(program),
            timeout_s=timeout_s,
            streams=streams,
            extra=variables,
            on_wait=on_wait,
            closed=True,
            reads=(self.kit, *self.reads, *self.packages),
            room=work.parent,
            hidden=self.guarded,
        )
        return self._failure(finished, streams.stderr), time.monotonic() - start

    def _restrict_run(self, program: ShownProgram) -> Run:
        """The run of the program, without network where it can be cut,
        unless the detector says why it needs it.

        A detector that does not look at the running process cannot read what would run the program.
        """
        run = program.run
        if self.detector.network is None and process.network_can_be_cut() is None:
            run = replace(run, network=False)
        if not self.detector.runs:
            run = replace(run, runtime=replace(run.runtime, paths=()))
        return run

    def _failure(self, finished: Finished, stderr: BinaryIO) -> Answer | None:
        if finished.timed_out:
            return Answer("timeout", f"no answer within {self.timeout_s + GRACE_S:.0f} s")
        if finished.exceeded:
            return Answer("tool_error", f"the adapter and what it ran {finished.exceeded}")
        if finished.returncode:
            message = process.error_in(stderr) or "no message"
            return failed("tool_error", f"the adapter ended with {finished.returncode}: {message}")
        return None

    def _describe(self, program: ShownProgram, directory: Path) -> dict[str, Any]:
        """The entries of target.json for a program: null is what the detector does not need."""
        runtime = program.run.runtime
        has_text, runs = self.detector.has_text, self.detector.runs
        if has_text:
            program.lay_out(directory)
        return {
            "schema": 1,
            "directory": str(directory) if has_text else None,
            "script": SCRIPT if has_text else None,
            "arguments": list(ARGUMENTS) if has_text else None,
            "python": str(runtime.python_path) if runs else None,
            "torch": runtime.torch,
            "device": runtime.device,
            "timeout_s": self.timeout_s,
            "launcher": str(self.kit / "launcher") if runs else None,
            "packages": [str(path) for path in self.packages] if runs else None,
            **self._write_records(program, directory),
        }

    def _write_records(self, program: ShownProgram, directory: Path) -> dict[str, str | None]:
        """Files beside `directory` with the records of the bare run,
        for detectors that need metrics.
        """
        paths: dict[str, str | None] = {"metrics": None, "losses": None}
        if "metrics" not in self.detector.needs:
            return paths
        for name, records in (("metrics", program.metrics), ("losses", program.losses)):
            if records is not None:
                path = directory.with_name(f"{directory.name}-{name}.json")
                path.write_text(json.dumps(list(records)), encoding="utf-8")
                paths[name] = str(path)
        return paths


def environment_of(detector: Detector) -> spec.Environment | None:
    """The environment that a detector describes, None for one that brings no packages;
    raises CatalogError.

    Packages are built from their sources for a lock of the catalogue alone.
    """
    if not detector.has_environment:
        return None
    environment = spec.read_wheels_only(
        f"detector-{detector.name}", detector.directory, detector.directory
    )
    catalogued = default_root() / "detectors" / detector.name / spec.LOCK
    lock = environment.lock.read_bytes()
    is_catalogued = catalogued.is_file() and catalogued.read_bytes() == lock
    return replace(environment, wheels_only=not is_catalogued)


def set_up(
    detector: Detector,
    guarded: tuple[Path, ...],
    timeout_s: float | None,
    progress: Progress,
    kit: Path,
    trust: bool = False,
) -> Adapter:
    """The adapter of a detector; its environment is built if it is missing.

    Raises EnvironmentBuildError where that fails, the environment was changed since, or somebody
    else may change it, unless `trust` allows that.

    One that brings no packages is run by the interpreter of this program. `timeout_s`: None for the
    detector's own.
    """
    environment = environment_of(detector)
    adapter = Adapter(
        detector,
        python=Path(sys.executable),
        packages=(),
        guarded=guarded,
        timeout_s=timeout_s or detector.timeout_s,
        kit=kit,
        reads=own_interpreter(),
    )
    if environment is None:
        return adapter
    built = builder.obtain(environment, progress, trust=trust)
    is_trusted = owner.needs_trust(built, trust)
    change = check.changed(built)
    if change:
        raise EnvironmentBuildError(f"{change}; {built.remedy}")
    return replace(
        adapter,
        python=built.python,
        packages=tuple(built.directory.glob("lib/python*/site-packages")),
        reads=built.paths,
        trusted=is_trusted,
    )


def _copy_state(state: Path, target: Path) -> None:
    if state.is_symlink():
        raise untrusted.UnsafeError("the detector has put a link in the place of its state")
    # Links stay links: nothing is read to which they lead.
    shutil.copytree(state, target, symlinks=True, ignore=_find_special)


def _find_special(folder: str, names: Iterable[str]) -> set[str]:
    """Names of what is neither file nor folder, or a link to nothing: a pipe cannot be copied,
    a device has no end.
    """
    paths = [Path(folder, name) for name in names]
    return {path.name for path in paths if not path.is_file() and not path.is_dir()}


def _is_left_out(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in LEFT_OUT)
