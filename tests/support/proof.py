"""The table of the last full proof, and the plan of a bounded one,
which runs what the table does not prove.
"""

import csv
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.catalog import Catalog
from runner.errors import ResultsError
from runner.results.expected import expected_records, seconds
from runner.results.runtime_identity import machine
from support.paths import ROOT

TABLE = ROOT / "tests" / "proof.csv"
# The table of a full proof that was stopped: a row for each test that has passed.
BEGUN = ROOT / "tests" / "proof-begun.csv"
SEED_BUGS = ("PyTorch-115607", "SO-60335387")
# What may change the outcome of a real test.
CODE = (
    *("runner", "evaluation", "plots", "trainbugs", "environments", "tests/*.py", "setup.cfg"),
    *("detectors", ":!detectors/expected", "bugs", ":!bugs/*/README.md"),
)
# Seconds that the share may take at most.
SHARE_S = 180.0
# Seconds to download and build one more environment, roughly.
ENVIRONMENT_S = 45.0

SEED, CHANGED, SHARE = "seed bug", "not in the table", "share of the others"


@dataclass(frozen=True)
class Row:
    """A case that was run as a whole: all seeds, both variants, in its pinned environment.

    `key` is that of `case_key`, `drift` the largest distance of a metric from the expected records,
    `seconds` the wall time. In the table of a proof that was stopped there are rows of other tests
    too: `name` is the test's, `drift` is empty, and `key` holds the `code_key` as well.
    """

    name: str
    key: str
    verdict: str
    drift: str
    seconds: str
    date: str
    machine: str
    commit: str


@dataclass(frozen=True)
class Plan:
    """Cases by ID: to be run, in this order, with the reason; not to be run here,
    with the obstacle.

    `standing` are proven by the table.
    """

    reasons: Mapping[str, str]
    obstacles: Mapping[str, str]
    standing: tuple[str, ...]


@dataclass(frozen=True)
class Candidate:
    """A case of the catalogue; `obstacle` says why this machine cannot run it, if so."""

    bug: Bug
    case: Case
    key: str
    obstacle: str | None

    @property
    def name(self) -> str:
        """The ID of the case."""
        return self.case.id

    @property
    def environment(self) -> str:
        """The environment that a proof builds for it."""
        return self.case.program.variants["buggy"].environment

    @property
    def seconds(self) -> float:
        """The seconds that its runs took before."""
        return seconds(self.bug, self.case) or 0.0


def case_key(bug: Bug, case: Case) -> str:
    """What identifies a proof of a case: a hash of the keys of its expected records and of what
    they are judged by.

    Empty where there are no expected records that can be read: nothing proves such a case.
    """
    try:
        keys = sorted(record.key for record in expected_records(bug, case.name))
    except ResultsError:
        keys = []
    if not keys:
        return ""
    config = json.loads((bug.directory / "config.json").read_text(encoding="utf-8"))
    judged_by = [config["cases"][case.name]["expectations"], config.get("volatile"), case.benign]
    return hashlib.sha256(json.dumps([keys, judged_by]).encode()).hexdigest()


def keys(catalog: Catalog) -> dict[str, str]:
    """By case ID, today's `case_key` of every case of the catalogue."""
    bugs = [catalog.bug(name) for name in catalog.active()]
    return {case.id: case_key(bug, case) for bug in bugs for case in bug.cases.values()}


def code_key() -> str:
    """What identifies all that a proof may depend on: a hash of the runner, the bugs, detectors,
    locks and tests.
    """
    digest = hashlib.sha256()
    names = _git("ls-files", "-z", "--", *CODE).split("\0")
    for name in sorted(filter(None, names)):
        path = ROOT / name
        # A link to a folder stands for its target, whose files are listed themselves.
        content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
        digest.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()


def read_table(path: Path) -> dict[str, Row]:
    """The rows of a table by name; none where there is no table."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {row["name"]: Row(**row) for row in csv.DictReader(file)}


def proven() -> dict[str, Row]:
    """The rows by name of the last full proof, and of one that was begun since and stopped."""
    return read_table(TABLE) | read_table(BEGUN)


def write_table(path: Path, rows: Iterable[Row]) -> None:
    """Write a table, sorted by name, so that a reader sees the old one or the whole new one."""
    temporary = path.with_suffix(".tmp")
    with temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in sorted(rows, key=lambda row: row.name))
    temporary.replace(path)


def stands(row: Row | None, key: str) -> bool:
    """Whether a row of the table proves a case of that key."""
    return row is not None and row.key == key != "" and row.verdict == "REPRODUCED"


def missing_needs() -> dict[str, str]:
    """By need of a case, why it is not run in a bounded proof on this machine."""
    needs = {"gpu": "needs a GPU", "data": "needs data: left to the full proof"}
    if not shutil.which("g++"):
        needs["c++"] = "needs a C++ compiler"
    return needs


def plan(
    catalog: Catalog,
    table: Mapping[str, Row],
    commit: str,
    missing: Mapping[str, str],
    within_s: float,
) -> Plan:
    """The seed bugs, all that the table does not prove,
    and a share of the others that the commit chooses.

    The share takes half of the time at most that the rest is expected to leave of `within_s`.
    """
    candidates = _candidates(catalog, missing)
    proven = [case.name for case in candidates if stands(table.get(case.name), case.key)]
    runnable = [case for case in candidates if case.obstacle is None]
    reasons = {case.name: SEED for case in runnable if case.bug.id in SEED_BUGS}
    unproven = [case for case in candidates if case.name not in (*proven, *reasons)]
    reasons |= {case.name: CHANGED for case in unproven if case.obstacle is None}
    necessary = [case for case in runnable if case.name in reasons]
    optional = [case for case in runnable if case.name not in reasons]
    environments = {case.environment for case in necessary}
    necessary_s = sum(case.seconds for case in necessary) + ENVIRONMENT_S * len(environments)
    share_s = min(SHARE_S, (within_s - necessary_s) / 2)
    reasons |= dict.fromkeys(_share(optional, environments, commit, share_s), SHARE)
    return Plan(
        reasons=_by_environment(reasons, {case.name: case.environment for case in runnable}),
        obstacles={case.name: case.obstacle for case in unproven if case.obstacle is not None},
        standing=tuple(name for name in proven if name not in reasons),
    )


def _candidates(catalog: Catalog, missing: Mapping[str, str]) -> list[Candidate]:
    """All cases of the catalogue that are not retired."""
    candidates = []
    for name in catalog.active():
        bug = catalog.bug(name)
        for case in bug.cases.values():
            obstacles = [missing[need] for need in case.program.needs if need in missing]
            obstacle = obstacles[-1] if obstacles else None
            candidates.append(Candidate(bug, case, case_key(bug, case), obstacle))
    return candidates


def _share(
    cases: Iterable[Candidate], environments: Iterable[str], commit: str, limit_s: float
) -> list[str]:
    """Cases that together take about `limit_s`, in an order that is another one for each commit.

    The first one is in it whatever it costs, so that each case has its turn. `environments` are
    there.
    """

    def turn(case: Candidate) -> str:
        return hashlib.sha256(f"{commit} {case.name}".encode()).hexdigest()

    built = set(environments)
    names: list[str] = []
    for case in sorted(cases, key=turn):
        cost = case.seconds
        if case.environment not in built:
            cost += ENVIRONMENT_S
        if cost <= limit_s or (not names and limit_s > 0):
            limit_s -= cost
            built.add(case.environment)
            names.append(case.name)
    return names


def _by_environment(reasons: Mapping[str, str], environments: Mapping[str, str]) -> dict[str, str]:
    """One environment after the other, the most important case first:
    one at a time is on the disk.
    """
    ranks = {name: (SEED, CHANGED, SHARE).index(reason) for name, reason in reasons.items()}
    best: dict[str, int] = {}
    for name, rank in ranks.items():
        environment = environments[name]
        best[environment] = min(rank, best.get(environment, rank))

    def place(name: str) -> tuple[int, str, int, str]:
        environment = environments[name]
        return (best[environment], environment, ranks[name], name)

    return {name: reasons[name] for name in sorted(reasons, key=place)}


def commit() -> str:
    """The commit of this checkout, with -dirty where what a proof runs differs from it;
    empty outside of git.
    """
    revision = _git("rev-parse", "HEAD").strip()
    if not revision:
        return ""
    paths = (*CODE, ":!bugs/*/expected/*")
    changes = _git("--no-optional-locks", "status", "--porcelain", "--", *paths)
    return f"{revision}-dirty" if changes.strip() else revision


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:  # there is no git
        return ""
    return done.stdout if done.returncode == 0 else ""


def this_machine() -> str:
    """System, processor and number of cores."""
    return f"{machine()}, {len(os.sched_getaffinity(0))} cores"
