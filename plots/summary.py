"""The summary of all cases in one figure: the verdict of each, and how long its runs took."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from plots.style import COLOURS, finished_runs, new_figure, save, styled
from runner.bugs.case import Case
from runner.results.record import RunRecord
from runner.verdicts.verdict import verify

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_summary(
    runs: Sequence[tuple[Case, Sequence[RunRecord]]], directory: Path, kind: str
) -> Path:
    """Draw summary.<kind> from the runs behind each case's verdict, failed ones included;
    returns the file written.
    """
    with styled():
        figure = new_figure(2)
        figure.set_figheight(1.4 + 0.45 * len(runs))
        axes = figure.subplots()
        for position, (case, records) in enumerate(reversed(runs)):
            _draw_case(axes, position, case, records)
        axes.set_yticks(range(len(runs)), [case.id for case, _ in reversed(runs)])
        axes.set_ylim(-0.6, len(runs) - 0.4)
        seconds = [max(record.wall_s, 0.01) for _, records in runs for record in records]
        axes.set_xscale("log")
        low = math.floor(math.log10(min(seconds)))
        high = math.ceil(math.log10(max(seconds)))
        axes.set_xlim(10.0**low, 10.0 ** max(high, low + 1))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
        axes.set_xlabel("seconds of a run, one dot a seed")
        axes.grid(axis="y", visible=False)
        handles, labels = axes.get_legend_handles_labels()
        unique = dict(zip(labels, handles, strict=True))
        figure.legend(unique.values(), unique.keys(), loc="outside upper right", ncols=2)
        return save(figure, directory / f"summary.{kind}")


def _draw_case(axes: "Axes", position: int, case: Case, records: Sequence[RunRecord]) -> None:
    finished = finished_runs(records)
    for offset, (variant, colour) in zip((0.12, -0.12), COLOURS.items(), strict=True):
        seconds = [record.wall_s for record in finished[variant]]
        heights = [position + offset] * len(seconds)
        axes.plot(
            seconds,
            heights,
            "o",
            color=colour,
            markersize=5,
            alpha=0.8,
            label=variant,
        )
    verdict = verify(case, records)
    benign = " (benign)" if case.benign else ""
    axes.annotate(
        f"{verdict.outcome or 'no verdict'}{benign}",
        (1.01, position),
        xycoords=("axes fraction", "data"),
        va="center",
        annotation_clip=False,
    )
