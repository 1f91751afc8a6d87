"""The study of further seeds: does a case do what its oracle expects with seeds that nobody chose?

`benchmarks/further_seeds.py` makes the table.
"""

import functools
import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec.structs

from runner.bugs.bug import Target
from runner.bugs.case import Case, Oracle
from runner.files.row_tables import read_rows, write_rows
from runner.results.record import RunRecord
from runner.verdicts.verdict import INVALID, verify

TABLE = Path(__file__).with_name("further_seeds.csv")
# How many further seeds there are, and the numbers among which a hash picks them.
COUNT, FIRST, LAST = 5, 1000, 999_999
# In the column of seeds: the expectations about several seeds, over all further ones.
ALL = "all"

Behaves = Literal["yes", "no", "invalid"]


class Row(NamedTuple):
    """Whether all expectations of a case hold with a seed.

    `reason` says which does not, or why that cannot be told; `scripts` is the digest of the two
    scripts.
    """

    case: str
    seed: str
    behaves: str
    reason: str
    scripts: str


def seeds() -> tuple[int, ...]:
    """The further seeds, the same for all cases: a hash chooses them, and no person."""
    digests = (hashlib.sha256(f"further seed {number}".encode()) for number in range(COUNT))
    numbers = (int(digest.hexdigest(), 16) for digest in digests)
    return tuple(sorted(FIRST + number % (LAST - FIRST + 1) for number in numbers))


def scripts_digest(case: Case) -> str:
    """A short hash of the two scripts of a case."""
    variants = case.program.variants
    texts = [variants[name].script.read_bytes() for name in ("buggy", "fixed")]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:12]


def judged(target: Target, records: Sequence[RunRecord]) -> list[Row]:
    """The rows of a case from its records with all further seeds: one a seed, and one about all of
    them where the case has such expectations.
    """
    digest = scripts_digest(target.case)
    single, several = (_part(target.case, across) for across in (False, True))
    rows = [
        Row(target.case.id, str(seed), *_behaves(single, _with_seed(records, seed)), digest)
        for seed in seeds()
    ]
    if several.oracle.expectations:
        rows.append(Row(target.case.id, ALL, *_behaves(several, records), digest))
    return rows


def _part(case: Case, across: bool) -> Case:
    """The case with its expectations about several seeds, or with the others."""
    expectations = [
        item for item in case.oracle.expectations if (item.across_seeds is not None) is across
    ]
    return msgspec.structs.replace(case, oracle=Oracle(tuple(expectations), case.oracle.volatile))


def _with_seed(records: Sequence[RunRecord], seed: int) -> list[RunRecord]:
    return [record for record in records if record.seed == seed]


def _behaves(case: Case, records: Sequence[RunRecord]) -> tuple[Behaves, str]:
    verdict = verify(case, records)
    failed = [check for check in verdict.checks if check.holds is False]
    if verdict.outcome == INVALID:
        return "invalid", _one_line(verdict.reason)
    if failed:
        return "no", _one_line(f"{failed[0].expectation.statement}: {failed[0].explanation}")
    return "yes", ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def unsteady(rows: Iterable[Row]) -> dict[str, str]:
    """By case, why it is unsteady: with how many further seeds its twins do not behave."""
    failing: dict[str, list[str]] = {}
    for row in rows:
        if row.behaves != "yes":
            failing.setdefault(row.case, []).append(row.seed)
    return {case: _reason(seeds_) for case, seeds_ in failing.items()}


def _reason(failing: Sequence[str]) -> str:
    single = [seed for seed in failing if seed != ALL]
    if not single:
        return f"its twins do not do what is expected over {COUNT} further seeds"
    return f"its twins do not do what is expected with {len(single)} of {COUNT} further seeds"


def steadiness(case: Case) -> str | None:
    """With how many further seeds its twins behave, in words; None where its scripts of today were
    not run with them.
    """
    digest = scripts_digest(case)
    rows = [row for row in _committed().get(case.id, ()) if row.scripts == digest]
    if not rows:
        return None
    behaving = [row.seed for row in rows if row.behaves == "yes" and row.seed != ALL]
    fails_over_all = any(row.seed == ALL and row.behaves != "yes" for row in rows)
    return f"{len(behaving)} of {COUNT}" + (" (not over all)" if fails_over_all else "")


@functools.cache
def _committed() -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {}
    for row in read_table():
        rows.setdefault(row.case, []).append(row)
    return rows


def read_table(path: Path = TABLE) -> list[Row]:
    """The rows of a table; none where there is no file."""
    return read_rows(path, Row)


def write_table(path: Path, rows: Iterable[Row]) -> None:
    """Write the rows, sorted by case and seed; raises OSError."""
    write_rows(path, Row._fields, sorted(rows))
