"""How often a correct program of others is accused: counts from the table and the judgements, with
Wilson's interval.

    python rate.py                          # of the frozen version 10
    python rate.py table-7.csv              # of the frozen version 7; table-8 is of version 8, …
    python rate.py table-3.csv version-1    # of the frozen version 3, by its rule version-1
"""

import csv
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from evaluation.scoring.intervals import wilson

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FALSE = "false alarm"
TRUE = "true finding"


@dataclass(frozen=True)
class Rate:
    """A count of programs among others, and the interval of its rate."""

    count: int
    programs: int

    def __str__(self):
        low, high = wilson(self.count, self.programs)
        return f"{self.count} of {self.programs} (95 %: {low:.1%} to {high:.1%})"


def table(name="table.csv"):
    """The rows of a table."""
    return list(csv.DictReader((HERE / name).read_text().splitlines()))


def by_rule(rows, rule):
    """The rows with the errors alone that a rule of sanitizer-3 counts."""
    detector = json.loads((ROOT / "detectors" / "sanitizer-3" / "detector.json").read_text())
    codes = set(detector["alarm_rules"][rule]["codes"])
    counted = []
    for row in rows:
        errors = [error for error in row["errors"].split() if error in codes]
        counted.append({**row, "errors": " ".join(errors)})
    return counted


def judgements():
    """The judgements: by program, then by invariant."""
    return json.loads((HERE / "judgements.json").read_text())


def watched(rows):
    """The rows of programs that did steps under a frozen version, and did not crash."""
    return [row for row in rows if row["digest"] and not row["failed"]]


def accused(rows, verdict):
    """The names of programs with an error that was judged so."""
    judged = judgements()
    names = set()
    for row in rows:
        verdicts = {judged[row["name"]][error]["judgement"] for error in row["errors"].split()}
        if verdict in verdicts:
            names.add(row["name"])
    return names


def falsely_accused(rows):
    """Programs with a false alarm under the sanitizer as it is, among those that did not shape it."""
    fresh = [row for row in rows if not row["shown_before"]]
    return Rate(len(accused(fresh, FALSE)), len(fresh))


def falsely_accused_at_first(rows):
    """The same with the false alarms that led to a change of an invariant."""
    taught = {row["name"] for row in rows if row["shown_before"]}
    return Rate(len(accused(rows, FALSE) | taught), len(rows))


def main():
    rows = table(*sys.argv[1:2])
    for rule in sys.argv[2:]:
        rows = by_rule(rows, rule)
    ran = watched(rows)
    chosen = json.loads((HERE / "programs.json").read_text())
    print(f"chosen, and not run yet: {len(chosen) - len(rows)}")
    print(f"programs: {len(rows)}, from {len({row['repository'] for row in rows})} repositories")
    print(f"did steps: {len(ran)}, from {len({row['repository'] for row in ran})} repositories")
    print(f"with a true finding: {len(accused(ran, TRUE))}")
    print(f"falsely accused, at first: {falsely_accused_at_first(ran)}")
    print(f"falsely accused, without programs that led to a change: {falsely_accused(ran)}")


if __name__ == "__main__":
    main()
