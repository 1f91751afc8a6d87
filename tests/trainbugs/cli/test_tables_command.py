"""The command tables: what it prints, what it writes, and its exit status."""

import json

import pytest
from support.copies import replace
from support.records import RECORD

from runner.results.expected import expected_path
from runner.results.record import encode

README = """\
# Toy-1

| | buggy | fixed |
|---|---|---|
| accuracy | **7** | 2 |
| in words | low | high |
"""


@pytest.fixture
def bug(toy):
    """The toy bug with a table whose first number is wrong."""
    for variant, accuracy in (("buggy", 1), ("fixed", 2)):
        for seed in (0, 1):
            metrics = ({"epoch": 1, "accuracy": accuracy},)
            record = replace(RECORD, variant=variant, seed=seed, metrics=metrics)
            path = expected_path(toy.bug, record)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(encode(record)))
    toy.write("README.md", README)
    sources(toy, {"row": "accuracy", "metric": "accuracy", "seeds": "alike"})
    return toy


def sources(toy, row):
    rows = [row, {"row": "in words", "text": "words"}]
    table = {"header": "| | buggy | fixed |", "rows": rows}
    toy.write("tables.json", json.dumps({"schema": 1, "tables": [table]}))


def test_tables_are_printed_as_they_would_be(bug, cli):
    status, out, err = cli("tables", str(bug.directory))
    assert status == 0
    assert err == ""
    table = README.split("\n\n")[1].replace("7", "1")
    count = "Toy-1: 1 table, 2 cells from records; without a record: 2 words"
    assert out == f"{table}\n{count}\n"
    assert (bug.directory / "README.md").read_text() == README


def test_numbers_are_written_into_the_readme(bug, cli):
    status, out, _ = cli("tables", str(bug.directory), "--write")
    assert status == 0
    assert "mended README.md, line 3, row 'accuracy', column 'buggy'" in out
    assert (bug.directory / "README.md").read_text() == README.replace("7", "1")
    assert cli("tables", str(bug.directory), "--write")[1].count("mended") == 0


def test_a_cell_that_cannot_be_computed_is_a_failure(bug, cli):
    sources(bug, {"row": "accuracy", "metric": "loss"})
    status, _, err = cli("tables", str(bug.directory))
    assert status == 1
    assert "column 'buggy': metric 'loss' is missing" in err
