"""Colours differ with each kind of colour vision, and on grey paper."""

from itertools import combinations

import pytest
from support.colour_vision import VISION, distance, grey_distance, lightness

from plots.style import COLOURS, OUTCOMES

# An eye just notices a distance of 2.3. This is nearly thrice as much: cells do not touch.
LEAST = 6.5
# Black text has a contrast of 4.5 to 1 on it, as WCAG 2 asks for.
LIGHT_ENOUGH = 49.5


def alike(colours, least):
    """A line for each two colours that somebody could take for each other."""
    lines = []
    for first, second in combinations(colours, 2):
        pair = colours[first], colours[second]
        distances = {vision: distance(*pair, vision) for vision in VISION}
        distances["grey"] = grey_distance(*pair)
        lines += [
            f"{first} and {second}, {vision}: {far:.1f}"
            for vision, far in distances.items()
            if far < least
        ]
    return lines


@pytest.mark.parametrize("colours, least", [(OUTCOMES, LEAST), (COLOURS, 3 * LEAST)])
def test_no_two_colours_are_alike(colours, least):
    assert alike(colours, least) == []


def test_numbers_can_be_read_in_a_cell_of_any_outcome():
    assert min(map(lightness, OUTCOMES.values())) > LIGHT_ENOUGH


def test_colours_that_are_alike_are_found():
    """Two earlier colours of outcomes, and a red and a green that are alike to many."""
    earlier = {"found": "#9CC9E3", "early": "#C9B8DE"}
    assert alike(earlier, LEAST) == [
        "found and early, protan: 4.2",
        "found and early, deutan: 3.0",
        "found and early, grey: 1.4",
    ]
    assert len(alike({"red": "#A06030", "green": "#70762C"}, 12)) >= 2


@pytest.mark.parametrize("vision", VISION)
def test_black_white_and_greys_look_the_same_to_all(vision):
    assert distance("white", "black", vision) == pytest.approx(100, abs=0.1)
    assert distance("#777777", "white", vision) == pytest.approx(
        grey_distance("#777777", "white"), abs=0.1
    )
