"""Scores as a table for the terminal, and as JSON and CSV files."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.scoring.scores import label
from runner.errors import ResultsError
from runner.files.atomic import finite, write_json

if TYPE_CHECKING:
    import pandas as pd

HEADING = [
    "DETECTOR", "DETECTED", "95 %", "PAIRED", "FALSE ON FIXED", "ON CONTROLS", "DELAY", "SITE", "BENIGN", "OVERHEAD",
    "DID NOT RUN",
]  # fmt: skip
FAILURES = ("unsupported", "tool_error", "timeout", "peeked")


def rows(scores: "pd.DataFrame") -> list[list[str]]:
    """The heading and a line for each row of scores."""
    return [HEADING, *(_line(row) for _, row in scores.iterrows())]


def _line(row: "pd.Series[Any]") -> list[str]:
    failed = [f"{row[name]} {name.replace('_', ' ')}" for name in FAILURES if row[name]]
    delay = "-" if _absent(row["delay_median"]) else f"{row['delay_median']:g} (max {row['delay_max']:g})"
    return [
        label(row),
        f"{row['detected']}/{row['detected_n']}",
        interval(row["detected_low"], row["detected_high"]),
        f"{row['paired']}/{row['paired_n']}",
        f"{row['false_fixed']}/{row['false_fixed_n']}",
        f"{row['false_controls']}/{row['false_controls_n']}",
        delay,
        "/".join(str(row[f"diagnosis_{name}"]) for name in ("exact", "near", "no")) if row["detected"] else "-",
        f"{row['benign_paired']}/{row['benign_n']}" if row["benign_n"] else "-",
        "-" if _absent(row["overhead"]) else f"{row['overhead']:.2f}",
        ", ".join(failed) or "-",
    ]


def interval(low: Any, high: Any) -> str:
    """An interval of a rate, in percent."""
    return f"{_percent(low)}-{_percent(high)}"


def _percent(value: Any) -> str:
    return "?" if _absent(value) else f"{100 * value:.0f}"


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def write(scores: "pd.DataFrame", outcomes: "pd.DataFrame", directory: Path) -> list[Path]:
    """Write scores.json, scores.csv and outcomes.csv (a row for each program and rule); raises ResultsError."""
    paths = [directory / name for name in ("scores.json", "scores.csv", "outcomes.csv")]
    write_json(paths[0], finite(json.loads(scores.to_json(orient="records"))))
    return [paths[0], write_table(scores, paths[1]), write_table(outcomes, paths[2])]


def write_table(table: "pd.DataFrame", path: Path) -> Path:
    """Write a table as CSV into a folder that exists; raises ResultsError."""
    try:
        table.to_csv(path, index=False)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error.strerror}") from error
    return path
