"""The leaderboard: three tables, the matrix, and a page for each detector."""

import dataclasses
import json
import re
from html import unescape
from pathlib import Path

import pytest
from support.checks import HIT
from support.copies import replace
from support.paths import ROOT
from support.rewritten import CODE, commit, pair
from support.website import Page

import trainbugs
from evaluation.catalog import authors, detectors, development
from evaluation.catalog.detectors import NEGATIVE_CONTROLS
from evaluation.model import CONTROL
from evaluation.reading.sources import RecordSelection, read_records
from evaluation.scoring import report
from evaluation.scoring.case_state import FOUND
from evaluation.scoring.scores import CLEAN_RUNS, MORE
from runner.bugs.catalog import Catalog
from runner.errors import CatalogError
from trainbugs.website import leaderboard
from trainbugs.website.build import build
from trainbugs.website.evaluations import Pair, evaluation


def first_bugs():
    described = development.load(ROOT)
    assert described
    return described.bugs


def labels_of(board):
    return [row.label for row in board.rows]


def test_the_tables_have_the_rows_that_the_terminal_prints(answers):
    *printed, _ = report.group_tables(trainbugs.scores())
    shown = {board.name: labels_of(board) for board in leaderboard.boards(answers)}
    # The terminal prints negative controls among the detectors that see more.
    shown[MORE] = [*shown.get(MORE, ()), *shown.pop(leaderboard.NEGATIVE)]
    assert [report.GROUP_TITLES[name] for name in shown] == [table.title for table in printed]
    for labels, table in zip(shown.values(), printed, strict=True):
        assert sorted(labels) == sorted(row[0] for row in table.rows[1:])


def test_negative_controls_have_a_table_of_their_own(answers, real):
    *boards, negative = leaderboard.boards(answers)
    assert {row.detector for row in negative.rows} == NEGATIVE_CONTROLS
    assert not any(row.negative for board in boards for row in board.rows)
    page = real.pages["leaderboard.html"]
    headings = re.findall(r'<h2 id="board-\d">(.*?)</h2>', page)
    assert headings == [board.title for board in (*boards, negative)]
    assert headings[-1] == "Negative controls"
    table = page.split(">Negative controls</h2>")[1].split("<tbody")[1].split("</tbody>")[0]
    assert set(re.findall(r"detectors/([\w-]+)\.html", table)) == NEGATIVE_CONTROLS


def test_a_detector_that_sees_more_stands_above_the_negative_controls(answers):
    row = next(row for row in leaderboard.main_rows(answers) if row.board == CLEAN_RUNS)
    scores = (*answers.scores, dataclasses.replace(row, board=MORE, detector="d", label="d"))
    *_, more, negative = leaderboard.boards(dataclasses.replace(answers, scores=scores))
    assert [row.label for row in more.rows] == ["d"]
    assert all(row.negative for row in negative.rows)


def test_the_headline_is_the_one_of_the_readme(answers):
    numbers = leaderboard.headline(answers, first_bugs())
    # The README explains its words in the table.
    words = " ".join(re.sub(r"\*| \([^()]*\)", "", (ROOT / "README.md").read_text()).split())
    assert f"| find together, of the {numbers.cases} |" in words
    ours = len(set(numbers.careful) & authors.ours(ROOT))
    count = len(numbers.careful)
    rows = f"the careful rows that get no clean runs: {count} detectors have such rows."
    who = f"{rows} We wrote {ours} of the {count}, and the other one finds 0"
    assert f"| {who} | {numbers.cases - numbers.escaped} |" in words
    assert f"| all without clean runs | {numbers.without_references} |" in words
    assert f"| all with clean runs | {numbers.with_clean_runs} |" in words


def test_the_page_says_the_headline(real, answers):
    numbers = leaderboard.headline(answers, first_bugs())
    page = real.pages["leaderboard.html"]
    assert f"<strong>{numbers.escaped} escape</strong>" in page
    others = set(numbers.careful) - authors.ours(ROOT)
    assert f"Of these {len(numbers.careful)} detectors others wrote {len(others)}." in page


def test_each_detector_has_a_page_that_names_version_day_and_authors(real):
    authorships = authors.load(ROOT)
    for name in detectors.names(ROOT):
        page = unescape(real.pages[f"detectors/{name}.html"])
        assert detectors.load(ROOT, name).version in page
        assert authorships[name].day in page
        assert all(author in page for author in authorships[name].authors)


def test_a_page_lists_what_a_row_finds_and_which_controls_it_accuses(real, answers):
    page = real.pages["detectors/trainproof.html"]
    outcomes = trainbugs.outcomes()
    own = outcomes[(outcomes.detector == "trainproof") & (outcomes.rule == "live-5")]
    found = [
        answer
        for answer in answers.answers
        if answer.label == "trainproof (live-5)" and answer.state == FOUND
    ]
    assert f"{leaderboard.KINDS[FOUND]} ({len(found)})" in page
    assert all(f">{answer.id}</a>" in page for answer in found)
    accused = sorted(set(own[(own.kind == CONTROL) & own.alarmed].case))
    assert f"Controls that it accuses ({len(accused)})" in page
    section = page.split("Controls that it accuses")[1].split("</section>")[0]
    assert re.findall(r"<li>(.*?)</li>", section) == accused


def test_a_detector_without_records_says_so(real):
    assert "It has no committed records yet" in real.pages["detectors/traincheck-full.html"]
    unrecorded = real.pages["leaderboard.html"].split('id="unrecorded"')[1]
    assert "traincheck-full" in unrecorded


def test_pairs_are_those_of_the_comparisons(answers):
    compared = trainbugs.comparisons()
    compared = compared[compared.measure == "paired"]
    by_names = {(row["first"], row["second"]): row for row in compared.to_dict("records")}
    assert len(answers.pairs) > 50
    for pair_ in answers.pairs:
        row = by_names[pair_.first, pair_.second]
        assert pair_.p == pytest.approx(row["p_bugs"])
        assert (pair_.only_first, pair_.only_second) == (row["only_first"], row["only_second"])


def test_a_pair_can_be_read_from_the_other_side():
    one = Pair("a", "b", 9, 1, 2, 3, 4, 0.5)
    assert one.swapped == Pair("b", "a", 9, 2, 1, 4, 3, 0.5)
    assert one.swapped.swapped == one


def test_the_matrix_has_a_row_for_each_harmful_case_that_counts(real, answers):
    counted = {answer.id for answer in answers.answers if answer.counted and not answer.benign}
    table = real.pages["matrix.html"].split("<tbody>")[1].split("</tbody>")[0]
    rows = table.split("<tr>")[1:]
    assert len(rows) == len(counted)
    columns = real.pages["matrix.html"].count('class="turned"')
    assert {row.count("<td") for row in rows} == {columns}
    assert "memory" not in real.pages["matrix.html"].split("<tbody>")[0]


def test_a_bug_has_a_cross_table_of_rows_and_cases(answers):
    table = leaderboard.cross_table(answers, "SO-60335387")
    assert set(table.cases) == {"digits", "lr1e-3", "lr1e-4", "lr1e-5"} & set(table.cases)
    labels = [label for label, *_ in table.rows]
    assert len(labels) == len(set(labels))
    assert "dslinter (zero-grad)" not in labels
    assert "dslinter (zero-grad)" in {answer.label for answer in table.others}


def test_authors_of_all_detectors_are_named():
    assert set(authors.load(ROOT)) >= set(detectors.names(ROOT))
    named = set(json.loads((ROOT / "detectors" / "authors.json").read_text()))
    assert named == set(detectors.names(ROOT))


def test_a_submission_names_its_authors_itself():
    assert authors.load(ROOT)["backward-without-zero-grad"].day == "2026-11-23"


def test_authors_that_cannot_be_read_are_named(tmp_path):
    folder = tmp_path / "detectors"
    folder.mkdir()
    (folder / "authors.json").write_text('{"d": {"authors": [], "day": "2026-11-26"}}')
    with pytest.raises(CatalogError, match="authors"):
        authors.load(tmp_path)


def test_each_page_leads_to_licence_submission_and_repository(real, toy):
    for name, page in real.pages.items():
        links = Page(page).links
        for place in ("licences.html", "submissions.html", "overview.html#read-on-and-cite"):
            assert any(link.endswith(place) for link in links), name
        assert '<meta name="description"' in page
    site = build(toy.catalog, "https://example.org/trainbugs")
    assert all("https://example.org/trainbugs" in page for page in site.pages.values())


def test_a_repository_is_a_web_address(cli):
    status, _, errors = cli("site", "--repository", "javascript:alert(1)")
    assert status == 2
    assert "expected https://" in errors


def test_who_accuses_fewer_stands_before_who_accuses_more(toy):
    for name, fixed in (("a", (HIT,)), ("z", ())):
        buggy, twin = pair(alarms=(), code=CODE)
        commit(toy.root, name, "", [buggy, replace(twin, alarms=fixed)])
    records = read_records(Catalog(toy.root), RecordSelection((), "expected", Path()))
    (board,) = leaderboard.boards(evaluation(records, ()))
    assert [row.detector for row in board.rows] == ["z", "a"]
