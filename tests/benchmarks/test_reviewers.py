"""Scores of the reviewers that need no model: the file, the page, and how they are made."""

import importlib
import json
import sys

import pytest
from support.paths import ROOT

from evaluation.review.scoring import ROW, ReviewScore
from runner.bugs.catalogue_version import CATALOGUE_VERSION
from runner.files.structs import as_struct

# Columns that the page leaves out: they say nothing of these reviewers.
LEFT_OUT = {"AGREE", "COST"}


@pytest.fixture
def reviewers(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("reviewers")


@pytest.fixture
def scores(reviewers):
    document = json.loads(reviewers.TABLE.read_text(encoding="utf-8"))
    assert document["catalogue"] == CATALOGUE_VERSION
    return [as_struct(score, ReviewScore) for score in document["scores"]]


def test_the_page_has_the_committed_scores(scores):
    page = (ROOT / "docs" / "reviews.md").read_text(encoding="utf-8")
    columns = {name: cell for name, cell in ROW.items() if name not in LEFT_OUT}
    assert f"| {' | '.join(columns)} |\n" in page
    for score in scores:
        assert f"| {' | '.join(cell(score) for cell in columns.values())} |\n" in page


def test_keywords_and_a_tool_review_the_toy_catalogue(
    reviewers, toy, toy_environment, tmp_path, monkeypatch
):
    # The toy has no torch, so the sanitizer has no answer about it.
    monkeypatch.setattr(reviewers.tool_reviewers, "by_sanitizer", lambda tasks, options: [])
    # A tool that is silent about each file.
    tool = tmp_path / "tool"
    tool.write_text(f"#!{sys.executable}\nprint('" + '{"diagnostics": []}' + "')\n")
    tool.chmod(0o755)
    found = reviewers.review_programs(toy.catalog, str(tool))
    names = [(score.model, score.rewriting) for score in found]
    assert ("keywords", "public") in names
    assert ("keywords", "perturb-1") in names
    assert all(score.pairs == 1 for score in found)
