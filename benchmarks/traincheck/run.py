"""What does TrainCheck 0.2.0 find, used as its authors mean it? A table of declared cases under every choice.

    python benchmarks/traincheck/run.py benchmarks/traincheck/table.csv --work DIR [--only CASE …]

Of each case of `cases.json`, in its order: the references (clean runs, six at most), one more clean run that is held
out, the fixed and the buggy program are traced in full. Invariants are inferred from the first of the references, as
many as each of the case's `counts` says, and checked on all traces. Where the case says `sampled`, the same is done as
detectors/traincheck does it: two references, programs traced for their invariants only. A row is a case under one
choice; docs/traincheck.md says what the columns mean.

What is done lies in DIR: after a stop the same command goes on. After a change of a case begin with a new DIR. A case
that has used up its minutes is `not run`.
"""

import argparse
import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import table
from declared import ROOT, Declared, cases
from experiment import Experiment, programs
from parts import FailedError, OverError, Parts
from programs import prepare

from runner.bugs.catalog import Catalog


def rows_of(declared: Declared, work: Path) -> Iterator[dict[str, Any]]:
    if declared.not_run:
        yield table.unfinished(declared.case, "", "not run", declared.not_run)
        return
    place = prepare(declared, work)
    bug, case = declared.case.split("/")
    api = Catalog(ROOT).bug(bug).cases[case].truth.site.api
    parts = Parts(place, declared.budget_minutes * 60)
    experiment = Experiment(declared, place, parts, programs(declared, place))
    experiment.bare()
    tracings = {"full": experiment.full} | ({"sampled": experiment.sampled} if declared.sampled else {})
    for tracing, work_on in tracings.items():
        try:
            yield from table.rows(declared.case, api, tracing, work_on(), parts.seconds)
        except FailedError as error:
            yield table.unfinished(declared.case, tracing, "tool_error", str(error))
        except OverError as error:
            yield table.unfinished(declared.case, tracing, "not run", str(error))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="a folder for programs, traces and logs")
    parser.add_argument("--only", nargs="+", help="cases; default: all")
    arguments = parser.parse_args()
    there = list(csv.DictReader(arguments.table.read_text().splitlines())) if arguments.table.exists() else []
    by_case = {row["case"]: [each for each in there if each["case"] == row["case"]] for row in there}
    declared = cases()
    for each in declared:
        if arguments.only and each.case not in arguments.only:
            continue
        print(each.case, file=sys.stderr, flush=True)
        by_case[each.case] = list(rows_of(each, arguments.work.resolve()))
        with arguments.table.open("w", newline="") as file:
            writer = csv.DictWriter(file, table.FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(row for other in declared for row in by_case.get(other.case, ()))


if __name__ == "__main__":
    main()
