"""What docs/traincheck.md shows of the committed table: `python page.py` prints it,
a test compares.

A cell is the number of invariants that the fixed program violates, that of the buggy one, and what
follows from them.
"""

import csv
from collections.abc import Iterable, Mapping

from declared import HERE
from invariants import RULES
from table import DROPPING, KEYS

Row = Mapping[str, str]


def read() -> list[Row]:
    return list(csv.DictReader((HERE / "table.csv").read_text().splitlines()))


def names(rows: Iterable[Row]) -> list[str]:
    """The cases, in their order."""
    return list(dict.fromkeys(row["case"] for row in rows))


def chosen(rows: Iterable[Row], *key: str) -> Row | None:
    """The row of a case, tracing, number of references, dropping and rule."""
    values = dict(zip(KEYS, key, strict=True))
    return next((row for row in rows if values.items() <= row.items()), None)


def most(rows: Iterable[Row], case: str) -> str:
    """The largest number of references that a case has with whole traces."""
    full = (
        row for row in rows if (row["case"], row["tracing"], row["status"]) == (case, "full", "ok")
    )
    counts = [int(row["references"]) for row in full]
    return str(max(counts, default=0))


def cell(row: Row | None) -> str:
    if row is None:
        return "-"
    verdict = "PAIRED" if row["paired"] == "yes" else "no"
    site = ", site" if row["paired"] == "yes" and row["site"] == "yes" else ""
    return f"{row['on_fixed']} / {row['on_buggy']} {verdict}{site}"


def cells(rows: list[Row], case: str) -> list[str]:
    """As detectors/traincheck does it; whole traces, all references, own violations dropped:
    any rule, and contain.
    """
    count = most(rows, case)
    keys = [
        ("sampled", "2", "nothing", "any"),
        ("full", count, "own", "any"),
        ("full", count, "own", "contain"),
    ]
    ended = {
        row["tracing"]: row["status"]
        for row in rows
        if row["case"] == case and row["status"] != "ok"
    }
    return [ended.get("") or ended.get(key[0]) or cell(chosen(rows, case, *key)) for key in keys]


def choices(rows: list[Row]) -> str:
    """How many of the cases that have it are PAIRED under each choice: one number for each rule,
    in their order.
    """
    lines = [
        f"| traces, references | dropped: {' | '.join(DROPPING)} |",
        f"|---|{'---|' * len(DROPPING)}",
    ]
    tracings = dict.fromkeys(
        (row["tracing"], row["references"]) for row in rows if row["status"] == "ok"
    )
    for tracing, count in sorted(tracings, key=lambda pair: (pair[0] != "full", int(pair[1]))):
        counts = " | ".join(paired(rows, tracing, count, dropping) for dropping in DROPPING)
        lines.append(f"| {tracing}, {count} | {counts} |")
    return "\n".join(lines)


def paired(rows: list[Row], tracing: str, count: str, dropping: str) -> str:
    """By rule, how many cases are PAIRED, and the number of cases."""
    hits: list[str] = []
    answered: list[int] = []
    for rule in RULES:
        case_rows = [chosen(rows, case, tracing, count, dropping, rule) for case in names(rows)]
        answers = [row["paired"] for row in case_rows if row]
        hits.append(str(answers.count("yes")))
        answered.append(len(answers))
    return f"{' '.join(hits)} of {answered[0]}"


def costs(rows: list[Row]) -> str:
    """Seconds of the clock, and of the processor in brackets;
    the ratio is that of the processor's.
    """
    lines = [
        "| case | bare | traced in full | ratio | inference | check |",
        "|---|---|---|---|---|---|",
    ]
    for case in names(rows):
        row = chosen(rows, case, "full", most(rows, case), "own", "any")
        if row:
            timed = {
                part: f"{float(row[f'{part}_s']):.0f} ({float(row[f'{part}_cpu_s']):.0f})"
                for part in ("bare", "trace", "infer", "check")
            }
            ratio = float(row["trace_cpu_s"]) / float(row["bare_cpu_s"])
            inferred = f"{timed['infer']} from {row['references']}"
            parts = (case, timed["bare"], timed["trace"], f"{ratio:.1f}", inferred, timed["check"])
            lines.append(f"| {' | '.join(parts)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    every = read()
    for name in names(every):
        print(name, *cells(every, name), sep=" | ")
    print(choices(every), costs(every), sep="\n\n")
