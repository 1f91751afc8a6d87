"""The tables of docs/impact.md that the summary of the study does not have,
made of its committed table.

.venv/bin/python benchmarks/impact.py
"""

import math
import statistics
from collections import Counter, defaultdict
from pathlib import Path

from runner.bugs.catalog import Catalog
from runner.studies import definition, table
from runner.studies.analysis import pairs, row_name, row_names
from runner.studies.cells import (
    BENIGN,
    BETTER,
    LABELS,
    UNDECIDED,
    UNSTABLE,
    WORSE,
    Cell,
    by_point,
    cells,
    tuned,
)

ROOT = Path(__file__).resolve().parents[1]
# The cross entropy of somebody who guesses: nats.
CLASSES = {"wine": 3, "breast_cancer": 2, "digits": 10, "majority": 4, "text": 6}
NOT_FINITE, AS_GUESSING, LEARNS = "not finite", "no better than guessing", "looks like learning"
ALL = "all"


def markdown(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def percent(part, whole):
    return f"{part / whole:.0%}" if whole else "–"


def by_rate(study, cells):
    """Labels by the learning rate, as a multiple of the fixed program's best one."""
    near = set(map(id, tuned(cells, study.written.comparison)))
    grouped = defaultdict(list)
    for cell in cells:
        grouped[cell.place].append(cell)
    rows = []
    for place, group in sorted(grouped.items()):
        counts = Counter(cell.label for cell in group)
        near_count = sum(id(cell) in near for cell in group)
        rows.append(
            [
                f"{place:g}",
                len(group),
                percent(near_count, len(group)),
                *(percent(counts[x], len(group)) for x in LABELS),
            ]
        )
    return markdown(["rate / best", "cells", "fixed program as good as at its best", *LABELS], rows)


def looks(cell, rows):
    """What the training loss at the end says of a cell: the worst of its seeds decides."""
    losses = [row.metrics["train_loss"] for row in rows]
    if not all(math.isfinite(number) for row in rows for number in row.metrics.values()):
        return NOT_FINITE
    dataset = cell.point.values[0]
    return AS_GUESSING if max(losses) >= math.log(CLASSES[dataset]) else LEARNS


def silence(study, cells, rows):
    """Of the harmed cells at settings where a user would train:
    what can be seen in the training loss alone.
    """
    buggy = defaultdict(list)
    for row in rows:
        if row.variant == "buggy" and row.ok:
            buggy[row.point, row.setting].append(row)
    harmed = [
        cell for cell in tuned(cells, study.written.comparison) if cell.label in (WORSE, UNSTABLE)
    ]
    silent = {id(cell): looks(cell, buggy[cell.point, cell.setting]) for cell in harmed}
    lines = []
    for name in (*row_names(study, cells), ALL):
        cells_of_row = [cell for cell in harmed if name in (ALL, row_name(study, cell))]
        counts = Counter(silent[id(cell)] for cell in cells_of_row)
        lines.append(
            [
                name,
                len(cells_of_row),
                *(
                    percent(counts[word], len(cells_of_row))
                    for word in (NOT_FINITE, AS_GUESSING, LEARNS)
                ),
            ]
        )
    return markdown(["optimizer", "harmed cells", NOT_FINITE, AS_GUESSING, LEARNS], lines)


def cure(study, cells, index):
    """Points that another rate cures, by the value of one parameter."""
    tolerance = study.written.comparison.tolerance * (1 + 1e-9)
    harmed = harmed_points(cells)
    grouped = defaultdict(list)
    for pair in pairs(cells):
        grouped[pair.point.values[index]].append(pair)
    lines = []
    for name, group in grouped.items():
        cured = [pair for pair in group if pair.gain >= -tolerance]
        of_harmed = [pair for pair in group if pair.point in harmed]
        cured_of_harmed = sum(pair in of_harmed for pair in cured)
        ratio = statistics.median(pair.ratio for pair in group)
        gain = statistics.median(pair.gain for pair in group)
        lines.append(
            [
                name,
                len(group),
                len(cured),
                f"{cured_of_harmed} of {len(of_harmed)}",
                f"{gain:+.3f}",
                f"{ratio:.2g}",
                sum(pair.edge for pair in group),
            ]
        )
    head = [
        study.written.axes[index],
        "points",
        "cured",
        "of the harmed",
        "median gain",
        "median ratio of rates",
        "at an end",
    ]
    return markdown(head, sorted(lines))


def harmed_points(cells):
    """The points where the bug does harm at the fixed program's best rate."""
    return {
        point for point, cell in at_the_best_rate(cells).items() if cell.label in (WORSE, UNSTABLE)
    }


def at_the_best_rate(cells):
    """Of each point the cell at the best rate of the fixed program, which other seeds found."""
    return {
        point: min(cells_of_row, key=lambda cell: abs(math.log(cell.place)))
        for point, cells_of_row in by_point(cells).items()
    }


def cures_of_harm(study, cells):
    """Of the harmed points, by optimizer: how many another rate cures, and how many a lower one."""
    harmed = harmed_points(cells)
    tolerance = study.written.comparison.tolerance * (1 + 1e-9)
    lines = []
    for name in (*row_names(study, cells), ALL):
        points = [
            pair
            for pair in pairs(cells)
            if pair.point in harmed and name in (ALL, row_name(study, pair.buggy))
        ]
        cured = [pair for pair in points if pair.gain >= -tolerance]
        lower = sum(pair.buggy.setting < pair.fixed.setting for pair in cured)
        lines.append([name, len(points), len(cured), lower])
    return markdown(["optimizer", "harmed points", "cured", "by a lower rate"], lines)


def untouched(study, cells):
    """Points where the bug does no harm at the fixed program's best rate:
    benign or better there.
    """
    lines = []
    best = at_the_best_rate(cells)
    for name in (*row_names(study, cells), ALL):
        cells_of_row = [cell for cell in best.values() if name in (ALL, row_name(study, cell))]
        counts = Counter(cell.label for cell in cells_of_row)
        words = (BENIGN, WORSE, UNSTABLE, BETTER, UNDECIDED)
        gain = statistics.median(cell.gain for cell in cells_of_row if math.isfinite(cell.gain))
        lines.append([name, len(cells_of_row), *(counts[word] for word in words), f"{gain:+.3f}"])
    return markdown(
        ["optimizer", "points", BENIGN, WORSE, UNSTABLE, BETTER, UNDECIDED, "median gain"], lines
    )


def tables() -> dict[str, str]:
    """Title → table, as Markdown."""
    study = definition.load(Catalog(ROOT).bug("SO-60335387"), "impact")
    rows = table.read(study)
    cells_of_study: list[Cell] = cells(study, rows)
    axes = study.written.axes
    return {
        "At the best rate of the fixed program": untouched(study, cells_of_study),
        "By learning rate": by_rate(study, cells_of_study),
        "Cures of harm": cures_of_harm(study, cells_of_study),
        "In the training loss": silence(study, cells_of_study, rows),
        **{
            f"Cured, by {axes[index]}": cure(study, cells_of_study, index)
            for index in range(len(axes))
            if index < 2
        },
    }


if __name__ == "__main__":
    for title, text in tables().items():
        print(f"{title}\n\n{text}")
