"""Submissions: each is whole, its records are of the detector beside them,
and its tables are those of its records.
"""

import json
import shutil

import pytest
from support.paths import ROOT

import trainbugs
from evaluation import keys
from evaluation.catalog import submissions
from evaluation.catalog.declared import declared_programs
from evaluation.scoring import comparison, scores
from evaluation.scoring.outcomes import outcomes
from evaluation.store.committed import CommittedChecks
from runner.bugs.catalog import Catalog
from runner.errors import CatalogError, UsageError

NAMES = submissions.names(ROOT)
EXAMPLE = "backward-without-zero-grad"


def evaluated(name, root=ROOT):
    return CommittedChecks(root / submissions.FOLDER / name).read()


def test_there_is_one():
    assert EXAMPLE in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_records_are_of_the_detector_beside_them_and_of_pinned_environments(name):
    submission, detector = submissions.load(ROOT, name)
    assert set(submission.developed_on) <= set(Catalog(ROOT).ids())
    records, rules = evaluated(name).checks, keys.rules_digest(detector.alarm_rules)
    assert records
    assert (detector.directory / "README.md").is_file()
    for record in records:
        assert record.detector == detector.name
        assert record.version == detector.version
        assert record.rules == rules
        assert record.runtime.pinned
        assert not record.revision.endswith("-dirty")
        # The kit may have another digest by now; where it has not, the detector's is that of the
        # record.
        assert record.kit != keys.kit_digest() or record.code == keys.detector_digest(detector)


@pytest.mark.parametrize("name", NAMES)
def test_tables_are_those_of_the_records(name):
    folder, records = ROOT / submissions.FOLDER / name, evaluated(name)
    frozen, declared = submissions.load_frozen(ROOT), declared_programs(Catalog(ROOT))
    table = outcomes(records.checks, records.rules, frozen, declared)
    scored = scores.scores(table, records.overheads)
    tables = {
        "scores": scored,
        "outcomes": table,
        "comparisons": comparison.comparisons(table, scored),
    }
    for kind, frame in tables.items():
        assert (folder / f"{kind}.csv").read_text() == frame.to_csv(index=False), kind


def test_they_are_scored_beside_the_committed_ones():
    frame = trainbugs.scores("submissions")
    assert set(NAMES) < set(frame.detector)
    row = trainbugs.scores("submissions", EXAMPLE).iloc[0].to_dict()
    assert row["detected"] > 0
    assert row["paired_known_n"] > 0
    assert row["paired_new_n"] > 0
    with pytest.raises(
        UsageError, match="there are no checks of gone in submissions and the committed records"
    ):
        trainbugs.scores("submissions", "gone")


def copied(tmp_path):
    shutil.copytree(ROOT / submissions.FOLDER, tmp_path / submissions.FOLDER)
    return tmp_path / submissions.FOLDER / EXAMPLE


@pytest.mark.parametrize(
    "spoil, words",
    [
        ({"authors": []}, "authors"),
        ({"licence": None}, "licence"),
        ({"since": "yesterday"}, "since"),
        ({"developed_on": "all"}, "developed_on"),
        ({"author": "x"}, r"there is no key 'author' \(did you mean authors\?\)"),
    ],
)
def test_a_wrong_description_is_named(tmp_path, spoil, words):
    path = copied(tmp_path) / "submission.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | spoil))
    with pytest.raises(CatalogError, match=rf"submission\.json.*{words}"):
        submissions.load(tmp_path, EXAMPLE)


def test_the_detector_lies_in_a_folder_of_the_name(tmp_path):
    folder = copied(tmp_path)
    (folder / EXAMPLE).rename(folder / "detector")
    with pytest.raises(
        CatalogError, match=f"there is no {EXAMPLE}/detector.json; the detector's folder has the"
    ):
        submissions.load(tmp_path, EXAMPLE)
