"""Tables of scores that are the same, but for the last digits."""

import io

import pandas as pd


def assert_same_table(text, expected):
    """The CSV texts hold the same rows, and numbers that differ by rounding at most: releases of
    SciPy compute intervals with other last digits.
    """
    table, expected_table = pd.read_csv(io.StringIO(text)), pd.read_csv(io.StringIO(expected))
    pd.testing.assert_frame_equal(table, expected_table, check_exact=False, rtol=1e-9, atol=1e-12)
