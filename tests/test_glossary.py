"""The glossary: each word stands once, and its place is in the code."""

import importlib
import re

import pytest
from support.paths import ROOT

TEXT = (ROOT / "docs" / "glossary.md").read_text()
ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \| `([\w.]+)` \|$", TEXT, re.MULTILINE)


def find(place):
    """The package, module or object with this dotted name; raises ImportError or AttributeError."""
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError:
        module, _, name = place.rpartition(".")
        return getattr(importlib.import_module(module), name)


def test_every_line_of_the_tables_is_a_row():
    lines = [line for line in TEXT.splitlines() if line.startswith("| ")]
    headings = [line for line in lines if line.startswith("| word |")]
    assert len(ROWS) == len(lines) - len(headings)


def test_a_word_has_one_meaning():
    words = [word for word, _, _ in ROWS]
    assert sorted(set(words)) == sorted(words)


@pytest.mark.parametrize("word, place", [(word, place) for word, _, place in ROWS])
def test_the_place_of_a_word_is_there(word, place):
    if (ROOT / place.replace(".", "/")).is_dir():
        return
    assert find(place) is not None, word


@pytest.mark.parametrize("place", ["runner.nowhere", "runner.errors.Nothing"])
def test_a_place_that_is_not_there_is_found_out(place):
    with pytest.raises((ImportError, AttributeError)):
        find(place)
