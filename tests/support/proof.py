"""The table of the last full proof, and the plan of a bounded one, which runs what the table does not prove."""

import csv
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from runner.bugs.catalog import Catalog
from runner.bugs.model import Bug, Case
from runner.errors import ResultsError
from runner.results.expected import expected_records, seconds
from runner.results.runtime_identity import machine
from support.paths import ROOT

TABLE = ROOT / "tests" / "proof.csv"
# Of a full proof that was stopped; a row for each test that has passed.
BEGUN = ROOT / "tests" / "proof-begun.csv"
SEED_BUGS = ("PyTorch-115607", "SO-60335387")
# What may change the outcome of a real test.
CODE = (
    *("runner", "evaluation", "plots", "trainbugs", "environments", "tests/*.py", "setup.cfg"),
    *("detectors", ":!detectors/expected", "bugs", ":!bugs/*/README.md"),
)
# Rough, in seconds: what the share may take at most, and what it takes to download and build one more environment.
SHARE_S = 180.0
ENVIRONMENT_S = 45.0

SEED, CHANGED, SHARE = "seed bug", "not in the table", "share of the others"


@dataclass(frozen=True)
class Row:
    """A case that was run as a whole: all seeds, both variants, in its pinned environment.

    `key` is that of `case_key`, `drift` the largest distance of a metric from the expected records, `seconds` the wall
    time. In the table of a proof that was stopped there are rows of other tests too: `name` is the test's, `drift` is
    empty, and `key` holds the `code_key` as well.
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
    """Cases by ID: those to be run, in this order, and why; those that should be run and cannot be here, and why not.

    `standing` are proven by the table.
    """

    chosen: Mapping[str, str]
    left_out: Mapping[str, str]
    standing: tuple[str, ...]


def case_key(bug: Bug, case: Case) -> str:
    """What identifies a proof of a case: a hash of the keys of its expected records and of what they are judged by.

    Empty where there are no expected records that can be read: nothing proves such a case.
    """
    try:
        keys = sorted(record.key for record in expected_records(bug, case.name))
    except ResultsError:
        keys = []
    config = json.loads((bug.directory / "config.json").read_text(encoding="utf-8"))
    judged_by = [config["cases"][case.name]["expectations"], config.get("volatile"), case.benign]
    return hashlib.sha256(json.dumps([keys, judged_by]).encode()).hexdigest() if keys else ""


def keys(catalog: Catalog) -> dict[str, str]:
    """By case ID, today's `case_key` of every case of the catalogue."""
    bugs = [catalog.bug(name) for name in catalog.active()]
    return {case.id: case_key(bug, case) for bug in bugs for case in bug.cases.values()}


def code_key() -> str:
    """What identifies all that a proof may depend on: a hash of the runner, the bugs, detectors, locks and tests."""
    digest = hashlib.sha256()
    for name in sorted(filter(None, _git("ls-files", "-z", "--", *CODE).split("\0"))):
        path = ROOT / name
        # A link to a folder stands for its target, whose files are listed themselves.
        content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
        digest.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()


def read(path: Path) -> dict[str, Row]:
    """The rows of a table by name; none where there is no table."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {row["name"]: Row(**row) for row in csv.DictReader(file)}


def proven() -> dict[str, Row]:
    """The rows by name of the last full proof, and of one that was begun since and stopped."""
    return read(TABLE) | read(BEGUN)


def write(path: Path, rows: Iterable[Row]) -> None:
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


def lacking() -> dict[str, str]:
    """By need of a case, why it is not run in a bounded proof on this machine."""
    found = {"gpu": "needs a GPU", "data": "needs data: left to the full proof"}
    return found | ({} if shutil.which("g++") else {"c++": "needs a C++ compiler"})


def plan(
    catalog: Catalog,
    table: Mapping[str, Row],
    commit: str,
    lacks: Mapping[str, str],
    within_s: float,
) -> Plan:
    """The seed bugs, all that the table does not prove, and a share of the others that the commit chooses.

    The share takes half of the time at most that the rest is expected to leave of `within_s`.
    """
    bugs = {
        case.id: bug
        for name in catalog.active()
        for bug in [catalog.bug(name)]
        for case in bug.cases.values()
    }
    cases = {name: bug.cases[name.split("/")[1]] for name, bug in bugs.items()}
    today = keys(catalog)
    barred = {
        name: lacks[need]
        for name, case in cases.items()
        for need in case.program.needs
        if need in lacks
    }
    proven = [name for name in cases if stands(table.get(name), today[name])]
    chosen = {
        name: SEED for name, bug in bugs.items() if bug.id in SEED_BUGS and name not in barred
    }
    unproven = [name for name in cases if name not in (*proven, *chosen)]
    chosen |= {name: CHANGED for name in unproven if name not in barred}
    others = [name for name in proven if name not in (*chosen, *barred)]
    costs = {name: seconds(bugs[name], cases[name]) or 0.0 for name in (*chosen, *others)}
    environments = {
        name: case.program.variants["buggy"].environment for name, case in cases.items()
    }
    built = {environments[name] for name in chosen}
    left_s = within_s - sum(costs.pop(name) for name in chosen) - ENVIRONMENT_S * len(built)
    chosen |= dict.fromkeys(
        share(costs, environments, built, commit, min(SHARE_S, left_s / 2)), SHARE
    )
    return Plan(
        chosen=_by_environment(chosen, environments),
        left_out={name: barred[name] for name in unproven if name in barred},
        standing=tuple(name for name in proven if name not in chosen),
    )


def share(
    costs: Mapping[str, float],
    environments: Mapping[str, str],
    built: Iterable[str],
    commit: str,
    left_s: float,
) -> list[str]:
    """Cases that together take about `left_s`, in an order that is another one for each commit.

    The first one is taken whatever it costs, so that each case has its turn.
    """
    there, taken = set(built), list[str]()
    for name in sorted(
        costs, key=lambda name: hashlib.sha256(f"{commit} {name}".encode()).hexdigest()
    ):
        cost = costs[name] + (0.0 if environments[name] in there else ENVIRONMENT_S)
        if cost <= left_s or (not taken and left_s > 0):
            left_s -= cost
            there.add(environments[name])
            taken.append(name)
    return taken


def _by_environment(chosen: Mapping[str, str], environments: Mapping[str, str]) -> dict[str, str]:
    """One environment after the other, that of the most important case first: only one needs to be on the disk."""
    order = {name: (SEED, CHANGED, SHARE).index(why) for name, why in chosen.items()}
    first: dict[str, int] = {}
    for name in sorted(chosen, key=order.__getitem__):
        first.setdefault(environments[name], order[name])
    names = sorted(
        chosen, key=lambda name: (first[environments[name]], environments[name], order[name], name)
    )
    return {name: chosen[name] for name in names}


def commit() -> str:
    """The commit of this checkout, with -dirty where what a proof runs differs from it; empty outside of git."""
    if not (revision := _git("rev-parse", "HEAD").strip()):
        return ""
    changed = _git(
        "--no-optional-locks", "status", "--porcelain", "--", *CODE, ":!bugs/*/expected/*"
    )
    return revision + ("-dirty" if changed.strip() else "")


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False
        )
    except OSError:  # there is no git
        return ""
    return done.stdout if done.returncode == 0 else ""


def this_machine() -> str:
    """System, processor and number of cores."""
    return f"{machine()}, {len(os.sched_getaffinity(0))} cores"
