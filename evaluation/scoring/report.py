"""Scores as tables to be read, in several formats, and as JSON and CSV files."""

import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.model import DIAGNOSES
from evaluation.scoring.chosen import without_rejected
from evaluation.scoring.scores import FAILURES, PROGRAM, ROW, label
from runner.files.atomic import finite, write_json, write_text
from runner.files.cells import cell

if TYPE_CHECKING:
    import pandas as pd

# A delay is stamped by the launcher, which lives in the process of the monitor.
WHEN = "Where and when it alarms (claimed by the process of the monitor), and at which price"
# With more rows only the first table is shown; the files have all.
MOST_ROWS = 8
# The largest number of pairs of detectors that is shown; the file has all.
MOST_PAIRS = 10
# Characters of LaTeX that stand for themselves with a backslash.
SPECIAL = {ord(character): f"\\{character}" for character in "&%$#_{}"}

Row = Any
Rows = list[list[str]]


@dataclass(frozen=True)
class ScoreTable:
    """A table to be read; the first row is the heading."""

    title: str
    rows: Rows


def rows(scores: "pd.DataFrame") -> Rows:
    """The heading and a line for each row of scores: what it finds, what it accuses, and which rules are chosen."""
    return _rows(scores, {**RATES, **CHOICE})


def tables(scores: "pd.DataFrame", compared: "pd.DataFrame") -> list[ScoreTable]:
    """The tables of some scores and their comparisons: all that say something, or of many rows the first one.

    Of many rows those are left out in whose place another rule is chosen, and what is found of new bugs.
    """
    title = "Cases found, and programs accused that are right"
    if len(scores) > MOST_ROWS:
        return [ScoreTable(title, _rows(without_rejected(scores), RATES))]
    first = ScoreTable(title, rows(scores))
    paired = compared[compared.measure == "paired"]
    further = [
        ScoreTable(WHEN, _rows(scores, DETAILS)),
        ScoreTable("What the tools say of themselves", _rows(scores, CLAIMS)),
        ScoreTable("PAIRED, by the twin, and by when the bug was added", _rows(scores, KINDS)),
        ScoreTable(
            "PAIRED, on the programs that both met",
            _pairs(paired) if len(paired) <= MOST_PAIRS else [[]],
        ),
    ]
    return [first, *(table for table in further if _says_something(table))]


def _says_something(table: ScoreTable) -> bool:
    """Whether it has lines, and columns besides the names."""
    return len(table.rows) > 1 and len(table.rows[0]) > 1


def _rows(scores: "pd.DataFrame", columns: dict[str, Callable[[Row], str]]) -> Rows:
    """The heading and a line for each row; columns without a value are left out, but for those of RATES."""
    lines = []
    for _, row in scores.iterrows():
        lines.append([label(row), *(show(row) for show in columns.values())])
    heading = ["DETECTOR", *columns]
    numbers = [0]
    for number, name in enumerate(columns, 1):
        if name in RATES or any(line[number] != "-" for line in lines):
            numbers.append(number)
    return [[line[number] for number in numbers] for line in (heading, *lines)]


def _pairs(compared: "pd.DataFrame") -> Rows:
    heading = ["FIRST", "SECOND", "N", "ALONE", "BUGS", "P"]
    lines = []
    for _, row in compared.iterrows():
        alone = f"{row.only_first}:{row.only_second}"
        bugs = f"{row.bugs_first}:{row.bugs_second}"
        lines.append(
            [row["first"], row.second, str(row.programs), alone, bugs, f"{row.p_bugs:.2g}"]
        )
    return [heading, *lines]


def share(name: str, of: str | None = None) -> Callable[[Row], str]:
    """So many of so many; the latter is a column of its own, or `of`."""
    n = of or f"{name}_n"
    return lambda row: f"{row[name]}/{row[n]}" if row[n] else "-"


def rate(name: str) -> Callable[[Row], str]:
    """So many of so many, and the interval in percent."""
    low, high, count = f"{name}_low", f"{name}_high", share(name)

    def show(row: Row) -> str:
        if _is_absent(row[low]):
            return count(row)
        return f"{count(row)} ({100 * row[low]:.0f}-{100 * row[high]:.0f})"

    return show


def _delay(name: str) -> Callable[[Row], str]:
    median, most = f"{name}_median", f"{name}_max"
    return lambda row: "-" if _is_absent(row[median]) else f"{row[median]:g} (max {row[most]:g})"


def _ratio(name: str) -> Callable[[Row], str]:
    return lambda row: "-" if _is_absent(row[name]) else f"{row[name]:.2f}"


def _site(row: Row) -> str:
    if not row["detected"]:
        return "-"
    return "/".join(str(row[f"diagnosis_{name}"]) for name in DIAGNOSES)


def _failed(row: Row) -> str:
    counts = [f"{row[name]} {name.replace('_', ' ')}" for name in FAILURES if row[name]]
    return ", ".join(counts) or "-"


def _is_absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


RATES: dict[str, Callable[[Row], str]] = {
    "DETECTED": rate("detected"),
    "PAIRED": rate("paired"),
    "ON FIXED": share("false_fixed"),
    "ON CONTROLS": share("false_controls"),
}
CHOICE: dict[str, Callable[[Row], str]] = {
    "NEW": share("paired_new"),
    "CHOSEN": lambda row: "yes" if row["chosen"] is True else "-",
}
DETAILS: dict[str, Callable[[Row], str]] = {
    "EARLY": lambda row: str(row["early"] or "-"),
    "DELAY": _delay("delay"),
    "SITE": _site,
    "BENIGN": share("benign_paired", "benign_n"),
    "OVERHEAD": _ratio("overhead"),
    "DID NOT RUN": _failed,
}
CLAIMS = {"CLAIMED DELAY": _delay("claimed_delay"), "CLAIMED OVERHEAD": _ratio("claimed_overhead")}
KINDS = {
    "REAL FIX": share("paired_real_fix"),
    "WORK-AROUND": share("paired_workaround"),
    "UPSTREAM": share("paired_upstream"),
    "KNOWN": share("paired_known"),
    "KNOWN, ON FIXED": share("false_known"),
    "NEW, ON FIXED": share("false_new"),
}


def unusual_rows(outcomes: "pd.DataFrame") -> dict[str, str]:
    """The rows that met other programs than most did, controls aside: their rates are not to be compared.

    To each belongs how many it met of the programs that some row met: a buggy and its fixed one count once.
    """
    on_bugs = outcomes[outcomes.kind.isin(("buggy", "fixed"))]
    programs_by_row = {
        label(group.iloc[0]): frozenset(group[PROGRAM].itertuples(index=False))
        for _, group in on_bugs.groupby(ROW)
    }
    every_program = frozenset[Any]().union(*programs_by_row.values())
    usual = Counter(programs_by_row.values()).most_common(1)
    return {
        name: f"{len(programs)} of {len(every_program)}"
        for name, programs in programs_by_row.items()
        if programs != usual[0][0]
    }


def notes(outcomes: "pd.DataFrame", scores: "pd.DataFrame") -> list[str]:
    """What has to be said below the tables: which rows met other programs, or have rules of an unknown date."""
    lines = []
    unusual = [f"{name} ({programs} programs)" for name, programs in unusual_rows(outcomes).items()]
    if unusual:
        lines.append(
            f"{', '.join(unusual)}: of other programs than the rest, not to be compared; "
            "add --common"
        )
    rejected = int((scores.chosen == False).sum())  # noqa: E712
    if rejected and len(scores) > MOST_ROWS:
        lines.append(
            f"{rejected} rules in whose place another one is chosen are in scores.csv, and so is NEW"
        )
    undated = sorted(set(scores.detector[scores.rule_since.isna()]))
    if undated:
        is_part = len(undated) < scores.detector.nunique()
        rows_text = ", ".join(undated) if is_part else "all rows"
        lines.append(
            f"{rows_text}: the records are older than the note of which rules were declared before them"
        )
    return lines


def markdown(table: ScoreTable) -> str:
    """A table in Markdown, under its title."""
    heading, *lines = table.rows
    rule = [":--", *("--:" for _ in heading[1:])]
    shown = (
        " | ".join(cell.replace("|", "\\|") for cell in line) for line in (heading, rule, *lines)
    )
    return "\n".join([f"**{table.title}**", "", *(f"| {line} |" for line in shown)])


def latex(table: ScoreTable) -> str:
    """A table in LaTeX, by the package booktabs; its caption is the title."""
    heading, *lines = (
        " & ".join(cell.translate(SPECIAL) for cell in line) + r" \\" for line in table.rows
    )
    columns, title = "l" + "r" * (len(table.rows[0]) - 1), table.title.translate(SPECIAL)
    begin = [
        "\\begin{table}",
        f"\\caption{{{title}}}",
        f"\\begin{{tabular}}{{{columns}}}",
        "\\toprule",
        heading,
    ]
    return "\n".join(
        [*begin, "\\midrule", *lines, "\\bottomrule", "\\end{tabular}", "\\end{table}"]
    )


def write(
    scores: "pd.DataFrame",
    outcomes: "pd.DataFrame | None",
    compared: "pd.DataFrame",
    directory: Path,
) -> list[Path]:
    """Write scores.json, and scores.csv, outcomes.csv (a row for each program and rule) and comparisons.csv.

    Without `outcomes` there is no file of them. Raises ResultsError.
    """
    described = directory / "scores.json"
    write_json(described, finite(json.loads(scores.to_json(orient="records"))))
    tables = {"scores.csv": scores, "outcomes.csv": outcomes, "comparisons.csv": compared}
    return [
        described,
        *(
            write_table(table, directory / name)
            for name, table in tables.items()
            if table is not None
        ),
    ]


def write_table(table: "pd.DataFrame", path: Path) -> Path:
    """Write a table as CSV; raises ResultsError."""
    write_text(path, as_csv(table))
    return path


def as_csv(table: "pd.DataFrame") -> str:
    """A table as CSV, in which no text is a formula."""
    import pandas as pd

    safe = {}
    for name in table.columns:
        cells = [cell(value) for value in table[name]]
        if any(new is not value for new, value in zip(cells, table[name], strict=True)):
            safe[name] = pd.Series(cells, index=table.index, dtype=object)
    return table.assign(**safe).to_csv(index=False)
