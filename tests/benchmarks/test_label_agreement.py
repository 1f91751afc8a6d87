"""What readers say of the labels of a sample of bugs: read, counted, and told in docs."""

import random

import pytest
from support.paths import ROOT

from benchmarks import label_agreement
from benchmarks.label_agreement import Label
from runner.bugs.catalog import Catalog
from runner.bugs.catalogue_counts import counted_bugs
from runner.bugs.taxonomy import LISTS

TABLE = ROOT / "benchmarks" / "labels.csv"
CATALOG = Catalog(ROOT)
# Bugs that came after the draw.
CAME_LATER = {"PyTorch-162359"}


def test_the_page_has_what_the_readers_said():
    labels = label_agreement.read(TABLE)
    assert all(label.reader_1 and label.reader_2 for label in labels)
    first, *lines = label_agreement.compare(labels).splitlines()
    assert first == "40 bugs"
    page = (ROOT / "docs" / "taxonomy.md").read_text()
    rows = [line for line in lines if line[:2] == "| "]
    assert len(rows) == 1 + 3 * len(LISTS)
    for row in rows:
        assert row in page
    against = [label for label in labels if label.reader_1 == label.reader_2 != catalogue(label)]
    causes = [label for label in against if label.list == "cause"]
    assert f"gave {len(labels)} answers. In {len(against)} of them the two readers agree" in page
    assert len(causes) == 8
    assert "Eight of the ten are about the cause" in " ".join(page.split())
    (example,) = [label for label in causes if label.bug == "PyTorch-129079"]
    assert f"*{catalogue(example)}*, and both readers say *{example.reader_1}*" in page


def catalogue(label):
    return label_agreement.of_the_catalogue(CATALOG.bug(label.bug), label.list)


def test_nobody_chose_the_bugs():
    drawn = list(dict.fromkeys(label.bug for label in label_agreement.read(TABLE)))
    known = sorted({bug.id for bug in counted_bugs(CATALOG)} - CAME_LATER)
    assert drawn == sorted(random.Random(0).sample(known, 40))


def test_a_table_is_read_as_it_was_written(tmp_path):
    rows = [Label("B", "cause", "numerics", ""), Label("B", "effect", "", "no learning")]
    label_agreement.write(tmp_path / "t.csv", rows)
    assert label_agreement.read(tmp_path / "t.csv") == rows


def test_another_entry_is_one_line(tmp_path):
    label_agreement.write(tmp_path / "t.csv", [Label("B", "location", "my code", "")])
    with pytest.raises(SystemExit) as caught:
        label_agreement.read(tmp_path / "t.csv")
    assert str(caught.value) == (
        f"{tmp_path / 't.csv'}: row 1, reader_1: 'my code', expected {', '.join(LISTS['location'])}"
    )


def test_agreement_is_counted_of_what_both_readers_say():
    bug = CATALOG.bug("SO-60335387")
    right = label_agreement.of_the_catalogue(bug, "location")
    other = next(entry for entry in LISTS["location"] if entry != right)
    labels = [
        Label(bug.id, "location", right, other),
        Label(bug.id, "cause", "numerics", ""),
    ]
    text = label_agreement.compare(labels)
    assert "| location | reader_1, reader_2 | 0/1 | 0.00 |" in text
    assert "| location | reader_1, catalogue | 1/1 | 1.00 |" in text
    assert "cause" not in text
    with pytest.raises(SystemExit, match="no label has two answers"):
        label_agreement.compare([labels[1]])


def test_a_sheet_holds_no_label(tmp_path):
    """The words of the labels in config.json are on no sheet, nor is the paragraph of facts."""
    sheet = tmp_path / "sheet.md"
    label_agreement.write_sheet(label_agreement.read(TABLE), sheet)
    text = sheet.read_text()
    assert "Facts:" not in text
    assert label_agreement.RULE in text
    for kind, entries in LISTS.items():
        for entry in entries:
            assert f"- {entry}: " in text.split(f"## {kind}\n")[1]
    for name in {label.bug for label in label_agreement.read(TABLE)}:
        assert f"<!-- {name} -->" in text
        assert CATALOG.bug(name).labels.symptom not in text
