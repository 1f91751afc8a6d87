"""Numbers of docs/records.md about the committed records, computed anew from the records."""

import json
from collections import Counter
from functools import cache

import pytest
from support.paths import ROOT

import trainbugs
from evaluation.scoring.outcomes import with_twins
from runner.bugs.catalog import Catalog

PAGE = " ".join((ROOT / "docs" / "records.md").read_text(encoding="utf-8").split())
CASE = ["bug", "case"]
FIRST = frozenset(
    json.loads((ROOT / "detectors" / "development.json").read_text(encoding="utf-8"))["bugs"]
)


@cache
def harmful():
    """The answers about buggy programs that do harm, with what was said of their twins."""
    answers = with_twins(trainbugs.outcomes())
    return answers[(answers.kind == "buggy") & ~answers.benign]


def cases():
    """A line for each case that has scores."""
    return harmful().drop_duplicates(CASE)


def answers_of(detector, rule, references="none"):
    shown = harmful()
    is_asked = (shown.detector == detector) & (shown.rule == rule)
    return shown[is_asked & (shown.references == references)]


def accused(detector, rule, references):
    """The fixed programs that a rule accuses, of how many."""
    outcomes = trainbugs.outcomes()
    is_asked = (outcomes.detector == detector) & (outcomes.rule == rule)
    fixed = outcomes[is_asked & (outcomes.references == references) & (outcomes.kind == "fixed")]
    ran = fixed[(fixed.status == "ok") & ~fixed.benign]
    return f"{int(ran.alarmed.sum())} of {len(ran)} fixed programs"


def test_the_page_says_of_what_kind_the_scored_cases_are():
    bugs = {bug.id: bug.declared for bug in Catalog(ROOT)}
    shown = cases()
    harm = Counter(str(bugs[bug].harm.kind) for bug in shown.bug)
    code = Counter(str(bugs[bug].code_at_fault) for bug in shown.bug)
    kinds = ("reported", "enlarged", "measured", "constructed")
    places = ("installed", "rewritten", "re-created")
    assert f"| of the {len(shown)} cases | |" in PAGE
    assert (
        f"| bugs, and their families | {shown.bug.nunique()}, in {shown.family.nunique()} |" in PAGE
    )
    assert f"| harm {', '.join(kinds)} | {', '.join(str(harm[kind]) for kind in kinds)} |" in PAGE
    counts = ", ".join(str(code[place]) for place in places)
    assert f"| code at fault {', '.join(places)} | {counts} |" in PAGE
    known = int(shown.bug.isin(FIRST).sum())
    assert f"count as KNOWN to most rows | {known} |" in PAGE


def test_the_page_says_how_many_twins_of_scored_cases_are_work_arounds():
    twins = Counter(cases().twin)
    mended = twins["released"] + twins["proposed"]
    assert f"{twins['work-around']} of the {len(cases())} fixed twins are work-arounds;" in PAGE
    assert f"work-arounds; {mended} have a released or a proposed fix." in PAGE


@pytest.mark.parametrize(
    ("detector", "rule", "said"),
    [
        ("pyod", "iforest", "`iforest` of pyod detects"),
        ("trainproof-compare", "default", "trainproof-compare detects"),
    ],
)
def test_the_page_says_what_clean_runs_of_the_same_program_give(detector, rule, said):
    shown = answers_of(detector, rule, "same")
    detected = int((shown.alarmed & ~shown.early).sum())
    cases_text = " cases" if "trainproof" in detector else f" of {len(shown)} cases"
    text = f"{said} {detected}{cases_text}, and is PAIRED on {int(shown.paired.sum())}."
    assert f"{text} It accuses {accused(detector, rule, 'same')}." in PAGE


def test_the_page_says_what_clean_runs_of_other_programs_give():
    shown = answers_of("pyod", "iforest", "cross")
    text = f"with them `iforest` is PAIRED in {int(shown.paired.sum())} cases, and accuses"
    assert f"{text} {accused('pyod', 'iforest', 'cross')}." in PAGE


def test_the_page_says_what_the_detectors_of_the_write_ups_find():
    names = ("optimizer-progress", "api-sequence", "gradient-cycle")
    found = {name: answers_of(name, "default") for name in names}
    counts = [int(shown.paired.sum()) for shown in found.values()]
    text = f"They accuse no fixed program, and find {counts[0]}, {counts[1]} and {counts[2]} cases."
    assert text in PAGE
    silent = f"0 of {len(cases())} fixed programs"
    assert {accused(name, "default", "none") for name in names} == {silent}
    new = int((~cases().bug.isin(FIRST)).sum())
    later = {}
    for name, shown in found.items():
        later[name] = list(shown[~shown.bug.isin(FIRST) & shown.paired].bug)
    both = ["DeepSpeed-7967"] * 2
    assert later == {"optimizer-progress": [], "api-sequence": both, "gradient-cycle": both}
    text = f"Of the {new} later cases, api-sequence and gradient-cycle find two: both cases of"
    assert f"{text} [DeepSpeed-7967]" in PAGE
    assert f"Of these {new}, optimizer-progress finds none." in PAGE


def test_the_page_says_what_version_1_finds_of_bugs_that_it_knew():
    shown = answers_of("sanitizer-3", "version-1")
    is_first = shown.bug.isin(FIRST)
    first, later = int((shown.paired & is_first).sum()), int((shown.paired & ~is_first).sum())
    text = (
        f"Of the {len(shown)} cases, {int(is_first.sum())} are of these bugs: it finds {first} of"
    )
    assert f"{text} them, and {later} of the other {int((~is_first).sum())}." in PAGE


def test_the_page_says_which_rows_are_ahead_of_others():
    shown = cases()
    later = shown[~shown.bug.isin(FIRST)]
    text = f"on the {len(later)} cases that came later. They are of {later.bug.nunique()} bugs,"
    assert f"{text} in {later.family.nunique()} families." in PAGE
    compared = trainbugs.comparisons(bugs=sorted(set(later.bug)))
    pairs = compared[(compared.measure == "paired") & compared.p_holm.notna()]
    assert f"correction for all {len(pairs)} pairs." in PAGE
    rows = set(pairs["first"]) | set(pairs.second)
    certain = pairs[pairs.p_holm < 0.05]
    is_first = certain.bugs_first > certain.bugs_second
    ahead = Counter(certain["first"].where(is_first, certain.second))
    assert ahead.pop("memory") == len(rows) - 1
    assert "| memory | all |" in PAGE
    iforest = ahead.pop("pyod (same, iforest)")
    who = "`iforest` of pyod, with clean runs of the same program, which knew none"
    assert f"| {who} | {iforest} |" in PAGE
    for name in ("sanitizer-3", "sanitizer-4"):
        knew = harmful()[(harmful().detector == name) & harmful().known.fillna(True)]
        of_later = f"{knew[~knew.bug.isin(FIRST)].bug.nunique()} of the {later.bug.nunique()} bugs"
        assert f"| {name}, which knew {of_later} | {ahead.pop(name)} |" in PAGE
    assert not ahead
    assert "| any other row | none |" in PAGE
    is_pair = (pairs["first"] == "pyod (same, iforest)") & (
        pairs.second == "trainproof-compare (same)"
    )
    (pair,) = pairs[is_pair].itertuples()
    text = f"in {pair.bugs_first} families, and less often in {pair.bugs_second}."
    assert f"is PAIRED more often than trainproof-compare {text}" in PAGE


def test_a_page_says_how_to_meet_the_same_cases():
    page = " ".join((ROOT / "docs" / "evaluate.md").read_text(encoding="utf-8").split())
    assert "are about the cases in [drawn.txt]" in page
    assert "`--bugs $(cat detectors/drawn.txt)`" in page
    drawn = (ROOT / "detectors" / "drawn.txt").read_text(encoding="utf-8").split()
    assert set(drawn) == {
        f"{bug}/{case}" for bug, case in zip(cases().bug, cases().case, strict=True)
    }


def test_the_page_says_what_watching_costs():
    scored = trainbugs.scores()
    timed = scored[scored.overhead.notna()].drop_duplicates("detector")
    assert set(timed.overhead_on) == {"SO-60335387/digits"}
    assert f"{len(timed)} detectors watch a running program." in PAGE
    most = timed.sort_values("overhead", ascending=False)
    times = [f"{row.detector} {row.overhead:.1f} times" for row in most.itertuples()]
    first = times[0].replace("compiled ", "compiled makes the run ")
    assert f"{first} as long, {times[1]}, {times[2]} and {times[3]}." in PAGE
    assert f"The others take at most {most.overhead.iloc[4]:.1f} times as long" in PAGE
