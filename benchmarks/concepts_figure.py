"""Draws the picture of the page on concepts.

python concepts_figure.py OUT.png
"""

import sys
from dataclasses import dataclass

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

BLUE, ORANGE, GREY, GREEN = "#d9e8f5", "#fbe0cc", "#eceff2", "#dff0e0"


@dataclass(frozen=True)
class Box:
    """A box with a title and a line below it; x and y are its centre."""

    x: float
    y: float
    title: str
    text: str
    colour: str
    width: float = 3.35
    height: float = 1.0


BUG = Box(5.65, 6.45, "bug", "a public report, one folder", GREY)
BUGGY = Box(3.8, 4.3, "buggy program", "has the fault", ORANGE)
FIXED = Box(7.5, 4.3, "fixed twin", "differs by the fix alone", BLUE)
CONTROL = Box(11.2, 4.3, "controls", "correct, look suspicious", BLUE)
ENVIRONMENT = Box(7.5, 4.6, "environment", "pinned Python and torch", GREY, 11.4, 2.1)
ORACLE = Box(3.8, 2.2, "expectations", "judge what runs recorded", GREEN)
DETECTOR = Box(8.6, 2.2, "detector", "sees one program at a time", GREEN)
VERDICT = Box(3.8, 0.5, "verdict", "REPRODUCED or not", GREY)
SCORE = Box(8.6, 0.5, "score", "an alarm on buggy alone", GREY)
BOXES = (BUG, BUGGY, FIXED, CONTROL, ORACLE, DETECTOR, VERDICT, SCORE)
ARROWS = (
    (BUG, BUGGY), (BUG, FIXED), (BUGGY, ORACLE), (FIXED, ORACLE), (BUGGY, DETECTOR),
    (FIXED, DETECTOR), (CONTROL, DETECTOR), (ORACLE, VERDICT), (DETECTOR, SCORE),
)  # fmt: skip


def draw_box(axes: Axes, box: Box) -> None:
    corner = (box.x - box.width / 2, box.y - box.height / 2)
    style = "round,pad=0.02,rounding_size=0.12"
    patch = FancyBboxPatch(
        corner, box.width, box.height, style, facecolor=box.colour, edgecolor="#59626d", lw=0.8
    )
    axes.add_patch(patch)
    axes.text(box.x, box.y + 0.16, box.title, ha="center", va="center", weight="bold", size=9)
    axes.text(box.x, box.y - 0.2, box.text, ha="center", va="center", size=6.6)


def draw_frame(axes: Axes, frame: Box) -> None:
    """A dashed frame around other boxes, with its words in the corner above the last of them."""
    corner = (frame.x - frame.width / 2, frame.y - frame.height / 2)
    style = "round,pad=0.02,rounding_size=0.12"
    patch = FancyBboxPatch(
        corner, frame.width, frame.height, style, facecolor="none", edgecolor="#59626d", ls="--"
    )
    axes.add_patch(patch)
    top = frame.y + frame.height / 2
    axes.text(CONTROL.x, top - 0.25, frame.title, ha="center", va="center", weight="bold", size=9)
    axes.text(CONTROL.x, top - 0.53, frame.text, ha="center", va="center", size=6.6)


def draw_arrow(axes: Axes, start: Box, end: Box) -> None:
    begin, tip = (start.x, start.y - start.height / 2), (end.x, end.y + end.height / 2)
    axes.add_patch(
        FancyArrowPatch(begin, tip, arrowstyle="-|>", mutation_scale=9, color="#59626d", lw=0.9)
    )


def main() -> None:
    figure, axes = plt.subplots(figsize=(7.6, 4.2))
    for box in BOXES:
        draw_box(axes, box)
    for start, end in ARROWS:
        draw_arrow(axes, start, end)
    draw_frame(axes, ENVIRONMENT)
    axes.set_xlim(1.6, 13.4)
    axes.set_ylim(-0.1, 7.05)
    axes.set_axis_off()
    figure.savefig(sys.argv[1], dpi=160, bbox_inches="tight", pad_inches=0.05)


if __name__ == "__main__":
    main()
