"""Tables of scores to be read, and files of them."""

import json

import pandas as pd
from msgspec.structs import replace
from support.checks import HIT, overhead, record

from evaluation.model import Rule
from evaluation.scoring import report
from evaluation.scoring.comparison import comparisons
from evaluation.scoring.outcomes import outcomes
from evaluation.scoring.scores import scores

RULES = {name: {"default": Rule()} for name in "abcdefghij"}


def of(*records, overheads=()):
    table = outcomes(records, RULES)
    return scores(table, overheads), table, comparisons(table)


def pair(detector, bug="B", hit=True):
    both = record(alarms=[replace(HIT, seen=7)] * hit), record("fixed")
    return [replace(check, detector=detector, bug=bug) for check in both]


def titled(tables):
    return {table.title.split()[0] + " " + table.title.split()[-1]: table.rows for table in tables}


def test_the_first_table_has_rates_with_their_intervals():
    failed = record(case="two", status="timeout")
    heading, line = report.rows(
        of(record(alarms=[HIT]), record("fixed"), record("control", "gan"), failed)[0]
    )
    assert dict(zip(heading, line, strict=True)) == {
        "DETECTOR": "d", "REAL FIX": "1/2 (5-95)", "UPSTREAM": "-", "ON FIXED": "0/1", "ON CONTROLS": "0/1",
    }  # fmt: skip


def test_other_tables_say_only_what_some_row_has():
    timed = replace(overhead((1.0,), (1.1,)), detector="a", bare_wall=(2.0,), watched_wall=(3.0,))
    scored, _, compared = of(*pair("a"), *pair("b", hit=False), overheads=[timed])
    tables = {table.rows[0][1]: table.rows for table in report.tables(scored, compared)}
    assert tables["DELAY"] == [
        ["DETECTOR", "DELAY", "SITE", "OVERHEAD"],
        ["a", "2 (max 2)", "1/0/0", "1.50"],
        ["b", "-", "-", "-"],
    ]
    (title,) = [
        table.title for table in report.tables(scored, compared) if "DELAY" in table.rows[0]
    ]
    assert "claimed by the process of the monitor" in title
    assert tables["CLAIMED DELAY"][1] == ["a", "2 (max 2)", "1.10"]
    assert "KNOWN" not in str(tables)
    assert tables["SECOND"][1] == ["a", "b", "1", "1:0", "1:0", "1"]


def first_cells(table):
    """The names of the rows, without the heading."""
    return [row[0] for row in table.rows[1:]]


def test_many_rows_are_shown_by_what_the_detectors_were_given():
    """Then what is set aside of all rows."""
    checks = [check for name in "abcdefgh" for check in pair(name)]
    learning = [replace(check, references="same", reference_text=False) for check in pair("i")]
    oracle = [replace(check, references="same", reference_text=True) for check in pair("j")]
    scored, _, compared = of(*checks, *learning, *oracle)
    shown = report.tables(scored, compared)
    names = [first_cells(table) for table in shown]
    assert names == [list("abcdefgh"), ["i (same)"], ["j (oracle)"], names[3]]
    assert len(names[3]) == 10
    assert shown[3].rows[:2] == [
        ["DETECTOR", "RULES", "APART"],
        ["a", "1/1", "1:0 (1)"],
    ]
    assert len(compared) == 2 * 45 + 45


def test_rules_that_are_not_shown_do_not_count_as_rows():
    """Two detectors with nine rules, of which one each is their own setting, get all tables."""
    rules = {
        "default": Rule(),
        **{f"at-{number}": Rule(at_least=number) for number in range(2, 10)},
    }
    checks = [check for name in "ab" for check in pair(name)]
    table = outcomes(checks, {"a": rules, "b": rules})
    scored = scores(table)
    assert len(scored) == 18
    shown = report.tables(scored, comparisons(table, scored))
    assert not report.is_grouped(scored)
    assert first_cells(shown[0]) == ["a", "b"]
    assert shown[-1].rows[1:] == [["a", "b", "1", "0:0", "0:0", "1"]]


def test_a_negative_control_is_in_the_last_table_by_whatever_it_learns():
    checks = [replace(check, detector="memory") for check in pair("a")]
    scored = scores(outcomes(checks, {"memory": {"default": Rule()}}))
    assert scored.group.tolist() == ["more"]


def test_rows_of_other_programs_and_rules_without_a_date_are_named_below():
    scored, table, _ = of(*pair("a"), *pair("b"), *pair("c"), *pair("c", "C"))
    programs, dates = report.notes(table, scored)
    assert (
        programs
        == "c (2 of 2 programs): met other programs than the rest; to compare rows, add --common"
    )
    assert dates.startswith("all rows: the records are older")
    scored, table, _ = of(*(replace(check, declared={}) for check in pair("a")))
    assert report.notes(table, scored) == []


def test_markdown_and_latex():
    table = report.ScoreTable("A & B", [["X", "Y_1"], ["a|b", "5 %"]])
    assert report.markdown(table) == "**A & B**\n\n| X | Y_1 |\n| :-- | --: |\n| a\\|b | 5 % |"
    text = report.latex(table)
    assert r"\caption{A \& B}" in text
    assert "X & Y\\_1 \\\\\n\\midrule\na|b & 5 \\% \\\\\n\\bottomrule" in text


def test_everything_is_written(tmp_path):
    scored, table, compared = of(*pair("a"), *pair("b", hit=False))
    paths = report.write(scored, table, compared, tmp_path)
    assert [path.name for path in paths] == [
        "scores.json",
        "scores.csv",
        "outcomes.csv",
        "comparisons.csv",
    ]
    assert json.loads((tmp_path / "scores.json").read_text())[0]["paired"] == 1
    assert list(pd.read_csv(tmp_path / "outcomes.csv").delay.dropna()) == [2]
    assert pd.read_csv(tmp_path / "comparisons.csv").p.tolist() == [1.0] * 3
