"""The summary of a study as Markdown, which is made of its table alone."""

import math
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import TypeVar

from runner.plurals import counted
from runner.studies.analysis import ALL, BestPair, explained, pairs, row_name, row_names, shares
from runner.studies.cells import LABELS, Cell, best, by_point, tuned
from runner.studies.definition import Study
from runner.studies.running import Results

T = TypeVar("T")


def summary(results: Results) -> str:
    """The summary: what was run, then what it says, a table each."""
    study, cells = results.study, results.cells
    is_compared = "buggy" in study.variants
    body = _variant_lines(study, cells) if is_compared else _single_lines(study, cells)
    return "\n".join([*_head(results), *body, ""])


def _head(results: Results) -> list[str]:
    study, rows = results.study, results.rows
    runs = {(row.point, row.variant, row.seed) for row in rows}
    seeds = sorted({row.seed for row in rows})
    trainings = sum(row.setting is not None for row in rows)
    environments = {f"{row.run['environment']} (torch {row.run['torch']})" for row in rows}
    where = " and ".join(sorted(environments))
    dates = sorted({row.run["date"] for row in rows})
    when = " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "never"
    return [
        f"# {study.id}: {study.written.title}",
        "",
        f"Made by `trainbugs study {study.id} --update-expected`; `--from expected` makes it again "
        "from the table.",
        "",
        study.written.question,
        "",
        f"{results.points} of {len(study.points)} points ({', '.join(study.written.axes)}), seeds "
        f"{', '.join(map(str, seeds))}: {counted(len(runs), 'run')} with "
        f"{trainings} trainings, in {where or 'no environment'}, {when}. "
        f"INVALID runs, which count in no number below: {results.invalid}.",
    ]


def _variant_lines(study: Study, cells: Sequence[Cell]) -> list[str]:
    comparison = study.written.comparison
    best_pairs = pairs(cells)
    near = tuned(cells, comparison)
    return [
        "",
        f"A cell is a point with one {study.written.setting}. *Benign*: the means over the seeds "
        f"of {comparison.metric} differ by at most {comparison.tolerance:g}; *unstable*: the seeds "
        f"of the buggy program differ by more than {comparison.unstable:g}, or a number is not "
        "finite; *undecided*: those of the fixed one do.",
        "",
        "All cells:",
        "",
        *_shares(study, cells),
        "",
        "Cells in which the fixed program is as good as at its best setting, within the tolerance:",
        "",
        *_shares(study, near),
        "",
        f"Each program at its own best {study.written.setting}. *Cured*: the buggy one comes "
        "within the tolerance of the fixed one, or above it. Gains are buggy minus fixed in the "
        "direction of better.",
        "",
        *_pairs(study, best_pairs, comparison.tolerance),
        "",
        "Share of the variance of the gain that is explained by the means of groups (adjusted R "
        "squared):",
        "",
        "| groups by | share |",
        "|---|---|",
        *(f"| {' × '.join(item.factors)} | {item.share:.2f} |" for item in explained(study, cells)),
    ]


def _shares(study: Study, cells: Sequence[Cell]) -> list[str]:
    lines = [
        f"| {study.written.shown.rows} | cells | {' | '.join(LABELS)} |",
        "|---" * (len(LABELS) + 2) + "|",
    ]
    for row in shares(study, cells) if cells else ():
        parts = (f"{row.counts[label] / row.total:.0%}" for label in LABELS)
        lines.append(f"| {row.name} | {row.total} | {' | '.join(parts)} |")
    return lines


def _pairs(study: Study, pairs: Sequence[BestPair], tolerance: float) -> list[str]:
    setting = study.written.setting
    lines = [
        f"| {study.written.shown.rows} | points | cured | gain: median | worst | best | ratio of "
        f"{setting}: median | at an end of the range |",
        "|---" * 8 + "|",
    ]

    def line(name: str, group: Sequence[BestPair]) -> str:
        gains = [pair.gain for pair in group]
        cured = sum(gain >= -tolerance * (1 + 1e-9) for gain in gains)
        ratios = [pair.ratio for pair in group if math.isfinite(pair.ratio)]
        ratio, edge = f"{median(ratios):.2g}" if ratios else "-", sum(pair.edge for pair in group)
        numbers = f"{median(gains):+.3f} | {min(gains):+.3f} | {max(gains):+.3f} | {ratio} | {edge}"
        return f"| {name} | {len(group)} | {cured} | {numbers} |"

    return [*lines, *_by_row(study, pairs, lambda pair: pair.fixed, line)]


def _single_lines(study: Study, cells: Sequence[Cell]) -> list[str]:
    setting = study.written.setting
    lines = [
        "",
        f"The {setting} with which the fixed program does best at each point:",
        "",
        f"| {study.written.shown.rows} | points | least | median | largest | at an end of the "
        "range |",
        "|---" * 6 + "|",
    ]
    tops: list[tuple[list[Cell], Cell]] = []
    for row in by_point(cells).values():
        top = best(row, "fixed")
        if top:
            tops.append((row, top))

    def line(name: str, group: Sequence[tuple[list[Cell], Cell]]) -> str:
        values = [top.setting for _, top in group]
        edge = sum(top in (row[0], row[-1]) for row, top in group)
        statistics = f"{min(values):g} | {median(values):g} | {max(values):g} | {edge}"
        return f"| {name} | {len(group)} | {statistics} |"

    return [*lines, *_by_row(study, tops, lambda item: item[1], line)]


def _by_row(
    study: Study,
    items: Sequence[T],
    cell: Callable[[T], Cell],
    line: Callable[[str, Sequence[T]], str],
) -> Iterator[str]:
    names = row_names(study, map(cell, items))
    for name in names:
        yield line(name, [item for item in items if row_name(study, cell(item)) == name])
    if names:
        yield line(ALL, items)
