"""Figures of studies: what numbers may bring."""

from plots.studies import _range
from runner.studies.cells import Side


def test_equal_values_have_no_range_though_their_mean_is_rounded():
    values = (0.7599999904632568,) * 3
    sides = [Side(values), Side((0.94, 0.94, 0.94)), Side((0.1, 0.1, 0.1))]
    assert any(side.mean != side.values[0] for side in sides), (
        "no mean is rounded: the test shows nothing"
    )
    assert all(number >= 0 for numbers in _range(sides) for number in numbers)
