"""What docs/impact.md says of the study of SO-60335387:
its tables are made of the committed one.
"""

import importlib.util
import re

import pytest
from support.paths import ROOT

PAGE = (ROOT / "docs" / "impact.md").read_text()
SUMMARY = (ROOT / "bugs" / "SO-60335387" / "studies" / "impact.md").read_text()


@pytest.fixture(scope="module")
def tables():
    spec = importlib.util.spec_from_file_location("impact", ROOT / "benchmarks" / "impact.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.tables()


def test_the_page_has_the_tables_that_the_script_makes(tables):
    missing = [title for title, text in tables.items() if text not in PAGE]
    assert missing == []


def test_sentences_about_cures_are_those_of_the_table(tables):
    (harmed, cured, lower), *_ = re.findall(
        r"\| all \| (\d+) \| (\d+) \| (\d+) \|", tables["Cures of harm"]
    )
    points, all_cured = re.search(r"\| all \| (\d+) \| (\d+) \| -0", PAGE).groups()
    words = " ".join(PAGE.split())
    assert f"the bug harms in {harmed} of {points} combinations" in words
    assert f"makes up for the bug in {cured} of the {harmed} combinations that it harms" in words
    assert f"in {lower} of the {cured} this rate is lower" in words
    assert f"{int(all_cured) - int(cured)} of the {all_cured} were benign or better" in words
    story = " ".join((ROOT / "bugs" / "SO-60335387" / "README.md").read_text().split())
    assert f"another rate cures {cured} of the {harmed}" in story


def test_the_page_tells_of_the_whole_study():
    counted = next(line for line in SUMMARY.splitlines() if " of 144 points" in line)
    assert counted.startswith("114 of 144 points")
    assert "INVALID runs, which count in no number below: 0." in counted
    for number in ("114", "684", "6156", "1026"):
        assert number in PAGE


def test_what_explains_the_harm_is_quoted_as_the_summary_has_it():
    rows = [
        line
        for line in SUMMARY.splitlines()
        if line.startswith("| ") and line.split(" | ")[-1].startswith("0.")
    ]
    shares = rows[rows.index(next(row for row in rows if row.startswith("| dataset"))) :]
    assert shares
    assert [row for row in shares if row not in PAGE] == []
