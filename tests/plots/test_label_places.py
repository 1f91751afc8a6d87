"""Labels of points: near their points, and on nothing else."""

from itertools import combinations

import pytest

from plots.label_places import POINT_RADIUS, Box, crosses, place_labels

FRAME = Box(0, 0, 200, 200)
WIDE, NARROW = (50, 8), (8, 8)


def box_of(label, size):
    (x, y), (width, height) = label.centre, size
    return Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)


def around(point):
    return Box(
        *(value - POINT_RADIUS for value in point), *(value + POINT_RADIUS for value in point)
    )


@pytest.mark.parametrize(
    "points",
    [
        [(100, 100)],
        [(2, 2), (198, 198), (2, 198), (198, 2)],
        [(70 + 10 * number, 100) for number in range(5)],
        [(9 * (number % 3), 8 * number) for number in range(7)],
        [(6 * (number % 2), 60 + 7 * number) for number in range(8)],
    ],
    ids=["alone", "corners", "row", "corner", "column"],
)
@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_no_label_covers_a_label_a_point_or_a_leader(points, size):
    labels = place_labels(points, [size] * len(points), FRAME)
    boxes = [box_of(label, size) for label in labels]
    assert all(box.is_within(FRAME) for box in boxes)
    assert not any(box.overlaps(other) for box, other in combinations(boxes, 2))
    assert not any(box.overlaps(around(point)) for box in boxes for point in points)
    pairs = zip(points, labels, strict=True)
    leaders = [(point, label.leader_end) for point, label in pairs if label.leader_end]
    assert not any(crosses(line, other) for line, other in combinations(leaders, 2))
    assert not any(box.meets(leader) for box in boxes for leader in leaders)


def test_a_label_alone_stands_on_the_right_of_its_point():
    (label,) = place_labels([(100, 100)], [WIDE], FRAME)
    assert label.leader_end is None
    assert label.centre[0] > 100 + WIDE[0] / 2
    assert label.centre[1] == 100


def test_a_label_that_finds_no_room_is_there_all_the_same():
    labels = place_labels([(5, 5), (6, 6)], [(300, 8)] * 2, FRAME)
    assert [label.leader_end for label in labels] == [None, None]


def test_the_place_of_a_label_does_not_seem_to_be_of_another_point():
    """With a leader it is not as near to another point as a label without a leader."""
    points = [(0, 100 + 7 * number) for number in range(6)]
    labels = place_labels(points, [WIDE] * len(points), FRAME)
    assert any(label.leader_end for label in labels)
    for point, label in zip(points, labels, strict=True):
        if label.leader_end:
            box = box_of(label, WIDE)
            near = Box(box.left - 5, box.bottom - 5, box.right + 5, box.top + 5)
            others = [other for other in points if other != point]
            assert not any(near.overlaps(around(other)) for other in others)
