"""Places of the labels of points: near their points, and on no other label, point or leader.

No library does this here: of the 27 labels of our figure of rates, adjustText 1.4.0 leaves three
pairs on top of each other, and it needs SciPy.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# From the edge of a point to its label, in the unit of the boxes (points of type); each ring of
# places is tried before the next one.
RINGS = (1.0, 4.0, 7.0, 11.0, 15.0, 19.0, 24.0, 30.0, 37.0, 45.0, 55.0, 66.0, 80.0)
# A label that is farther away has a leader.
WITHOUT_LEADER = 4.0
# Directions in which a label may be, in the order in which they are tried: a label on the right is
# the easiest to read.
DEGREES = (
    0, 30, -30, 180, 150, -150, 90, -90, 15, -15, 45, -45, 60, -60, 75, -75, 165, -165, 135, -135,
    120, -120, 105, -105,
)  # fmt: skip
POINT_RADIUS = 2.5
# A label that is this near to a point seems to be its label.
NEAR = 6.0
# How often labels are placed anew.
ROUNDS = 40
# How bad a label is that covers something: worse than a leader through the whole figure.
COVERED = 1000.0

Place = tuple[float, float]
Size = tuple[float, float]
Line = tuple[Place, Place]


class Box(NamedTuple):
    """A rectangle whose sides are parallel to the axes."""

    left: float
    bottom: float
    right: float
    top: float

    def overlaps(self, other: "Box") -> bool:
        """Whether the rectangles have a part in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )

    def is_within(self, other: "Box") -> bool:
        """Whether no part of it is outside of the other one."""
        return (
            self.left >= other.left
            and self.bottom >= other.bottom
            and self.right <= other.right
            and self.top <= other.top
        )

    def meets(self, line: Line) -> bool:
        """Whether a line has a part in the rectangle: a side, or a diagonal where it is inside."""
        (x, y), _ = line
        if self.left < x < self.right and self.bottom < y < self.top:
            return True
        corners = ((self.left, self.bottom), (self.right, self.top))
        others = ((self.left, self.top), (self.right, self.bottom))
        return crosses(line, corners) or crosses(line, others)


class Label(NamedTuple):
    """The place of a label: its centre, and where the leader from its point ends, if it has one."""

    centre: Place
    leader_end: Place | None


class _Placed(NamedTuple):
    """A label, its box and leader, and how bad the place is: its distance from the point."""

    label: Label
    box: Box
    leader: Line | None
    badness: float


def place_labels(points: Sequence[Place], sizes: Sequence[Size], frame: Box) -> list[Label]:
    """The places of labels of these sizes (width and height), one for each point, within `frame`.

    A label for which nothing is free stands on the right of its point.
    """
    # Wide labels have fewer places, and come first.
    order = sorted(range(len(points)), key=lambda number: -sizes[number][0])
    best = placed = _place_in(order, points, sizes, frame)
    for _ in range(ROUNDS):
        # The worst label chooses first in the next round.
        worst = max(order, key=lambda number: placed[number].badness)
        order = [worst, *(number for number in order if number != worst)]
        placed = _place_in(order, points, sizes, frame)
        best = min(best, placed, key=_badness)
    return [label.label for label in best]


def _badness(placed: Sequence[_Placed]) -> float:
    return sum(label.badness for label in placed)


def _place_in(
    order: Sequence[int], points: Sequence[Place], sizes: Sequence[Size], frame: Box
) -> list[_Placed]:
    """The labels if they are placed in this order: each takes room from later ones."""
    placed: dict[int, _Placed] = {}
    for number in order:
        others = [point for point in points if point != points[number]]
        room = _Room(frame, others, list(placed.values()))
        placed[number] = _first_free(points[number], sizes[number], room)
    return [placed[number] for number in range(len(points))]


class _Room:
    """What is there beside a label: the frame, the other points, and the labels before it."""

    def __init__(self, frame: Box, others: Sequence[Place], placed: Sequence[_Placed]) -> None:
        self.frame = frame
        self.points = _all_around(others, 0)
        # No other point is nearer to the label than its own one, or as near as NEAR.
        self.neighbours = {gap: _all_around(others, min(gap, NEAR)) for gap in RINGS}
        self.labels = [label.box for label in placed]
        self.leaders = [label.leader for label in placed if label.leader]

    def has(self, box: Box, leader: Line | None, gap: float) -> bool:
        """Whether a label and its leader have room, so far from their point."""
        if not box.is_within(self.frame):
            return False
        if any(box.overlaps(other) for other in (*self.neighbours[gap], *self.labels)):
            return False
        if any(box.meets(other) for other in self.leaders):
            return False
        if leader is None:
            return True
        if any(other.meets(leader) for other in (*self.points, *self.labels)):
            return False
        return not any(crosses(leader, other) for other in self.leaders)


def _first_free(point: Place, size: Size, room: _Room) -> _Placed:
    """The first free place of a label."""
    for gap, centre in _places(point, size):
        box = _box(centre, size)
        end = _leader_end(point, box) if gap > WITHOUT_LEADER else None
        leader = (point, end) if end else None
        if room.has(box, leader, gap):
            return _Placed(Label(centre, end), box, leader, gap)
    centre = _centre(point, size, RINGS[0], 0)
    return _Placed(Label(centre, None), _box(centre, size), None, COVERED)


def _places(point: Place, size: Size) -> Iterator[tuple[float, Place]]:
    """The gaps and the centres of a label, from the best one on."""
    for gap in RINGS:
        for degrees in DEGREES:
            yield gap, _centre(point, size, gap, degrees)


def _centre(point: Place, size: Size, gap: float, degrees: float) -> Place:
    """The centre of a label whose nearest edge is this far from the edge of its point."""
    across, up = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    away = POINT_RADIUS + gap
    # Right above and below a point a label is in the middle, else beside it.
    side = 0.0 if abs(across) < 1e-9 else math.copysign(0.5, across)
    return (point[0] + across * away + side * size[0], point[1] + up * (away + size[1] / 2))


def _box(centre: Place, size: Size) -> Box:
    width, height = size
    x, y = centre
    return Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)


def _around(point: Place, gap: float) -> Box:
    """The box of a point, with a gap on each side."""
    side = 2 * (POINT_RADIUS + gap)
    return _box(point, (side, side))


def _all_around(points: Sequence[Place], gap: float) -> list[Box]:
    return [_around(point, gap) for point in points]


def _leader_end(point: Place, label: Box) -> Place:
    """The middle of the side that looks at the point; or, above and below it, the nearest place."""
    x = min(max(point[0], label.left), label.right)
    if x == point[0]:
        return x, min(max(point[1], label.bottom), label.top)
    return x, (label.bottom + label.top) / 2


def crosses(first: Line, second: Line) -> bool:
    """Whether two lines cross."""
    return _is_between(first, second) and _is_between(second, first)


def _is_between(line: Line, ends: Line) -> bool:
    """Whether the ends of another line are on two sides of the straight line through this one."""
    (x, y), (x2, y2) = line
    turns = [(x2 - x) * (end[1] - y) - (y2 - y) * (end[0] - x) for end in ends]
    return turns[0] * turns[1] < 0
