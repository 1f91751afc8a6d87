"""Scores as tables to be read, in several formats, and as JSON and CSV files."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.model import DIAGNOSES
from evaluation.scoring.chosen import without_rejected
from evaluation.scoring.outcomes import FAILURES, PROGRAM, ROW, label
from evaluation.scoring.scores import CLEAN_RUNS, MORE, REFERENCE_FREE
from runner.files.atomic import finite, write_json, write_text
from runner.files.cells import cell
from runner.plurals import counted

if TYPE_CHECKING:
    import pandas as pd

# A delay is stamped by the launcher, which lives in the process of the monitor.
ASIDE_TITLE = "Work-arounds, bugs that were known, all rules, and whether chance does as well"
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
    """The heading and a line for each row of scores: hits, false alarms,
    and which rules are chosen.
    """
    return _rows(scores, {**RATES, **CHOICE})


def group_tables(scores: "pd.DataFrame") -> list[ScoreTable]:
    """The first table, apart for rows that were given as much: detectors without clean runs, with
    clean runs, with more; then what is set aside. Rules that were not chosen are left out.
    """
    shown = without_rejected(scores)
    tables = []
    for group, title in GROUP_TITLES.items():
        part = shown[shown.group == group]
        if len(part):
            tables.append(ScoreTable(title, _rows(part, RATES)))
    return [*tables, ScoreTable(ASIDE_TITLE, _rows(shown, ASIDE))]


def is_grouped(scores: "pd.DataFrame") -> bool:
    """Whether so many rows are shown that the first table is all that you get."""
    return len(without_rejected(scores)) > MOST_ROWS


def tables(scores: "pd.DataFrame", compared: "pd.DataFrame") -> list[ScoreTable]:
    """The tables of scores and their comparisons that say something.

    With many rows you get the rules alone that are their detectors' own setting; where these are
    many, too, the first table alone, by what the detectors were given.
    """
    if is_grouped(scores):
        return group_tables(scores)
    if len(scores) > MOST_ROWS:
        scores = without_rejected(scores)
    labels = {label(row) for _, row in scores.iterrows()}
    first = ScoreTable("Cases found, and programs accused that are right", rows(scores))
    is_shown = compared["first"].isin(labels) & compared.second.isin(labels)
    paired = compared[is_shown & (compared.measure == "paired")]
    pair_rows = _pairs(paired) if len(paired) <= MOST_PAIRS else [[]]
    further = [
        ScoreTable("All cases, those of known bugs too", _rows(scores, ALL_CASES)),
        ScoreTable(ASIDE_TITLE, _rows(scores, ASIDE)),
        ScoreTable(WHEN, _rows(scores, DETAILS)),
        ScoreTable("What the tools say of themselves", _rows(scores, CLAIMS)),
        ScoreTable(
            "PAIRED, by the twin, by when the bug was added, and with families alike",
            _rows(scores, KINDS),
        ),
        ScoreTable("PAIRED, on the programs that both met", pair_rows),
    ]
    return [first, *(table for table in further if _says_something(table))]


def _says_something(table: ScoreTable) -> bool:
    """Whether it has lines, and columns besides the names."""
    return len(table.rows) > 1 and len(table.rows[0]) > 1


def _rows(scores: "pd.DataFrame", columns: dict[str, Callable[[Row], str]]) -> Rows:
    """The heading and a line for each row; columns without a value are dropped,
    except those of RATES.
    """
    labels = [label(row) for _, row in scores.iterrows()]
    shown = [["DETECTOR", *labels]]
    for name, show in columns.items():
        cells = [show(row) for _, row in scores.iterrows()]
        if name in RATES or any(cell != "-" for cell in cells):
            shown.append([name, *cells])
    return [list(line) for line in zip(*shown, strict=True)]


def _pairs(compared: "pd.DataFrame") -> Rows:
    heading = ["FIRST", "SECOND", "N", "ALONE", "FAMILIES", "P"]
    lines = []
    for _, row in compared.iterrows():
        alone = f"{row.only_first}:{row.only_second}"
        bugs = f"{row.bugs_first}:{row.bugs_second}"
        names = [row["first"], row.second]
        lines.append([*names, str(row.programs), alone, bugs, f"{row.p_bugs:.2g}"])
    return [heading, *lines]


def share(name: str, of: str | None = None) -> Callable[[Row], str]:
    """A count and its total, as `3/10`; the total is the column `of`, by default `{name}_n`."""
    n = of or f"{name}_n"
    return lambda row: f"{row[name]}/{row[n]}" if row[n] else "-"


def rate(name: str) -> Callable[[Row], str]:
    """A count and its total, and the interval in percent."""
    low, high, count = f"{name}_low", f"{name}_high", share(name)

    def show(row: Row) -> str:
        if _is_absent(row[low]):
            return count(row)
        low_percent, high_percent = 100 * row[low], 100 * row[high]
        return f"{count(row)} ({low_percent:.0f}-{high_percent:.0f})"

    return show


def _delay(name: str) -> Callable[[Row], str]:
    median, most = f"{name}_median", f"{name}_max"

    def show(row: Row) -> str:
        if _is_absent(row[median]):
            return "-"
        return f"{row[median]:g} (max {row[most]:g})"

    return show


def _ratio(name: str) -> Callable[[Row], str]:
    return lambda row: "-" if _is_absent(row[name]) else f"{row[name]:.2f}"


def _percent(name: str) -> Callable[[Row], str]:
    return lambda row: "-" if _is_absent(row[name]) else f"{100 * row[name]:.0f} %"


def _range(row: Row) -> str:
    """PAIRED of all cases; of several rules the fewest and the most."""
    least, most = row["paired_least"], row["paired_most"]
    counts = str(least) if least == most else f"{least}-{most}"
    return f"{counts}/{row['paired_n']}" if row["paired_n"] else "-"


def _apart(row: Row) -> str:
    """Cases with an alarm on the buggy program alone, and on the fixed one alone; the exact p."""
    p = row["evidence_p"]
    shown_p = "<1e-6" if p < 1e-6 else f"{p:.1g}"
    return f"{row['only_buggy']}:{row['only_fixed']} ({shown_p})"


def _site(row: Row) -> str:
    if not row["detected"]:
        return "-"
    counts = [str(row[f"diagnosis_{name}"]) for name in DIAGNOSES]
    return "/".join(counts)


def _failed(row: Row) -> str:
    counts = []
    for name in FAILURES:
        if row[name]:
            failure = name.replace("_", " ")
            counts.append(f"{row[name]} {failure}")
    return ", ".join(counts) or "-"


def _is_absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


GROUP_TITLES = {
    REFERENCE_FREE: "Detectors that need no clean runs",
    CLEAN_RUNS: "Detectors that learn from clean runs",
    MORE: "Detectors that see more, and negative controls",
}
RATES: dict[str, Callable[[Row], str]] = {
    "REAL FIX": rate("unseen_mended"),
    "UPSTREAM": share("unseen_upstream"),
    "ON FIXED": share("false_fixed"),
    "ON CONTROLS": share("false_controls"),
}
ASIDE: dict[str, Callable[[Row], str]] = {
    "WORK-AROUND": share("unseen_workaround"),
    "KNOWN": share("paired_known"),
    "RULES": _range,
    "APART": _apart,
}
ALL_CASES: dict[str, Callable[[Row], str]] = {
    "DETECTED": rate("detected"),
    "PAIRED": rate("paired"),
    "PAIRED AND SITE": share("paired_site"),
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
    "RELEASED FIX": share("paired_released"),
    "PROPOSED FIX": share("paired_proposed"),
    "KNOWN, ON FIXED": share("false_known"),
    "NEW, ON FIXED": share("false_new"),
    "BY FAMILY": _percent("paired_by_family"),
    "ON FIXED, BY FAMILY": _percent("false_fixed_by_family"),
}


def unusual_rows(outcomes: "pd.DataFrame") -> dict[str, str]:
    """The rows that met other programs than most rows did, controls aside:
    do not compare their rates.

    The text says how many programs the row met, of all programs that any row met. A buggy program
    and its fixed twin count once.
    """
    on_bugs = outcomes[outcomes.kind.isin(("buggy", "fixed"))]
    programs_by_row: dict[str, frozenset[Any]] = {}
    for _, group in on_bugs.groupby(ROW):
        programs = group[PROGRAM].itertuples(index=False)
        programs_by_row[label(group.iloc[0])] = frozenset(programs)
    every_program = frozenset[Any]().union(*programs_by_row.values())
    usual = Counter(programs_by_row.values()).most_common(1)
    unusual = {}
    for name, met_programs in programs_by_row.items():
        if met_programs != usual[0][0]:
            unusual[name] = f"{len(met_programs)} of {len(every_program)}"
    return unusual


def notes(outcomes: "pd.DataFrame", scores: "pd.DataFrame") -> list[str]:
    """The notes below the tables: which rows met other programs,
    or have rules of an unknown date.
    """
    lines = []
    unusual = [f"{name} ({programs} programs)" for name, programs in unusual_rows(outcomes).items()]
    if unusual:
        lines.append(
            f"{', '.join(unusual)}: met other programs than the rest; to compare rows, add --common"
        )
    rejected = int((scores.chosen == False).sum())  # noqa: E712
    if rejected and len(scores) > MOST_ROWS:
        lines.append(
            f"scores.csv also has {counted(rejected, 'rule')} by which no detector is meant to be "
            "used"
        )
    undated = sorted(set(scores.detector[scores.rule_since.isna()]))
    if undated:
        is_part = len(undated) < scores.detector.nunique()
        rows_text = ", ".join(undated) if is_part else "all rows"
        lines.append(
            f"{rows_text}: the records are older than the note of which rules were declared before "
            "them"
        )
    return lines


def markdown(table: ScoreTable) -> str:
    """A table in Markdown, under its title."""
    heading, *lines = table.rows
    rule = [":--", *["--:"] * (len(heading) - 1)]
    shown = [_markdown_line(line) for line in (heading, rule, *lines)]
    return "\n".join([f"**{table.title}**", "", *shown])


def _markdown_line(cells: list[str]) -> str:
    escaped = [cell.replace("|", "\\|") for cell in cells]
    return f"| {' | '.join(escaped)} |"


def latex(table: ScoreTable) -> str:
    """A table in LaTeX, by the package booktabs; its caption is the title, its label made of it."""
    heading, *lines = map(_latex_line, table.rows)
    columns = "l" + "r" * (len(table.rows[0]) - 1)
    title = table.title.translate(SPECIAL)
    words = re.findall(r"[a-z0-9]+", table.title.lower())
    begin = [
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{title}}}",
        f"\\label{{tab:{'-'.join(words)}}}",
        f"\\begin{{tabular}}{{{columns}}}",
        "\\toprule",
        heading,
        "\\midrule",
    ]
    end = ["\\bottomrule", "\\end{tabular}", "\\end{table}"]
    return "\n".join([*begin, *lines, *end])


def _latex_line(cells: list[str]) -> str:
    escaped = [cell.translate(SPECIAL) for cell in cells]
    return " & ".join(escaped) + r" \\"


def write(
    scores: "pd.DataFrame",
    outcomes: "pd.DataFrame | None",
    compared: "pd.DataFrame",
    directory: Path,
) -> list[Path]:
    """Write scores.json, scores.csv, outcomes.csv and comparisons.csv; returns their paths.

    outcomes.csv has a row for each program and rule; without `outcomes` it is not written. Raises
    ResultsError.
    """
    written = [directory / "scores.json"]
    rows = json.loads(scores.to_json(orient="records"))
    write_json(written[0], finite(rows))
    tables = {"scores.csv": scores, "outcomes.csv": outcomes, "comparisons.csv": compared}
    for name, table in tables.items():
        if table is not None:
            written.append(write_table(table, directory / name))
    return written


def write_table(table: "pd.DataFrame", path: Path) -> Path:
    """Write a table as CSV; raises ResultsError."""
    write_text(path, as_csv(table))
    return path


def as_csv(table: "pd.DataFrame") -> str:
    """A table as CSV, in which no text is a formula."""
    import pandas as pd

    safe = {}
    for name in table.columns:
        values = table[name].tolist()
        cells = [cell(value) for value in values]
        if any(new is not value for new, value in zip(cells, values, strict=True)):
            safe[name] = pd.Series(cells, index=table.index, dtype=object)
    return table.assign(**safe).to_csv(index=False)
