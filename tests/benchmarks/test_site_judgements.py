"""The judgements of readers about the places that alarms name: read, counted, and told in docs."""

import pytest
from support.paths import ROOT

from benchmarks import site_judgements
from benchmarks.site_judgements import ANSWERS, Judged

TABLE = ROOT / "detectors" / "site-judgements.csv"


def judged(first, second, number=0):
    """An alarm with the answers of two readers."""
    return Judged(
        *("d", "none", "default", "B", f"case-{number}", 0, "code", "message", "program.py", "1"),
        api="",
        reader_1=first,
        reader_2=second,
    )


def test_the_page_has_what_the_readers_said():
    committed = site_judgements.read(TABLE)
    assert len(committed) == 60
    first, *lines = site_judgements.compare(committed).splitlines()
    assert first == "60 alarms"
    page = (ROOT / "docs" / "scores.md").read_text()
    rows = [line for line in lines if line[:2] == "| "]
    assert len(rows) == 8
    for row in rows:
        assert row in page


@pytest.mark.parametrize(
    "pairs, expected",
    [
        ([("a", "a"), ("b", "b")], 1.0),
        ([("a", "b"), ("b", "a")], -1.0),
        ([("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")], 0.0),
        ([("a", "a"), ("a", "a")], 1.0),
    ],
)
def test_kappa_is_agreement_beyond_chance(pairs, expected):
    assert site_judgements.kappa(pairs) == pytest.approx(expected)


def test_a_table_is_read_as_it_was_written(tmp_path):
    rows = [judged("site", "near", 1), judged("", "elsewhere", 2)]
    site_judgements.write(tmp_path / "t.csv", rows)
    assert site_judgements.read(tmp_path / "t.csv") == rows


def test_another_answer_is_one_line(tmp_path):
    site_judgements.write(tmp_path / "t.csv", [judged("site", "site"), judged("perhaps", "site")])
    with pytest.raises(SystemExit) as caught:
        site_judgements.read(tmp_path / "t.csv")
    assert str(caught.value) == (
        f"{tmp_path / 't.csv'}: row 2, reader_1: 'perhaps', expected {', '.join(ANSWERS)}"
    )


def test_answers_of_alarms_that_are_gone_are_not_counted(monkeypatch):
    known = judged("site", "site", 1)
    monkeypatch.setattr(site_judgements, "deciding_alarms", lambda: iter([(known, "exact")]))
    text = site_judgements.compare([known, judged("near", "site", 2), judged("", "", 3)])
    assert text.startswith("1 alarms\n")
    with pytest.raises(SystemExit, match="no alarm has two answers"):
        site_judgements.compare([judged("near", "site", 2)])


def test_a_sheet_says_nothing_of_the_answer(tmp_path):
    first = site_judgements.read(TABLE)[0]
    sheet = tmp_path / "sheet.md"
    site_judgements.write_sheet([first], sheet)
    text = sheet.read_text()
    assert first.message in text
    assert f"## 1. {first.bug}/{first.case}" in text
    assert not [answer for answer in ("exact", "diagnosis") if answer in text]
