"""Public, perturbed and planted programs on the site: their table, what is said without records,
the downloads.
"""

import json
from pathlib import Path

import pandas as pd
import pytest
from support.checks import HIT
from support.paths import ROOT
from support.rewritten import CODE, commit, commit_all, pair
from support.website import Page, problems

from evaluation.catalog import detectors
from evaluation.reading import sources
from evaluation.running.promote import renew_side_by_side
from evaluation.scoring.intervals import clustered
from runner.bugs.catalog import Catalog
from trainbugs.release.tables import COLUMNS, tables
from trainbugs.website import index
from trainbugs.website.build import build
from trainbugs.website.evaluations import evaluation
from trainbugs.website.rewritten import side_by_side_table

NOTHING = "No records of rewritten programs are committed: nothing tells yet which detectors know"


@pytest.fixture
def whole(toy):
    commit_all(toy.root)
    renew_side_by_side(toy.root / "detectors" / "expected")
    return toy


def side_by_side(toy):
    return side_by_side_table(
        sources.read_rewritten(toy.catalog, sources.RecordSelection((), "expected", Path()))
    )


def table(page):
    return page.split('<table id="beside"')[1].split("</table>")[0]


def test_rules_in_whose_place_another_one_is_chosen_are_left_out(whole):
    records = sources.read_rewritten(whole.catalog, sources.RecordSelection((), "expected", Path()))
    rejected = {("memory", "none", "default"), ("optimizer-progress", "none", "another")}
    assert {row.label for row in side_by_side_table(records, rejected).rows} == {
        "optimizer-progress"
    }


def test_of_the_committed_records_the_leaderboard_sets_chosen_rules_side_by_side(answers):
    assert {("dslinter", "none", "zero-grad"), ("torchfix", "none", "all")} < answers.rejected
    records = sources.read_rewritten(Catalog(ROOT), sources.RecordSelection((), "expected", Path()))
    all_labels = {row.label for row in side_by_side_table(records, frozenset()).rows}
    labels = {row.label for row in side_by_side_table(records, answers.rejected).rows}
    assert all_labels - labels >= {"dslinter (zero-grad)", "torchfix (all)"}
    assert "dslinter (all)" in labels


def test_each_rate_stands_with_its_n_and_its_interval(whole):
    groups = side_by_side(whole)
    assert list(groups.columns.values()) == [
        "Detected, public", "Detected, perturbed", "Detected, planted",
        "Paired, public", "Paired, perturbed", "Paired, planted",
    ]  # fmt: skip
    rows = {row.label: row.rates for row in groups.rows}
    for measure in ("detected", "paired"):
        names = [f"{kind}_{measure}" for kind in ("public", "perturbed", "planted")]
        counted = {}
        for label, rates in rows.items():
            counted[label] = [(rates[name].count, rates[name].n) for name in names]
        # Of two public programs one was met perturbed.
        assert counted == {"memory": [(1, 1), (0, 1), (0, 1)], "optimizer-progress": [(1, 1)] * 3}
    low, high = clustered([1], [1])
    memory = rows["memory"]["public_paired"]
    assert (memory.low, memory.high) == (100 * low, 100 * high)
    site = build(whole.catalog)
    assert problems(site.pages, set(site.files) | set(site.pages)) == []
    assert site.problems == []
    page = site.pages["leaderboard.html"]
    assert table(page).count('class="rate"') == 12
    assert table(page).count(f"{100 * low:.0f}–100 %") == 8
    assert "goes by the published text" in page
    assert NOTHING not in page
    assert "--lines:4" in page


def test_no_column_of_a_kind_that_nobody_met(toy):
    commit(toy.root, "d", "", pair(code=CODE))
    commit(toy.root, "d", "perturb-1", pair(code=CODE, perturb=1))
    assert list(side_by_side(toy).columns) == [
        "public_detected",
        "perturbed_detected",
        "public_paired",
        "perturbed_paired",
    ]
    commit(toy.root, "e", "", pair(code=CODE))
    commit(toy.root, "e", "plant-1", pair("no-step", code=CODE, plant=1))
    row = next(row for row in side_by_side(toy).rows if row.detector == "d")
    assert row.rates["planted_paired"].rate is None
    assert row.rates["public_paired"].rate == 100
    assert ">–</td>" in table(build(toy.catalog).pages["leaderboard.html"])


def test_without_records_a_sentence_says_so(toy):
    page = build(toy.catalog).pages["leaderboard.html"]
    assert "There are no records of detectors" in page
    assert "beside" not in Page(page).anchors
    commit(toy.root, "d", "", pair(code=CODE))
    page = build(toy.catalog).pages["leaderboard.html"]
    assert NOTHING in page
    assert "beside" not in Page(page).anchors


def test_records_of_another_code_are_named(toy):
    commit(toy.root, "d", "", pair(code=CODE))
    commit(toy.root, "d", "perturb-1", pair(code=64 * "b", perturb=1))
    page = build(toy.catalog).pages["leaderboard.html"]
    assert "Left out, because their records of published programs are of another code: d." in page
    assert "beside" not in Page(page).anchors


def test_records_that_are_mixed_stop_nothing_else(whole):
    expected = whole.root / "detectors" / "expected"
    (expected / "memory.jsonl").replace(expected / "rewritten" / "perturb-1" / "memory.jsonl")
    site = build(whole.catalog)
    assert len(site.problems) == 1
    assert "is of programs as published, expected perturb-1" in site.problems[0]
    assert NOTHING in site.pages["leaderboard.html"]
    assert "optimizer-progress" in site.pages["leaderboard.html"]


def test_nothing_of_it_is_in_the_scores_above(whole):
    records = sources.read_records(whole.catalog, sources.RecordSelection((), "expected", Path()))
    scores = evaluation(records, ()).scores
    assert [(score.rates["detected"].count, score.rates["detected"].n) for score in scores] == [
        (2, 2),
        (2, 2),
    ]


def test_its_files_are_among_the_downloads(whole):
    site = build(whole.catalog)
    expected = whole.root / "detectors" / "expected"
    for name, path in (
        ("side-by-side.csv", "side-by-side.csv"),
        ("perturb-1-memory.jsonl", "rewritten/perturb-1/memory.jsonl"),
        ("plant-1-memory.jsonl", "rewritten/plant-1/memory.jsonl"),
        ("plant-1-planted.json", "rewritten/plant-1/planted.json"),
    ):
        assert site.files[f"downloads/{name}"] == (expected / path).read_bytes(), name
    page = site.pages["downloads.html"]
    assert page.index("Detectors on rewritten programs") < page.index("plant-1-planted.json")


def test_records_of_further_seeds_are_among_the_downloads(whole):
    """And in no table of the site."""
    expected, before = whole.root / "detectors" / "expected", build(whole.catalog)
    commit(whole.root, "optimizer-progress", "", pair(code=CODE), seed=1)
    (expected / "seeds.csv").write_text("what `trainbugs evaluate` writes")
    site = build(whole.catalog)
    assert site.problems == []
    assert site.pages["leaderboard.html"] == before.pages["leaderboard.html"]
    for name, path in (
        ("seeds.csv", "seeds.csv"),
        ("seeds-optimizer-progress.jsonl", "seeds/optimizer-progress.jsonl"),
    ):
        assert site.files[f"downloads/{name}"] == (expected / path).read_bytes(), name


def test_its_outcomes_are_a_table_of_their_own_in_a_release(whole):
    release_tables, _ = tables(whole.catalog)
    frames = {part.name: part.frame for part in release_tables}
    assert list(frames["rewritten_outcomes"]) == list(COLUMNS["rewritten_outcomes"])
    assert set(frames["rewritten_outcomes"].rewriting) == {"perturb-1", "plant-1"}
    assert (len(frames["outcomes"]), len(frames["rewritten_outcomes"])) == (8, 8)
    assert "rewriting" not in frames["outcomes"]
    assert set(frames["outcomes"].bug) == {"B"}
    types = frames["outcomes"].dtypes
    pd.testing.assert_series_equal(frames["rewritten_outcomes"].dtypes[list(types.index)], types)
    spoilt = whole.root / "detectors" / "expected" / "rewritten" / "perturb-1" / "memory.jsonl"
    spoilt.write_text("{")
    remade, unread = tables(whole.catalog)
    assert len(unread) == 1
    assert "memory.jsonl" in unread[0]
    lengths = {part.name: len(part.frame) for part in remade}
    assert lengths["outcomes"] == 8


def test_a_release_without_it_has_no_such_table(toy):
    commit(toy.root, "d", "", pair())
    release_tables, _ = tables(toy.catalog)
    assert "rewritten_outcomes" not in {part.name for part in release_tables}


def test_negative_controls_are_those_that_say_so():
    all_detectors = [detectors.load(ROOT, name) for name in detectors.names(ROOT)]
    assert {
        detector.name for detector in all_detectors if "negative control" in detector.title
    } == detectors.NEGATIVE_CONTROLS


def test_negative_controls_are_marked_and_can_be_hidden(whole):
    site = build(whole.catalog)
    page = site.pages["rules.html"]
    rows = json.loads(page.split('id="scores-index">')[1].split("</script>")[0])
    kinds = {row["facets"]["detector"][0]: row["facets"]["kind"] for row in rows}
    assert kinds == {"memory": ["negative control"], "optimizer-progress": ["detector"]}
    # Once in each table; without scripts, too.
    assert page.count('memory <span class="tag">negative control</span>') == 1
    beside = table(site.pages["leaderboard.html"])
    assert beside.count('memory <span class="tag">negative control</span>') == 1
    choices = page.split('name="kind"')[1].split("</select>")[0]
    assert ">detector (1)</option>" in choices
    assert ">negative control (1)</option>" in choices


def test_the_leaderboard_has_filters_by_location_by_needs_and_by_kind(answers):
    rows = index.score_rows(answers.scores, {"sanitizer-3": ["in process"]})
    facets = {facet.name: facet for facet in index.score_facets(rows)}
    assert {"group", "needs", "kind"} <= set(facets)
    assert {"framework", "compiler"} < set(facets["group"].values)
    assert facets["kind"].chosen == ""


def test_the_best_by_public_programs_comes_first(toy):
    for name, alarms in (("a", ()), ("z", (HIT,))):
        commit(toy.root, name, "", pair(alarms=alarms, code=CODE))
        commit(toy.root, name, "perturb-1", pair(code=CODE, perturb=1))
    assert [row.detector for row in side_by_side(toy).rows] == ["z", "a"]
