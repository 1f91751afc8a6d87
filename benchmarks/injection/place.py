"""The place of one fault: a temporary folder with toy bugs, the commands that run them,
and what is seen of them.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from injection import processes, toys

TIMEOUT_S = 180.0
RECORDS = "*/*/*-seed*.json"
ROW = re.compile(r"^(\S+)/\S+\s+(NOT REPRODUCED|REPRODUCED|INVALID)\b", re.MULTILINE)
# What may stay in a results folder, of all that is hidden.
MAY_STAY = (".index", ".claims", ".directory")
KINDS_OF_HARM = (
    "wrong verdicts",
    "tracebacks",
    "lost runs",
    "orphans",
    "leftover folders",
    "hangs",
    "escapes",
)


@dataclass(frozen=True)
class Shared:
    """What all faults share: a copy of the program (`code`),
    and caches. It lies in one temporary folder.
    """

    root: Path

    @property
    def code(self):
        return self.root / "code"

    def environ(self):
        return {
            "PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8",
            "PYTHONPATH": str(self.code), "MPLCONFIGDIR": str(self.root / "matplotlib"), "UV_OFFLINE": "1",
            "UV_NO_INDEX": "1", "UV_PYTHON_DOWNLOADS": "never", "UV_FIND_LINKS": str(self.root / "wheels"),
            "UV_CACHE_DIR": str(self.root / "uv"), "TRAINBUGS_CACHE": str(self.root / "cache"),
        }  # fmt: skip


@dataclass(frozen=True)
class Ended:
    """A command that has ended; `status` is None where it was killed because it hung."""

    status: int | None
    out: str
    err: str


@dataclass
class Place:
    """One fault's folder. `harm` collects what must not be, by kind;
    `details` are what was injected.
    """

    root: Path
    shared: Shared
    chance: object
    details: dict = field(default_factory=dict)
    harm: dict = field(default_factory=lambda: {kind: [] for kind in KINDS_OF_HARM})
    seeds: int = 1
    options: tuple = ("--python", sys.executable)
    missed: bool = False
    # The process that keeps mounts of this fault's own, if there are any.
    holder: subprocess.Popen | None = None
    # The words that start a command within these mounts, say.
    before: tuple = ()
    # Environment variables of its commands.
    environ: dict = field(default_factory=dict)
    # The bytes of good records that were seen, and may not change any more.
    good: dict = field(default_factory=dict)

    def __post_init__(self):
        for name in ("tmp", "results", "signs"):
            (self.root / name).mkdir()

    def plan(self, expected, **details):
        """Note what is going to be done and what is expected of it, before it is done."""
        self.details |= {"expected": expected, **details}

    def write_bugs(self, **changes):
        self.seeds = self.details.setdefault("seeds", self.chance.choice((1, 1, 2)))
        return toys.write_bugs(self.root / "bugs", self.seeds, **changes)

    @property
    def hold(self):
        """A file that scripts wait for while it is there:
        they see what lies in a folder on PATH.
        """
        return self.root / "signs" / "hold"

    @property
    def results(self):
        """The results folder as the command sees it, also where that has mounts of its own."""
        return self.seen(self.root / "results")

    def seen(self, path):
        return Path(f"/proc/{self.holder.pid}/root{path}") if self.holder else path

    def start(self, *words, **how):
        """Start the command line; without words: `run` of all toy bugs,
        with the options of this fault.
        """
        if not words:
            bugs = [str(path) for path in sorted((self.root / "bugs").iterdir())]
            words = ("run", *bugs, *self.options, "--results", str(self.root / "results"))
        argv = [*self.before, sys.executable, "-m", "runner", *map(str, words)]
        environ = {
            **self.shared.environ(),
            "TMPDIR": str(self.root / "tmp"),
            **self.environ,
            **how.pop("environ", {}),
        }
        environ["PATH"] += f":{self.root / 'signs'}"
        pipe = subprocess.PIPE
        return subprocess.Popen(
            argv, cwd=self.root, env=environ, stdout=pipe, stderr=pipe, text=True, **how
        )

    def end(self, command):
        """Wait for the end of a command, and of all that it has started; hangs,
        tracebacks and orphans are noted.
        """
        status = None
        try:
            out, err = command.communicate(timeout=TIMEOUT_S)
            status = command.returncode
        except subprocess.TimeoutExpired:
            command.kill()
            out, err = command.communicate()
            self.harm["hangs"].append(f"{err[-300:]}")
        # One of Python's own start, interrupted before any line of the program, is none of ours.
        if "Traceback (most recent call last)" in out + err and "init_import_site" not in err:
            self.harm["tracebacks"].append(err[-2000:])
        return Ended(status, out, err)

    def no_orphans(self, spared=()):
        """Note what is alive of what commands have started that have ended."""
        spared = {*spared, *([self.holder.pid] if self.holder else [])}
        orphans = processes.wait_for_the_end(self.root, spared)
        self.harm["orphans"] += [f"{process.pid} {process.words[:200]}" for process in orphans]

    def run(self, *words, **how):
        """Run the command line without disturbing it."""
        ended = self.end(self.start(*words, **how))
        self.no_orphans()
        return ended

    def wait(self, command, records, delay):
        """Wait until there are that many records, and some seconds more;
        False where the command has ended by then.
        """
        while command.poll() is None and len(list(self.results.glob(RECORDS))) < records:
            time.sleep(0.01)
        with suppress(subprocess.TimeoutExpired):
            command.wait(delay)
        return command.poll() is None

    def records(self):
        """The bytes of all files named like records that can be read,
        by path within the results folder.
        """
        records_by_path = {}
        for path in self.results.glob(RECORDS):
            if path.is_file() and not path.is_symlink():
                records_by_path[path.relative_to(self.results)] = path.read_bytes()
        return records_by_path

    def judge(self, ended, allowed, damaged=()):
        """Note verdicts that are not allowed, records with other metrics than the truth,
        and runs that were lost.

        `allowed` are the verdicts that a bug may have now, by its ID; `damaged` are paths of
        records that were good, and may have been made anew.
        """
        for bug, verdict in {
            **dict(self._written()),
            **dict(ROW.findall(ended.out if ended else "")),
        }.items():
            if verdict not in allowed[bug]:
                self.harm["wrong verdicts"].append(
                    f"{bug} is {verdict}, expected {' or '.join(allowed[bug])}"
                )
        now = self.records()
        for path in damaged:
            self.good.pop(path, None)
        self.harm["lost runs"] += [
            f"{path}" for path, data in self.good.items() if now.get(path) != data
        ]
        self.good = {path: data for path, data in now.items() if self._is_good(path, data)}

    def judge_end(self, ended, truth=None, damaged=()):
        """Judge the last command: all verdicts are the truth, all runs are there,
        nothing else is left.
        """
        truth = truth or toys.TRUTH
        self.judge(ended, {bug: (verdict,) for bug, verdict in truth.items()}, damaged)
        status = max(toys.STATUS[verdict] for verdict in truth.values())
        if ended.status != status:
            last_line = ended.err.strip().splitlines()[-1:]
            self.harm["wrong verdicts"].append(
                f"exit status {ended.status}, expected {status}: {last_line}"
            )
        bugs = [bug for bug, verdict in truth.items() if verdict != "INVALID"]
        runs, present = 2 * self.seeds * len(bugs), sum(path.parts[0] in bugs for path in self.good)
        if present != runs:
            self.harm["lost runs"].append(f"{present} good records, expected {runs}")
        self.no_leftovers()

    def no_leftovers(self):
        """Note what is left among temporary files and, hidden, in the results folder."""
        leftovers = [*self.seen(self.root / "tmp").iterdir()]
        leftovers += [path for path in self.results.rglob(".*") if path.name not in MAY_STAY]
        self.harm["leftover folders"] += [path.name for path in leftovers]

    def no_escape(self):
        """Note where a stranger's code has left its mark: it ran outside of the sandbox,
        or reached out of it.
        """
        self.harm["escapes"] += [path.name for path in (self.root / "marks").glob("*")]

    def clean(self):
        """Remove all of it."""
        processes.wait_for_the_end(self.root, [self.holder.pid] if self.holder else [])
        if self.holder:
            self.holder.kill()
            self.holder.communicate()
        shutil.rmtree(self.root, ignore_errors=True)

    def _written(self):
        for path in self.results.glob("*/*/verdict.json"):
            try:
                yield path.parent.parent.name, json.loads(path.read_text())["verdict"]
            except (ValueError, KeyError) as error:
                self.harm["wrong verdicts"].append(f"{path.name}: half-written: {error!r}")

    def _is_good(self, path, data):
        """Whether the bytes are a good record; its metrics are then the true ones,
        or that is noted.
        """
        try:
            record = json.loads(data)
            if record["status"] != "ok":
                return False
            bug, variant, seed = record["bug"], record["variant"], record["seed"]
        except (ValueError, KeyError, TypeError):
            return False
        if bug in toys.FACTORS and record["metrics"] != toys.metrics(bug, variant, seed):
            self.harm["wrong verdicts"].append(
                f"{path}: has status ok, and not the metrics of the run"
            )
        return True
