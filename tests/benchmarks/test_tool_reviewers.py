"""Tools as reviewers: what becomes of their findings."""

import argparse
import importlib
import json
import sys

import pytest
from support.paths import ROOT

from evaluation.catalog import controls
from evaluation.catalog.declared import declared_programs
from evaluation.exporting import KEY, TASKS
from evaluation.reading.load import earlier_folder
from evaluation.reading.subsets import select_counted, select_current
from evaluation.review.answers import collect_answers, read_values
from evaluation.review.scoring import score_reviews
from evaluation.review.tasks import collect_programs, read_review_key, write_tasks
from evaluation.scoring.tables import ScoreTables
from evaluation.store.committed import CommittedChecks
from runner.bugs.catalog import Catalog

IDS = ["0123456789abcdef", "1123456789abcdef"]


@pytest.fixture
def reviewers(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("tool_reviewers")


@pytest.fixture
def tasks():
    return [{"id": name, "files": {"program.py": "pass\n"}, "parameters": {}} for name in IDS]


def test_the_worst_finding_counts_and_comes_first(reviewers):
    finding = reviewers.Finding
    findings = [
        finding("note", 1, None, "slow", "program.py"),
        finding("warning", 2, None, "odd", "program.py"),
        finding("error", 3, "torch.optim.SGD", "wrong", "program.py"),
        finding("debug", 4, None, "unknown", "program.py"),
    ]
    answer = reviewers.answer(IDS[0], "m", findings)
    assert answer["suspicion"] == 90
    assert [suspect["line"] for suspect in answer["suspects"]] == [3, 2, 1]
    assert reviewers.answer(IDS[0], "m", [])["suspicion"] < 50
    assert reviewers.answer(IDS[0], "m", findings[:1])["suspicion"] < 50


def test_the_sanitizer_answers_what_it_has_seen(reviewers, tasks, monkeypatch, tmp_path):
    alarm = reviewers.sanitizer_answers.Alarm("clip", "program.py", 1, "text " * 1000, None)
    monkeypatch.setattr(
        reviewers.sanitizer_answers, "alarms_of", lambda tasks, options: {IDS[0]: [alarm]}
    )
    (answer,) = reviewers.by_sanitizer(tasks, argparse.Namespace(detector="sanitizer"))
    assert (answer["id"], answer["model"], answer["suspicion"]) == (IDS[0], "sanitizer", 90)
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(answer))
    read = collect_answers(read_values(path), IDS)
    assert read.problems == ()
    assert read.answers[0].suspects[0].why.startswith("clip: ")


def test_torch_preflight_is_shown_all_programs_in_folders_of_their_own(reviewers, tasks, tmp_path):
    tool = tmp_path / "tool"
    tool.write_text(
        f"#!{sys.executable}\n"
        "import json, pathlib, sys\n"
        "paths = sorted(map(str, pathlib.Path('.').glob('*/program.py')))\n"
        "found = dict(code='T1', message='odd', severity='error', path='./' + paths[1], line=1)\n"
        "print(json.dumps({'diagnostics': [found]}))\n"
        "sys.exit(1)\n"
    )
    tool.chmod(0o755)
    answers = reviewers.by_preflight(tasks, argparse.Namespace(tool=str(tool)))
    assert [answer["suspicion"] for answer in answers] == [10, 90]
    assert answers[1]["suspects"] == [{"line": 1, "why": "T1: odd", "file": "program.py"}]


def test_the_page_says_why_reviews_and_scores_of_the_sanitizer_differ(reviewers, tmp_path):
    """A review counts benign cases, too; otherwise both find the same."""
    programs, _ = collect_programs(Catalog(ROOT), controls.load(ROOT))
    write_tasks(tmp_path, programs)
    exported = reviewers.sanitizer_answers.read_tasks(tmp_path / TASKS)
    options = argparse.Namespace(detector="sanitizer-3", committed=True, results=None, watch=False)
    lines = [json.dumps(answer) for answer in reviewers.by_sanitizer(exported, options)]
    (tmp_path / "answers.jsonl").write_text("\n".join(lines))
    key = read_review_key(tmp_path / KEY)
    (review,) = score_reviews(
        key, collect_answers(read_values(tmp_path / "answers.jsonl"), key.tasks).answers
    )
    records = CommittedChecks(earlier_folder(ROOT)).read(["sanitizer-3"])
    counted_records = select_counted(records, declared_programs(Catalog(ROOT)))
    outcomes = ScoreTables(select_current(counted_records, Catalog(ROOT)), Catalog(ROOT)).outcomes
    buggy = outcomes[(outcomes["rule"] == "default") & (outcomes["kind"] == "buggy")]
    benign, counted = buggy[buggy["benign"]], buggy[~buggy["benign"]]
    page = " ".join((ROOT / "docs" / "reviews.md").read_text().split())
    assert f"| sanitizer-3 | public | {len(lines)}/344 | {review.paired}/{review.pairs} [" in page
    assert f"PAIRED is {counted['alarmed'].sum()}/{len(counted)}, and not" in page
    assert review.pairs - len(counted) == len(benign) == 1
    assert f"leave out {benign['bug'].item()}/{benign['case'].item()}, a benign" in page
