"""tables.json: what it may hold, and which key wins."""

import json

import pytest

from runner.authoring.table_sources import FILE, Source, load, merge
from runner.errors import CatalogError

TABLE = {"header": "| a | buggy |", "rows": [{"row": "loss", "metric": "loss"}]}


def write(toy, *tables, **changes):
    toy.write(FILE, json.dumps({"schema": 1, "tables": tables} | changes))


def test_a_bug_may_have_no_tables(toy):
    assert load(toy.bug) is None


def test_tables_are_as_they_are_written(toy):
    write(toy, TABLE)
    (table,) = load(toy.bug).tables
    assert table.rows[0].metric == "loss"


@pytest.mark.parametrize(
    "change, message",
    [
        ({"metrc": "loss"}, "tables\\[0\\].*metrc"),
        ({"reduce": "product"}, "tables\\[0\\].reduce"),
        ({"format": "3f"}, "tables\\[0\\].format"),
        ({"text": "unknown"}, "tables\\[0\\].text"),
        ({"seeds": "each"}, "tables\\[0\\].seeds"),
    ],
)
def test_a_mistake_is_an_error_that_names_the_key(toy, change, message):
    write(toy, TABLE | change)
    with pytest.raises(CatalogError, match=message):
        load(toy.bug)


def test_the_narrower_key_wins():
    wide = Source(metric="loss", variant="buggy", where={"epoch": 1, "part": "test"})
    narrow = Source(metric="accuracy", where={"epoch": 2})
    merged = merge([wide, narrow])
    assert merged.metric == "accuracy"
    assert merged.variant == "buggy"
    assert merged.where == {"epoch": 2, "part": "test"}
