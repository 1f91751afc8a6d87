"""detectors/unfinished: answers of evaluations that are not whole, of the code of today."""

import re

import pytest
from support.modules import load
from support.paths import ROOT

from evaluation.catalog import controls, detectors, frozen
from evaluation.keys import detector_digest
from evaluation.model import CONTROL
from evaluation.records import merge_records, program_name
from evaluation.scoring.intervals import wilson
from evaluation.scoring.outcomes import outcomes, with_twins
from evaluation.store.committed import CommittedChecks
from runner.bugs.catalog import Catalog
from runner.bugs.program import VARIANTS

FOLDER = ROOT / "detectors" / "unfinished"
EXPECTED = ROOT / "detectors" / "expected"
NAMES = sorted({path.name.split(".")[0] for path in FOLDER.glob("*.jsonl")})


def uncounted_bugs():
    """Bugs that are retired, or whose fault is injected."""
    return {bug.id for bug in Catalog(ROOT) if bug.retired or bug.is_injected}


def later_bugs():
    """The bugs that came when all detectors of ours were frozen."""
    return {bug.id for bug in Catalog(ROOT) if bug.declared and bug.declared.split == "test"}


@pytest.mark.parametrize("name", NAMES)
def test_they_are_of_the_code_of_today(name):
    """Others are of no use to a whole evaluation: take them away. The code of memory is a list of
    programs, which each new bug makes longer: what it said of the older ones stays right.
    """
    digest = detector_digest(detectors.load(ROOT, name))
    records = CommittedChecks(FOLDER).read([name]).checks
    codes = {record.code for record in records}
    assert codes == {digest} or (name == "memory" and len(codes) == 1)
    assert not any((record.revision or "-dirty").endswith("-dirty") for record in records)


@pytest.mark.parametrize("name", NAMES)
def test_their_triggers_are_the_catalogue_s(name):
    triggers = {
        case.id: case.truth.iteration for bug in Catalog(ROOT) for case in bug.cases.values()
    }
    for record in CommittedChecks(FOLDER).read([name]).checks:
        if record.kind != "control":
            assert record.trigger == triggers[f"{record.bug}/{record.case}"]


def test_nobody_chose_the_drawn_bugs():
    """The same seed shuffles the cases in the same order again. No harmful case without needs that takes
    at most 90 seconds is left out, but for new ones.
    """
    unfinished = load("benchmarks/unfinished.py")
    drawn = unfinished.DRAWN.read_text(encoding="utf-8").split()
    ordered = sorted(drawn, key=lambda case: tuple(case.split("/")))
    assert drawn == unfinished.in_drawn_order(ordered)
    answered = {f"{record.bug}/{record.case}" for record in answers_of("sanitizer-4").checks}
    # Its runs were first recorded on 30 November 2026, a day after the draw.
    later = {"PyTorch-162359/digits"}
    assert {case for case in unfinished.draw() if case in answered} == set(drawn) | later


@pytest.mark.parametrize(
    "name", sorted({path.name.split(".")[0] for path in EXPECTED.glob("*.jsonl")})
)
def test_scores_are_about_the_first_drawn_cases_and_all_controls(name):
    unfinished = load("benchmarks/unfinished.py")
    control_set = controls.load(ROOT)
    programs = {(case, kind) for case in unfinished.drawn_cases() for kind in VARIANTS}
    by_references = {}
    for record in CommittedChecks(EXPECTED).read([name]).checks:
        is_control = record.kind == CONTROL
        program = record.case if is_control else f"{record.bug}/{record.case}"
        by_references.setdefault(record.references, set()).add((program, record.kind))
    assert set(by_references) == set(detectors.load(ROOT, name).with_references)
    for references, met in by_references.items():
        learnt_from = control_set.references if references == "cross" else ()
        shown = {
            (control, CONTROL) for control in control_set.bug.cases if control not in learnt_from
        }
        assert met == programs | shown


@pytest.mark.parametrize("name", NAMES)
def test_no_answer_is_in_both_folders(name):
    assert not programs_met(FOLDER, name) & programs_met(EXPECTED, name)


def programs_met(folder, name):
    """The programs about which a folder has an answer of a detector, with its clean runs."""
    records = CommittedChecks(folder).read([name]).checks
    return {(record.references, program_name(record)) for record in records}


def answers_of(*names):
    """All answers of detectors with the kit of today, those in scores among them."""
    return merge_records([CommittedChecks(folder).read(names) for folder in (FOLDER, EXPECTED)])


def test_the_page_of_the_sanitizer_says_what_it_finds_of_the_bugs_it_was_developed_on():
    """A training error, of those cases that were asked about so far."""
    records = answers_of("sanitizer-4")
    table = outcomes(records.checks, records.rules)
    table = table[~table.bug.isin(later_bugs() | uncounted_bugs())]
    own = with_twins(table)
    harmful = own[~own.benign]
    text = " ".join((ROOT / "detectors" / "sanitizer-4" / "README.md").read_text().split())
    assert f"the {len(harmful)} harmful cases that count" in text
    accused = []
    for kind, name in (
        ("fixed", "fixed programs"),
        ("upstream", "mended releases"),
        ("control", "controls"),
    ):
        shown = table[table.kind == kind]
        accused.append(f"{shown.alarmed.sum()} of {len(shown)} {name}")
    said = f"{harmful.paired.sum()} of {len(harmful)} cases; accused are {', '.join(accused)}"
    assert said in text
    near = harmful[harmful.paired].diagnosis.isin(["exact", "near"]).sum()
    assert f"The alarm names the site or a place near it in {near} of them" in text


def test_the_page_of_version_4_says_what_it_finds_of_later_bugs():
    records = answers_of("sanitizer-4", "sanitizer-3")
    table = outcomes(records.checks, records.rules)
    later = table[table.bug.isin(later_bugs())]
    paired = with_twins(later)
    found = paired.groupby(["detector", "rule"]).paired.sum().to_dict()
    text = page_of("sanitizer-4")
    said = re.search(r"came later, (\d+) of them \| (\d+) of (\d+) ", text)
    assert said
    first, hits, cases = map(int, said.groups())
    assert first == cases == paired[paired.detector == "sanitizer-4"].bug.nunique()
    assert hits == found["sanitizer-4", "default"]
    fixed = later[(later.kind == "fixed") & (later.status == "ok") & (later.rule == "default")]
    accused, ran = fixed.groupby("detector").alarmed.sum(), fixed.groupby("detector").size()
    answered = f"their {ran['sanitizer-4']} fixed programs that ran to an answer"
    assert f"accused is {accused['sanitizer-4']} of {answered}" in text
    assert not accused["sanitizer-3"]
    met = paired[paired.detector == "sanitizer-3"].bug.nunique()
    assert f"Version 3 finds {found['sanitizer-3', 'default']} of {met} |" in text


@pytest.mark.parametrize("name", ["sanitizer-7", "sanitizer"])
def test_a_page_says_what_its_version_finds_of_the_catalogue(name):
    records = answers_of(name)
    table = outcomes(records.checks, records.rules)
    table = table[~table.bug.isin(uncounted_bugs())]
    developed = table[table.bug.isin(frozen.load(ROOT)[name].developed_on)]
    own, fixed = with_twins(developed), developed[developed.kind == "fixed"]
    harmful, controls = own[~own.benign], table[table.kind == "control"]
    found = harmful[harmful.paired]
    text = page_of(name)
    assert f"It finds {len(found)} of {len(harmful)} cases" in text
    assert f"and accuses {fixed.alarmed.sum()} of their {len(fixed)} fixed programs" in text
    assert f"and {controls.alarmed.sum()} of the {len(controls)} [controls]" in text
    near = found.diagnosis.isin(["exact", "near"]).sum()
    assert f"site or a place near it in {near} of the {len(found)}" in text


def test_the_page_of_version_7_says_what_it_finds_of_later_bugs():
    records = answers_of("sanitizer-7")
    table = outcomes(records.checks, records.rules)
    shown = table[table.kind != "control"]
    later = shown[~shown.bug.isin(frozen.load(ROOT)["sanitizer-7"].developed_on)]
    own, fixed = with_twins(later), later[later.kind == "fixed"]
    found = own[~own.benign].groupby("bug").paired.any()
    low, high = (round(100 * bound) for bound in wilson(int(found.sum()), len(found)))
    row = f"{found.sum()} of {len(found)} (95 %: {low} to {high} %)"
    assert f"after version 7 | 7 | {row} | {fixed.alarmed.sum()} of {len(fixed)} |" in page_of(
        "sanitizer-7"
    )


@pytest.mark.parametrize("version", ["3", "4"])
def test_pages_say_what_older_versions_find_of_later_bugs(version):
    records = answers_of(f"sanitizer-{version}")
    table = outcomes(records.checks, records.rules)
    later = table[(table.rule == "default") & table.bug.isin(later_bugs())]
    found = with_twins(later).groupby("bug").paired.any()
    fixed = later[later.kind == "fixed"]
    hits, bugs = int(found.sum()), len(found)
    low, high = (round(100 * bound) for bound in wilson(hits, bugs))
    row = f"{hits} of {bugs} (95 %: {low} to {high} %)"
    ran = fixed[fixed.status == "ok"]
    accused = f"{ran.alarmed.sum()} of {len(ran)}"
    later_ones = len(later_bugs())
    page = page_of("sanitizer")
    assert bugs == later_ones
    said = f"the {bugs} bugs after version {version} | {version} | {row} | {accused} |"
    assert said in page
    watch = (ROOT / "docs" / "watch.md").read_text()
    assert f"| {version} | bugs of packages | {hits} of {bugs} | {accused} |" in watch
    if version == "3":
        for name in ("README.md", "docs/records.md"):
            words = " ".join((ROOT / name).read_text().split())
            assert hits == 1
            found_one = rf"Of the {bugs} bugs that came after [a-z0-9, -]* finds (1|one)\b"
            assert re.search(found_one, words), name
            assert f"(95 %: {low} to {high} %)" in words


def test_pages_say_which_later_bugs_versions_3_and_4_have_both_met():
    third, fourth = (later_bugs_met(f"sanitizer-{version}") for version in (3, 4))
    assert third == fourth
    said = f"ersions 3 and 4 met the same {len(third)} bugs, which include the ten"
    watch = " ".join((ROOT / "docs" / "watch.md").read_text().split())
    for page in (page_of("sanitizer"), page_of("sanitizer-7"), watch):
        assert said in page


def later_bugs_met(name):
    return {record.bug for record in answers_of(name).checks} & later_bugs()


def page_of(name):
    return " ".join((ROOT / "detectors" / name / "README.md").read_text().split())
