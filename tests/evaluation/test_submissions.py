"""Submissions: each is whole, its records are of the detector beside them,
and its tables are those of its records.
"""

import json
import shutil

import pytest
from support.paths import ROOT

import trainbugs
from evaluation.catalog import submissions
from evaluation.submission_check import check_submission
from runner.bugs.catalog import Catalog
from runner.errors import CatalogError, UsageError

NAMES = submissions.names(ROOT)
EXAMPLE = "backward-without-zero-grad"


def test_there_is_one():
    assert EXAMPLE in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_maintainer_has_nothing_to_say_of_it(name):
    """Records are of the detector beside them, and tables are those of the records."""
    findings = check_submission(Catalog(ROOT), ROOT / submissions.FOLDER / name)
    problems = [problem for problem in findings.problems if "not committed as it is" not in problem]
    assert problems == []


@pytest.fixture
def copy(tmp_path):
    """A copy of the example, in a catalogue with the same bugs, outside of git."""
    (tmp_path / "bugs").symlink_to(ROOT / "bugs")
    (tmp_path / "detectors").mkdir()
    return copied(tmp_path)


def problems_of(folder):
    findings = check_submission(Catalog(folder.parents[1]), folder)
    return [problem for problem in findings.problems if "not committed as it is" not in problem]


def test_a_copy_is_as_good_but_for_its_commit(copy):
    findings = check_submission(Catalog(copy.parents[1]), copy)
    assert problems_of(copy) == []
    assert len(findings.problems) == 1
    assert any("it met 9 cases and 18 controls" in note for note in findings.notes)


def changed_line(folder, **changes):
    """Change fields of the first record."""
    path = folder / f"{EXAMPLE}.jsonl"
    lines = path.read_text().splitlines()
    line = json.loads(lines[1])
    line["check"] |= changes
    path.write_text("\n".join([lines[0], json.dumps(line), *lines[2:]]) + "\n")


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"revision": "0" * 40 + "-dirty"}, "was made of a detector that was not committed"),
        ({"pinned": False}, "did not run in a pinned environment"),
        ({"rules": "0" * 64}, "was made with other alarm rules"),
        ({"version": "9"}, "expected 1"),
    ],
)
def test_a_record_that_does_not_count_is_named_once_with_the_remedy(copy, changes, words):
    changed_line(copy, **changes)
    (problem,) = [problem for problem in problems_of(copy) if words in problem]
    assert problem.endswith(
        f"`trainbugs evaluate --detector submissions/{EXAMPLE}/{EXAMPLE} --update-expected` "
        "writes it anew"
    )


def test_tables_of_other_records_are_named(copy):
    path = copy / "scores.csv"
    path.write_text(path.read_text().replace(",1", ",2", 1))
    (copy / "outcomes.csv").unlink()
    outcomes_problem, scores_problem = sorted(problems_of(copy))
    assert outcomes_problem.startswith("outcomes.csv: ")
    assert scores_problem.startswith("scores.csv: is not that of the records; ")


def test_what_is_lacking_is_named(copy):
    (copy / EXAMPLE / "README.md").unlink()
    path = copy / "submission.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"developed_on": ["Gone-1"]}))
    words = " ".join(problems_of(copy))
    assert "developed_on names 'Gone-1', which is no bug here" in words
    assert "there is no README.md" in words


def test_a_detector_that_names_a_bug_will_be_asked_why(copy):
    path = next((copy / EXAMPLE).glob("*.py"))
    path.write_text(path.read_text() + "\n# as in PyTorch-115607\n")
    notes = check_submission(Catalog(copy.parents[1]), copy).notes
    assert any("name PyTorch-115607: a maintainer will ask why" in note for note in notes)


def test_a_bug_that_two_files_name_is_named_once(copy):
    for name in ("a.py", "b.py"):
        (copy / EXAMPLE / name).write_text("# as in PyTorch-115607\n")
    notes = check_submission(Catalog(copy.parents[1]), copy).notes
    assert any("its files name PyTorch-115607: a maintainer" in note for note in notes)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"#" * 1_000_001], ids=["no text", "large"])
def test_a_program_that_nobody_can_read_is_a_problem_with_its_name(copy, content):
    (copy / EXAMPLE / "odd.py").write_bytes(content)
    problems = problems_of(copy)
    assert any(problem.startswith(f"{EXAMPLE}/odd.py: ") for problem in problems)


def test_a_table_of_a_large_evaluation_is_read(copy):
    path = copy / "outcomes.csv"
    path.write_text(path.read_text() + "\n" * 1_000_001)
    (problem,) = problems_of(copy)
    assert problem.startswith("outcomes.csv: is not that of the records")


def test_another_folder_is_no_submission(copy, tmp_path):
    with pytest.raises(UsageError, match="expected submissions/NAME in this clone"):
        check_submission(Catalog(ROOT), tmp_path / "detectors")


@pytest.mark.parametrize("name", ["no-such", ".", "a/b"])
def test_a_name_that_is_no_submission_is_refused(name):
    with pytest.raises(UsageError, match="expected submissions/NAME in this clone"):
        check_submission(Catalog(ROOT), ROOT / submissions.FOLDER / name)


def test_it_is_looked_at_from_inside(cli, monkeypatch):
    monkeypatch.setattr("trainbugs.api.load", lambda: Catalog(ROOT))
    monkeypatch.chdir(ROOT / submissions.FOLDER / EXAMPLE)
    _, out, _ = cli("submit", "--check", ".")
    assert out.startswith(f"{EXAMPLE}: ")


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


def test_a_misspelt_bug_is_no_bug_that_the_authors_knew(copy):
    """Whoever submits nothing types no `submit --check`, and would count the bug as NEW."""
    path = copy / "submission.json"
    described = json.loads(path.read_text())
    path.write_text(json.dumps(described | {"developed_on": ["PyTorch-1604"]}))
    with pytest.raises(
        CatalogError, match=r"developed_on names 'PyTorch-1604', which is no bug here"
    ):
        submissions.load_frozen(copy.parents[1])
    path.write_text(json.dumps(described | {"developed_on": ["PyTorch-16045"]}))
    assert submissions.load_frozen(copy.parents[1])[EXAMPLE].developed_on == ("PyTorch-16045",)
