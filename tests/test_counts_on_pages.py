"""Counts of bugs on docs/questions.md and docs/coverage.md, made anew from the catalogue."""

import re
from collections import Counter

import pytest
from support.paths import ROOT

from runner.bugs.catalog import Catalog
from runner.bugs.catalogue_counts import counted_bugs

CATALOG = Catalog(ROOT)
BUGS = counted_bugs(CATALOG)
LATER = [bug for bug in BUGS if bug.declared.split == "test"]


def page(name):
    return " ".join((ROOT / "docs" / name).read_text(encoding="utf-8").split())


def prefix(bug_id):
    """The package that a bug's ID names."""
    return bug_id.rsplit("-", 1)[0]


def test_the_questions_say_how_near_the_programs_are():
    realism = Counter(bug.provenance.realism for bug in BUGS)
    own, adapted = realism["our own"], realism["adapted"]
    text = f"{own} of the {len(BUGS)} bugs have a program of our own, and {adapted} an adapted one."
    assert text in page("questions.md")


def test_the_questions_name_the_one_case_that_is_original():
    cases = [case for bug in BUGS for case in bug.cases.values() if case.provenance]
    original = [case.id for case in cases if case.provenance.realism == "original"]
    (name,) = original
    said = f"The case {name} is original, but its bug counts as adapted."
    assert said in page("questions.md")


def test_the_questions_say_how_many_bugs_a_command_runs():
    compiler = sum(bug.labels.location == "compiler" for bug in BUGS)
    assert f"runs the programs of {compiler} bugs twice: once without your detector" in page(
        "questions.md"
    )


def test_the_questions_and_the_taxonomy_agree_on_what_was_changed_later():
    words = "Later we changed a setting of ten bugs, and the program of three others"
    assert words in page("questions.md")
    assert words in page("taxonomy.md")
    listed = re.search(
        r"a setting that we changed after a first run: (.*?) \| 10 \|", page("taxonomy.md")
    )
    names = [name.strip() for name in listed[1].split(",")]
    assert len(names) == 10
    assert set(names) <= set(CATALOG.ids())


def test_the_coverage_counts_the_later_bugs():
    text = page("coverage.md")
    packages = {prefix(bug.id) for bug in LATER}
    assert {bug.declared.code_at_fault for bug in LATER} == {"installed"}
    sentence = f"All {len(LATER)} run the released code of a package, of {len(packages)} packages."
    assert sentence in text
    assert f"| bugs in installed code | 40 | {len(LATER)} | all |" in text
    assert f"| packages | 25 | {len(packages)} | |" in text


@pytest.mark.parametrize(("cause", "here"), [("numerics", 2), ("concurrency", "none")])
def test_the_coverage_counts_causes_of_later_bugs(cause, here):
    count = sum(bug.labels.cause == cause for bug in LATER)
    assert count == (0 if here == "none" else here)
    assert f"| cause *{cause}* | 1 | {here} |" in page("coverage.md")


def test_a_row_of_the_coverage_names_as_many_later_bugs_as_it_counts():
    lines = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8").splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("| kind | aim | here |"))
    ids, counted_rows = {bug.id for bug in LATER}, 0
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        _, _, here, named = (cell.strip() for cell in line.strip("|").split("|"))
        names = re.findall(r"[A-Za-z][A-Za-z0-9-]*-[0-9a-f]+\b", named)
        if here.isdigit() and names:
            counted_rows += 1
            assert set(names) <= ids, line
            assert len(names) + len(re.findall(r", -|and -", named)) == int(here), line
    assert counted_rows >= 5


def test_the_coverage_counts_the_bugs_of_compilers():
    compiler = sum(bug.labels.location == "compiler" for bug in BUGS)
    assert f"Here there are {compiler}, and five of them are about compiled" in page("coverage.md")
