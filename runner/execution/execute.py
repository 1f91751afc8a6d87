"""The execution of one run, from a Run to its RunRecord.

What a script does never raises an error here.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from runner.bugs.bug import FAULT
from runner.bugs.catalogue_version import CATALOGUE_VERSION
from runner.environments.check import problems
from runner.errors import ProcessError
from runner.execution import downloads, import_times
from runner.execution.launch import launch
from runner.execution.run import Run
from runner.field_types import Record
from runner.files import untrusted
from runner.results.record import SCHEMA, RunRecord, Status, digest
from runner.results.runtime_identity import identify
from runner.results.store import Store
from runner.sandbox import process
from runner.sandbox.process import Finished
from runner.sandbox.streams import Streams
from runner.verdicts.complete_runs import not_whole, numbers

MAX_METRICS_BYTES = 64_000_000
# The exit status with which fault.py says that it does not know this release.
REFUSED = 3
# The working directory of a script, in its room.
DIRECTORY = "run"
# Stands for the end of a program that could not be started.
NOTHING = Finished(returncode=0, timed_out=False, wall_s=0.0, peak_memory_mb=0.0)

OnWait = Callable[[float, BinaryIO], None]


def execute(run: Run, store: Store, on_wait: OnWait) -> RunRecord:
    """Execute the run, and save its record and logs; a failing script or environment is a status of
    the record.

    Raises ResultsError where these cannot be saved, UsageError where the run must have no network
    and this machine cannot cut it: ask process.network_can_be_cut before. `on_wait` is called while
    the script runs, with the seconds elapsed and its standard output.
    """
    started = _now()
    with store.working_directory() as room, store.streams() as streams:
        directory = room / DIRECTORY
        try:
            finished = _run_script(run, room, store.root, streams, on_wait)
            metrics, reason = read_metrics(directory / f"{run.parameters['output']}.json")
            status, reason = _judge(run, finished, reason, streams.stderr)
            if status == "ok":
                status, reason = _held_against_the_case(run, directory, metrics)
            elif status == "crashed":
                reason = downloads.explained(run, directory, reason or "")
        except ProcessError as error:
            finished, metrics = NOTHING, ()
            status, reason = "environment broken", _repair(run, str(error))
        if status != "ok":
            store.check_room()
        record = _record(run, finished, status, reason, started, metrics if status == "ok" else ())
        store.keep_logs(record, streams)
    store.save(record)
    return record


def not_done(run: Run, reason: str) -> RunRecord:
    """The record of a run that was started and then lost; the caller saves it."""
    return _record(run, NOTHING, "killed", reason, _now(), ())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _run_script(run: Run, room: Path, results: Path, streams: Streams, on_wait: OnWait) -> Finished:
    """Run the script in a folder of its `room`, where it cannot see the `results` of others."""
    if run.runtime.broken:
        raise ProcessError(run.runtime.broken)
    directory = room / DIRECTORY
    directory.mkdir()
    for name, text in run.scripts.items():
        (directory / name).write_bytes(text)
    (directory / "config.json").write_text(
        json.dumps({"parameters": run.parameters}, indent=1), encoding="utf-8"
    )
    argv = [str(run.runtime.python_path), *run.arguments]

    def wait(elapsed_s: float) -> None:
        on_wait(elapsed_s, streams.stdout)

    return launch(
        argv,
        directory,
        run,
        timeout_s=run.timeout_s,
        streams=streams,
        extra=import_times.VARIABLES if run.profiled else None,
        on_wait=wait,
        room=room,
        hidden=[results],
    )


def read_metrics(path: Path) -> tuple[tuple[Mapping[str, Any], ...], str | None]:
    """The script's records, or the reason why there are none."""
    try:
        path.lstat()
    except FileNotFoundError:
        return (), f"the script wrote no {path.name}"
    except OSError as error:
        # It may have taken the permissions of its own working directory.
        return (), f"{path.name}: cannot be read: {error.strerror}"
    try:
        # What could not be read back must not get into a record.
        records = untrusted.read_json(path, MAX_METRICS_BYTES, path.parent, constants=True)
    except untrusted.UnsafeError as error:
        return (), f"{path.name}: {error}"
    is_list = isinstance(records, list) and len(records) > 0
    if not is_list or not all(isinstance(record, dict) for record in records):
        return (), f"{path.name} holds no records, expected a list of JSON objects"
    return tuple(records), None


def _judge(
    run: Run, finished: Finished, no_metrics: str | None, stderr: BinaryIO
) -> tuple[Status, str | None]:
    """The status and reason of a run; the environment is checked only where a run has failed in
    it.
    """
    if finished.timed_out:
        return "timeout", f"killed after {run.timeout_s:g} s"
    if finished.exceeded:
        return "killed", finished.exceeded
    if finished.returncode == 0:
        return ("no records", no_metrics) if no_metrics else ("ok", None)
    message = process.error_in(stderr)[:1000]
    if run.injected and finished.returncode == REFUSED:
        return "refused", f"{FAULT}: {message or 'no reason given'}"
    if finished.returncode < 0:
        reason = f"killed by signal {-finished.returncode}"
        return "killed", f"{reason}; {message}" if message else reason
    broken = problems(run.runtime.built) if run.runtime.built else []
    if broken:
        return "environment broken", _repair(run, broken[0])
    return "crashed", f"exit status {finished.returncode}: {message or 'no message'}"


def _held_against_the_case(
    run: Run, directory: Path, metrics: Sequence[Record]
) -> tuple[Status, str | None]:
    """The status of a run that ended well: whether its records are whole, and its data what the
    case declares.
    """
    lack = not_whole(run.case, run.variant, metrics)
    if lack:
        return "not whole", lack
    other = downloads.keep(run, directory)
    return ("other data", other) if other else ("ok", None)


def _repair(run: Run, problem: str) -> str:
    if run.runtime.built is None:
        return problem
    return f"{problem}; {run.runtime.built.remedy}"


def _record(
    run: Run,
    finished: Finished,
    status: Status,
    reason: str | None,
    started: str,
    metrics: tuple[Mapping[str, Any], ...],
) -> RunRecord:
    runtime = run.runtime
    return RunRecord(
        schema=SCHEMA,
        key=run.key,
        bug=run.case.bug,
        case=run.case.name,
        variant=run.variant,
        seed=run.seed,
        benign=run.case.benign,
        parameters=run.parameters,
        runtime=identify(runtime),
        lock=runtime.lock,
        python=runtime.python,
        device_name=runtime.device_name,
        driver=runtime.driver,
        status=status,
        reason=reason,
        exit_code=None if finished.timed_out or finished is NOTHING else finished.returncode,
        started=started,
        wall_s=round(finished.wall_s, 3),
        peak_memory_mb=round(finished.peak_memory_mb, 1),
        data=run.data_digest,
        revision=run.revision,
        metrics=metrics,
        injected=run.injected,
        repeat=run.repeat,
        metrics_digest=digest(run.key, metrics),
        whole=_whole(run, len(metrics)),
        catalogue=CATALOGUE_VERSION,
    )


def _whole(run: Run, number: int) -> int | None:
    allowed = numbers(run.case, run.variant)
    return number if number in allowed else next(iter(allowed), None)
