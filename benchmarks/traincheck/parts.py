"""Parts of the work on a case: one command each, timed, kept, and not done again after a stop."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from programs import Place


class FailedError(Exception):
    """The tool, or the program under it, has failed."""


class OverError(Exception):
    """The case has used up its minutes."""


@dataclass
class Parts:
    """Runs commands one after the other. `seconds` are those of the clock and of the processor,
    of each part.
    """

    place: Place
    budget_s: float
    seconds: dict[str, tuple[float, float]] = field(default_factory=dict)

    def run(self, name: str, command: Sequence[object], folder: Path) -> None:
        """Raises FailedError (again, where the part has failed before a stop) or OverError."""
        path = self.place.folder / "parts" / f"{name}.json"
        if not path.exists():
            seconds_left = self.budget_s - sum(wall for wall, _ in self.seconds.values())
            done = self._timed(name, command, folder, seconds_left)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(done))
        record = json.loads(path.read_text())
        self.seconds[name] = (record["seconds"], record["processor_seconds"])
        if record["status"]:
            raise FailedError(f"{name}: {record['said']}")

    def _timed(
        self, name: str, command: Sequence[object], folder: Path, seconds_left: float
    ) -> dict[str, object]:
        folder.mkdir(parents=True, exist_ok=True)
        log = self.place.folder / "logs" / f"{name}.txt"
        log.parent.mkdir(parents=True, exist_ok=True)
        start, before = time.monotonic(), _processor_seconds()
        with log.open("w") as out:
            process = subprocess.Popen(
                [str(word) for word in command], cwd=folder, env=self._environment(), stdin=subprocess.DEVNULL,
                stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            try:
                status = process.wait(max(seconds_left, 0.0))
            except subprocess.TimeoutExpired as error:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise OverError(f"{self.budget_s / 60:.0f} minutes were over in {name}") from error
        seconds, used = time.monotonic() - start, _processor_seconds() - before
        print(
            f"  {name}: {seconds:.0f} s ({used:.0f} s of processor), status {status}",
            file=sys.stderr,
            flush=True,
        )
        message = last_error(log.read_text(errors="replace")) if status else ""
        return {
            "seconds": round(seconds, 2), "processor_seconds": round(used, 2), "status": status, "said": message,
        }  # fmt: skip

    def _environment(self) -> dict[str, str]:
        """Nothing of the caller's but the way to the programs of the system; one thread, no GPU,
        no network.
        """
        return {
            "PATH": os.environ["PATH"], "HOME": str(self.place.folder), "LANG": "C.UTF-8",
            "PYTHONPATH": str(self.place.packages), "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "",
            "HF_HUB_OFFLINE": "1",
        }  # fmt: skip


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def last_error(text: str) -> str:
    """The last line that names an exception, without colours; else the last line."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    error_lines = [
        line for line in lines if re.match(r"[\w.]*(Error|Exception|Unsupported)\b", line)
    ]
    return (error_lines or lines or ["no message"])[-1][:300]
