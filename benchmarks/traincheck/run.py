"""What does TrainCheck 0.2.0 find, used as its authors mean it? A table of declared cases under
every choice.

    python benchmarks/traincheck/run.py benchmarks/traincheck/table.csv --work DIR [--only CASE …]

Of each case of `cases.json`, in its order: the references (clean runs, six at most), one more clean
run that is held out, the fixed and the buggy program are traced in full. Invariants are inferred
from the first of the references, as many as each of the case's `counts` says, and checked on all
traces. Where the case says `sampled`, the same is done as detectors/traincheck does it: two
references, programs traced for their invariants only. A row is a case under one choice;
docs/traincheck.md says what the columns mean. In `violated.csv` beside the table are the invariants
that the buggy program alone violates, with whole traces and all references, less those that a
reference violates itself; of cases that have run since that file exists.

What is done lies in DIR: after a stop the same command goes on. After a change of a case begin with
a new DIR. A case that has used up its minutes is `not run`.
"""

import argparse
import csv
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import table
from declared import ROOT, Declared, cases
from experiment import Experiment, programs
from parts import FailedError, OverError, Parts
from programs import prepare

from runner.bugs.catalog import Catalog


@dataclass
class Done:
    """The rows of a case, and what its buggy program alone violates."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    violated: list[dict[str, str]] = field(default_factory=list)


def done(declared: Declared, work: Path) -> Done:
    result = Done()
    if declared.not_run:
        result.rows.append(table.unfinished(declared.case, "", "not run", declared.not_run))
        return result
    place = prepare(declared, work)
    bug, case = declared.case.split("/")
    api = Catalog(ROOT).bug(bug).cases[case].truth.site.api
    parts = Parts(place, declared.budget_minutes * 60)
    experiment = Experiment(declared, place, parts, programs(declared, place))
    experiment.bare()
    tracings = {"full": experiment.full} | (
        {"sampled": experiment.sampled} if declared.sampled else {}
    )
    for tracing, work_on in tracings.items():
        try:
            outcome = work_on()
        except FailedError as error:
            result.rows.append(table.unfinished(declared.case, tracing, "tool_error", str(error)))
        except OverError as error:
            result.rows.append(table.unfinished(declared.case, tracing, "not run", str(error)))
        else:
            result.rows += table.rows(declared.case, api, tracing, outcome, parts.seconds)
            result.violated += table.violated(declared.case, outcome) if tracing == "full" else ()
    return result


def read(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of a table by their case; none where there is no table."""
    rows = list(csv.DictReader(path.read_text().splitlines())) if path.exists() else []
    by_case: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_case.setdefault(row["case"], []).append(row)
    return by_case


def write(
    path: Path, fields: Sequence[str], by_case: Mapping[str, Sequence[Mapping[str, Any]]]
) -> None:
    """The rows in the order of the declared cases."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row for declared in cases() for row in by_case.get(declared.case, ()))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", type=Path)
    parser.add_argument(
        "--work", type=Path, required=True, help="a folder for programs, traces and logs"
    )
    parser.add_argument("--only", nargs="+", help="cases; default: all")
    arguments = parser.parse_args()
    violated_path = arguments.table.with_name("violated.csv")
    rows, violated = read(arguments.table), read(violated_path)
    for case in cases():
        if arguments.only and case.case not in arguments.only:
            continue
        print(case.case, file=sys.stderr, flush=True)
        result = done(case, arguments.work.resolve())
        rows[case.case], violated[case.case] = result.rows, result.violated
        write(arguments.table, table.FIELDS, rows)
        write(violated_path, table.VIOLATED_FIELDS, violated)


if __name__ == "__main__":
    main()
