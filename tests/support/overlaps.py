"""Texts of a figure that cover each other, or leave it."""

from itertools import combinations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

# Boxes of texts have some air: this much of a pixel may be common to two.
SLACK = 1.5


def overlapping_texts(figure: Figure) -> list[str]:
    """A line for each two texts of a figure that overlap, and for each one that is cut off."""
    FigureCanvasAgg(figure).draw()
    boxes = _boxes(figure)
    whole = figure.bbox.padded(SLACK)
    problems = [f"{text!r} is cut off" for text, box in boxes if not _is_within(whole, box)]
    for (first, box), (second, other) in combinations(boxes, 2):
        if _share_room(box, other):
            problems.append(f"{first!r} covers {second!r}")
    return problems


def _boxes(figure: Figure) -> list[tuple[str, Bbox]]:
    """Each text that is seen, with its place in pixels."""
    hidden = _unused_tick_labels(figure)
    boxes = []
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden:
            boxes.append((text.get_text(), Bbox(text.get_window_extent().get_points())))
    return boxes


def _unused_tick_labels(figure: Figure) -> set[int]:
    """The labels of ticks that an axis holds and does not draw: they are out of its view."""
    unused: set[int] = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            ticks = [*axis.majorTicks, *axis.minorTicks]
            # There is no public way to learn which ticks are drawn.
            drawn = {id(tick) for tick in axis._update_ticks()}  # type: ignore[union-attr]
            for tick in ticks:
                if id(tick) not in drawn:
                    unused |= {id(tick.label1), id(tick.label2)}
    return unused


def _is_within(whole: Bbox, box: Bbox) -> bool:
    return whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1


def _share_room(box: Bbox, other: Bbox) -> bool:
    width = min(box.x1, other.x1) - max(box.x0, other.x0)
    height = min(box.y1, other.y1) - max(box.y0, other.y0)
    return width > SLACK and height > SLACK
