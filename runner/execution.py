"""What happens in one run? (case, variant, seed, place) -> RunRecord. A run never raises for what its script does."""

import hashlib
import json
import platform
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from runner import process
from runner.environment import Built, cache_root, problems
from runner.model import Bug, Case, Scalar
from runner.process import Finished
from runner.results import SCHEMA, RunRecord, Store

# Not the machine's number of cores: sums over another number of threads round differently.
THREADS = 2
MAX_METRICS_BYTES = 64_000_000


@dataclass(frozen=True)
class Place:
    """Where a run happens: an interpreter and a device. `built` is None for an interpreter of the user's own."""

    environment: str
    python_path: Path
    python: str
    torch: str | None
    built: Built | None
    device: str
    device_name: str | None
    driver: str | None

    @property
    def pinned(self) -> bool:
        return self.built is not None and self.built.backend is None

    @property
    def lock(self) -> str | None:
        return self.built.environment.lock_hash if self.built else None


@dataclass(frozen=True)
class Run:
    """One run to be done. `timeout_s` in seconds; `data` is the folder of data sets that the user named."""

    bug: Bug
    case: Case
    variant: str
    seed: int
    place: Place
    timeout_s: float
    data: Path | None
    revision: str | None

    @property
    def name(self) -> str:
        return f"{self.case.id}/{self.variant} seed {self.seed}"

    @property
    def parameters(self) -> dict[str, Scalar]:
        """What the script reads, with the seed and the device of this run."""
        return {**self.case.parameters, "seed": self.seed, "device": self.place.device}

    @property
    def key(self) -> str:
        """Hash of everything that may change the result: another key is another run."""
        parts = {
            "schema": SCHEMA,
            "what": [self.bug.id, self.case.name, self.variant, self.case.variants[self.variant].script.name],
            "scripts": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in self.bug.scripts},
            "parameters": {**self.parameters, "device": self.place.device.split(":")[0]},
            "place": [self.place.environment, self.place.lock, self.place.pinned, self.place.python, self.place.torch],
            "threads": THREADS,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def execute(run: Run, store: Store, on_wait: Callable[[float, Path], None]) -> RunRecord:
    """Do the run and save its record and logs; raises ResultsError or ProcessError, nothing for a failing script.

    `on_wait` is called while the script runs, with the seconds elapsed and the file of its standard output.
    """
    started = datetime.now(UTC).isoformat(timespec="milliseconds")
    with store.working_directory(run.bug.id, run.case.name) as directory:
        # A copy: what is edited meanwhile, or written beside the script, touches neither the run nor the bug.
        for script in run.bug.scripts:
            shutil.copyfile(script, directory / script.name)
        (directory / "config.json").write_text(json.dumps({"parameters": run.parameters}, indent=1), encoding="utf-8")
        stdout = directory / "stdout"
        finished = process.run(
            [str(run.place.python_path), run.case.variants[run.variant].script.name, "config.json"],
            cwd=directory,
            env=process.clean_environment(THREADS, _variables(run)),
            stdout=stdout,
            stderr=directory / "stderr",
            timeout_s=run.timeout_s,
            on_wait=lambda elapsed: on_wait(elapsed, stdout),
        )
        metrics, reason = _read_metrics(directory / f"{run.parameters['output']}.json")
        status, reason = _judge(run, finished, reason, directory / "stderr")
        record = _record(run, finished, status, reason, started, metrics if status == "ok" else ())
        store.keep_logs(record, directory)
    store.save(record)
    return record


def _variables(run: Run) -> dict[str, str]:
    data = {"TRAINBUGS_DATA": str(run.data)} if run.data else {}
    return {"TRAINBUGS_CACHE": str(cache_root()), **data}


def _read_metrics(path: Path) -> tuple[tuple[Mapping[str, Any], ...], str | None]:
    """The script's records, or the reason why there are none."""
    try:
        if path.stat().st_size > MAX_METRICS_BYTES:
            return (), f"{path.name} is larger than {MAX_METRICS_BYTES} bytes"
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return (), f"the script wrote no {path.name}"
    except (OSError, ValueError, RecursionError) as error:
        return (), f"{path.name} is not JSON: {error}"
    if not isinstance(found, list) or not found or not all(isinstance(record, dict) for record in found):
        return (), f"{path.name} holds no records, expected a list of JSON objects"
    return tuple(found), None


def _judge(run: Run, finished: Finished, no_metrics: str | None, stderr: Path) -> tuple[str, str | None]:
    """Status and reason of a run; a broken environment is looked for only where a run failed in it."""
    if finished.timed_out:
        return "timeout", f"killed after {run.timeout_s:g} s"
    if finished.returncode == 0:
        return ("no records", no_metrics) if no_metrics else ("ok", None)
    said = process.last_line(stderr.read_text(encoding="utf-8", errors="replace"))[:300]
    if finished.returncode < 0:
        return "killed", f"killed by signal {-finished.returncode}" + (f"; {said}" if said else "")
    broken = problems(run.place.built) if run.place.built else []
    if broken:
        repair = f"`trainbugs env build {run.place.environment} --force` builds it anew"
        return "environment broken", f"{broken[0]}; {repair}"
    return "crashed", f"exit status {finished.returncode}: {said or 'no message'}"


def _record(
    run: Run, finished: Finished, status: str, reason: str | None, started: str, metrics: tuple[Mapping[str, Any], ...]
) -> RunRecord:
    place = run.place
    return RunRecord(
        schema=SCHEMA,
        key=run.key,
        bug=run.bug.id,
        case=run.case.name,
        variant=run.variant,
        seed=run.seed,
        benign=run.case.benign,
        parameters=run.parameters,
        environment=place.environment,
        lock=place.lock,
        pinned=place.pinned,
        python=place.python,
        torch=place.torch,
        device=place.device,
        device_name=place.device_name,
        driver=place.driver,
        machine=_machine(),
        threads=THREADS,
        status=status,
        reason=reason,
        exit_code=None if finished.timed_out else finished.returncode,
        started=started,
        wall_s=round(finished.wall_s, 3),
        peak_memory_mb=round(finished.peak_memory_mb, 1),
        revision=run.revision,
        metrics=metrics,
    )


@cache
def _machine() -> str:
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    except OSError:
        found = None
    return f"{platform.system()} {platform.machine()}" + (f", {found.group(1)}" if found else "")
