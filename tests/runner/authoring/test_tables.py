"""Tables of a README beside the records: each rule is broken once and must complain."""

import json
from typing import Any

import pytest
from support.copies import replace
from support.records import RECORD

from runner.authoring.table_sources import FILE
from runner.authoring.tables import (
    README,
    check_tables,
    compare_tables,
    readme_text,
    with_recorded_numbers,
)
from runner.results.expected import expected_path
from runner.results.record import encode

TABLE = """\
| seeds 0, 1 | buggy | fixed |
|---|---|---|
| accuracy, epoch 2 | **0.12 1.12** | 0.25 1.25 |
| in words | low | high |
"""
SOURCES: dict[str, Any] = {
    "header": "| seeds 0, 1 | buggy | fixed |",
    "rows": [
        {
            "row": "accuracy, epoch 2",
            "metric": "accuracy",
            "where": {"epoch": 2},
            "format": ".2f",
        },
        {"row": "in words", "text": "words"},
    ],
}


@pytest.fixture
def bug(toy):
    """The toy bug with a table, its sources and records."""
    for variant, accuracy in (("buggy", 0.1234), ("fixed", 0.25)):
        for seed in (0, 1):
            metrics = tuple({"epoch": epoch, "accuracy": accuracy + seed} for epoch in (1, 2))
            record = replace(RECORD, variant=variant, seed=seed, metrics=metrics)
            path = expected_path(toy.bug, record)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(encode(record)))
    toy.write(README, f"# Toy-1\n\n{TABLE}")
    sources(toy, SOURCES)
    return toy


def sources(toy, *tables):
    toy.write(FILE, json.dumps({"schema": 1, "tables": tables}))


def problems(toy):
    return list(check_tables(toy.bug, toy.root))


def rewrite(toy, old, new):
    text = readme_text(toy.bug)
    assert old in text
    toy.write(README, text.replace(old, new))


def test_a_table_with_the_numbers_of_the_records_has_no_problem(bug):
    assert problems(bug) == []


def test_a_wrong_digit_is_a_problem_and_is_mended(bug):
    rewrite(bug, "0.12 1.12", "0.12 1.13")
    assert problems(bug) == [
        "README.md, line 3, row 'accuracy, epoch 2', column 'buggy': is 0.12 1.13, records give "
        "0.1234 1.1234 (0.12 1.12); `trainbugs tables Toy-1 --write` mends it"
    ]
    mended = with_recorded_numbers(readme_text(bug.bug), compare_tables(bug.bug))
    assert mended == f"# Toy-1\n\n{TABLE}"


def test_a_table_has_one_line_however_much_is_wrong(bug):
    rewrite(bug, "0.12 1.12", "7 8")
    rewrite(bug, "0.25 1.25", "9 9")
    (problem,) = problems(bug)
    assert "(1 further cell of the table)" in problem


def change_row(**changes):
    rows = [SOURCES["rows"][0] | changes, SOURCES["rows"][1]]
    return SOURCES | {"rows": rows}


@pytest.mark.parametrize(
    "changed, message",
    [
        (SOURCES | {"rows": SOURCES["rows"][:1]}, "names no further row where the table has 'in words'"),
        (SOURCES | {"rows": [*SOURCES["rows"], SOURCES["rows"][1]]}, "the table has no further row"),
        (change_row(row="accuracy"), "names 'accuracy' where the table has 'accuracy, epoch 2'"),
        (SOURCES | {"columns": [{"variant": "buggy"}]}, "names 1 columns after the first, the table has 2"),
        (change_row(cells={"fxied": {}}), "row 'accuracy, epoch 2': there is no column 'fxied'"),
        (change_row(metric="loss"), "line 3, row 'accuracy, epoch 2', column 'buggy': metric 'loss' is missing"),
        (change_row(study="gaps"), "column 'buggy': Toy-1 has no study 'gaps'"),
        (SOURCES | {"header": "| seeds |"}, "README.md has no further table with the header '| seeds |'"),
        (SOURCES | {"colour": 1}, "colour"),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_table_is_a_problem(bug, changed, message):
    sources(bug, changed)
    (problem,) = problems(bug)
    assert message in problem


def test_a_table_that_is_not_named_is_a_problem(bug):
    rewrite(bug, TABLE, f"{TABLE}\n| a | buggy |\n|---|---|\n| b | 1 |\n")
    assert problems(bug) == [
        "README.md, line 8: tables.json does not name the table '| a | buggy |'"
    ]


def test_a_table_needs_a_file_that_names_it(bug):
    (bug.directory / FILE).unlink()
    (problem,) = problems(bug)
    assert problem.startswith("README.md, line 3: tables.json does not name the table")


def test_a_readme_without_a_table_needs_no_file(bug):
    (bug.directory / FILE).unlink()
    rewrite(bug, TABLE, "")
    assert problems(bug) == []


def test_a_row_with_too_few_cells_is_a_problem(bug):
    rewrite(bug, "| in words | low | high |", "| in words | low |")
    assert problems(bug) == ["README.md, line 3: a row has more or fewer cells than the first line"]


def test_tables_with_one_header_are_told_apart_by_their_order(bug):
    rewrite(bug, TABLE, f"{TABLE}\n{TABLE.replace('epoch 2', 'epoch 1')}")
    second = change_row(row="accuracy, epoch 1", where={"epoch": 1})
    sources(bug, SOURCES, second)
    assert problems(bug) == []


def test_a_whole_table_may_be_a_text(bug):
    rewrite(bug, "0.12 1.12", "7 8")
    sources(bug, {"header": SOURCES["header"], "text": "why.py"})
    assert problems(bug) == []
    assert [cell.source.text for cell in compare_tables(bug.bug)[0].cells] == ["why.py"] * 4


def test_a_record_that_cannot_be_read_is_a_problem(bug):
    next((bug.bug.expected / "only").glob("*.json")).write_text("{")
    (problem,) = problems(bug)
    assert "only/" in problem
