"""Values on a command line: what is typed is parsed, or refused in one line."""

import argparse

import pytest

from trainbugs.cli.types import MAX_SEED, count, device, numbers, positive, seed


@pytest.mark.parametrize(
    "parse, typed, value",
    [
        (count, "1", 1),
        (numbers, "0,2,1", (0, 2, 1)),
        (seed, "0", 0),
        (seed, str(MAX_SEED), MAX_SEED),
        (device, "cuda:1", "cuda:1"),
        (device, "auto", "auto"),
        (positive, "0.5", 0.5),
    ],
)
def test_what_is_typed_is_parsed(parse, typed, value):
    assert parse(typed) == value


@pytest.mark.parametrize(
    "parse, typed, words",
    [
        (count, "0", "expected a number of at least 1"),
        (count, "-1", "expected a number of at least 1"),
        (count, "two", "expected a number of at least 1"),
        (numbers, "", "different numbers >= 0"),
        (numbers, "1,1", "different numbers >= 0"),
        (numbers, "0,-1", "different numbers >= 0"),
        (numbers, "1;2", "different numbers >= 0"),
        (seed, str(MAX_SEED + 1), f"from 0 to {MAX_SEED}"),
        (seed, "-1", f"from 0 to {MAX_SEED}"),
        (device, "gpu", "expected auto, cpu, cuda or cuda:N"),
        (device, "cuda:x", "expected auto, cpu, cuda or cuda:N"),
        (positive, "0", "expected a number above 0"),
        (positive, "inf", "expected a number above 0"),
        (positive, "nan", "expected a number above 0"),
        (positive, "fast", "expected a number above 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(parse, typed, words):
    with pytest.raises(argparse.ArgumentTypeError, match="expected") as caught:
        parse(typed)
    assert words in str(caught.value)
