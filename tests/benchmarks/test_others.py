"""What the sanitizer says of programs that others have written: the committed table,
and what its page says of it.
"""

import csv
import json

import pytest
from support.paths import ROOT

FOLDER = ROOT / "benchmarks" / "others"
PROGRAMS = {
    program["name"]: program for program in json.loads((FOLDER / "programs.json").read_text())
}
ROWS = list(csv.DictReader((FOLDER / "table.csv").read_text().splitlines()))
README = (ROOT / "detectors" / "sanitizer-3" / "README.md").read_text()


def test_each_program_has_its_row_at_its_commit():
    assert sorted(row["name"] for row in ROWS) == sorted(PROGRAMS)
    for row in ROWS:
        program = PROGRAMS[row["name"]]
        assert [row[name] for name in ("repository", "commit", "licence")] == [
            program[name] for name in ("repository", "commit", "licence")
        ]


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_a_program_is_accused_of_what_it_does_wrong_and_of_nothing_else(row):
    expected = " ".join(sorted(PROGRAMS[row["name"]].get("wrong", ())))
    assert row["errors"] == expected
    assert row["wrong"] == expected
    assert row["status"] == "0", "the program itself failed, or an invariant did"
    assert row["failed"] == "", "the program itself failed, or an invariant did"
    assert int(row["steps"]) > 0


def test_the_page_counts_them():
    wrong = sum(bool(row["wrong"]) for row in ROWS)
    repositories = {row["repository"] for row in ROWS}
    programs = f"of {len(ROWS)} programs that others have written"
    sentence = f"{programs}, from {len(repositories)} repositories, it accused {wrong}"
    assert sentence in " ".join(README.split())
