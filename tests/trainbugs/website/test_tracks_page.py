"""The page of reviews and repairs: scores of the two tracks, as the commands print them."""

import json

import pytest
from support.paths import ROOT

from trainbugs.website import tracks
from trainbugs.website.build import build

REPAIR = {
    "model": "<b>agent</b>",
    "patches": 2,
    "tasks": 4,
    "fixed": 2,
    "fixed_interval": [0.1, 0.9],
    "same": 1,
    "same_interval": [0.0, 0.8],
    "varied": 1,
    "at_site": 1,
    "located": 2,
    "changed": 3.0,
    "real": 2.0,
}
DOCUMENT = {"schema": 1, "catalogue": 7, "cases": 4, "scores": [REPAIR]}


@pytest.fixture
def repairs_file(toy):
    def write(document):
        path = toy.root / tracks.REPAIRS
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(document))

    return write


def test_the_page_has_the_scores_of_repairs(toy, repairs_file):
    repairs_file(DOCUMENT)
    site = build(toy.catalog)
    page = site.pages["tracks.html"]
    assert ">2/4 [0.10, 0.90]<" in page
    assert ">1/4 [0.00, 0.80]<" in page
    assert ">1/4<" in page
    assert "VARIED counts the cases" in page
    assert "&lt;b&gt;agent" in page
    assert "about 4 of 4 cases in version 7 of the catalogue" in page
    assert f'href="files/{tracks.REPAIRS}"' in page
    assert f"files/{tracks.REPAIRS}" in site.files
    assert "There are no scores of reviewers." in page
    assert 'href="tracks.html"' not in page


def test_a_column_without_any_value_is_left_out(toy, repairs_file):
    repairs_file(
        {**DOCUMENT, "scores": [{**REPAIR, "varied": None, "changed": None, "real": None}]}
    )
    table = tracks.repairs(toy.root)
    assert table.columns == ("MODEL", "PATCHES", "FIXED", "SAME", "SITE")
    assert len(table.rows) == 1
    assert "VARIED" not in build(toy.catalog).pages["tracks.html"]


@pytest.mark.parametrize("scores", [[{**REPAIR, "fixed": "many"}], "none"])
def test_scores_that_cannot_be_read_are_a_problem_and_no_more(toy, repairs_file, scores):
    repairs_file({**DOCUMENT, "scores": scores})
    site = build(toy.catalog)
    assert any(line.startswith("benchmarks/repairs.json: ") for line in site.problems)
    assert "There are no scores of repairers." in site.pages["tracks.html"]


def test_a_link_in_place_of_the_scores_is_a_problem(toy, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "repairs.json"
    elsewhere.write_text(json.dumps(DOCUMENT))
    path = toy.root / tracks.REPAIRS
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(elsewhere)
    site = build(toy.catalog)
    assert any(line.startswith("benchmarks/repairs.json: ") for line in site.problems)
    assert "agent" not in site.pages["tracks.html"]


def test_the_committed_scores_can_be_read():
    assert tracks.reviews(ROOT).rows
    assert tracks.repairs(ROOT).rows
