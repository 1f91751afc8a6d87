"""The closed lists: the pages define all of their entries, the catalogue uses them, and bugs are
counted by them.
"""

import re

import pytest
from support.copies import replace
from support.paths import ROOT

from runner.bugs.catalog import Catalog
from runner.bugs.catalogue_counts import (
    count,
    count_families,
    count_harm,
    counted_bugs,
    counted_cases,
)
from runner.bugs.taxonomy import DECLARED, FIXES, LISTS, REALISM

PAGE = (ROOT / "docs" / "taxonomy.md").read_text()
CATALOG = Catalog(ROOT)


def cells(line):
    return [cell.strip() for cell in line.strip("|\n").split("|")]


def tables(page):
    """Heading of the first column -> the rows below it, as lists of cells."""
    by_heading = {}
    for block in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        heading, _, *rows = map(cells, block.splitlines())
        by_heading[heading[0]] = rows
    return by_heading


@pytest.mark.parametrize(
    "name, entries",
    [*LISTS.items(), *DECLARED.items(), ("fix", FIXES), ("realism", REALISM)],
)
def test_the_page_defines_every_entry(name, entries):
    rows = tables(PAGE)[name]
    assert tuple(row[0] for row in rows) == entries
    assert all(cell for row in rows for cell in row)


def test_every_bug_of_the_catalogue_is_classified():
    for bug in CATALOG:
        assert all(getattr(bug.labels, name) in entries for name, entries in LISTS.items()), bug.id
        assert all(case.provenance for case in bug.cases.values()), bug.id


def cases_of(cell):
    """The IDs of the cases that a cell names as BUG, or as BUG/CASE, CASE."""
    bug, _, names = cell.partition("/")
    return [f"{bug}/{case}" for case in (names.split(", ") if names else CATALOG.bug(bug).cases)]


def test_the_page_of_licences_names_the_programs_that_follow_another():
    rows = tables((ROOT / "LICENSES.md").read_text())["cases"]
    provenance = {case.id: case.provenance for bug in CATALOG for case in bug.cases.values()}
    listed = [(case, realism) for cell, realism, _, _ in rows for case in cases_of(cell)]
    expected = {
        case: origin.realism for case, origin in provenance.items() if origin.realism != "our own"
    }
    assert dict(listed) == expected
    assert len(listed) == len(expected)
    for cell, _, after, licence in rows:
        for case in cases_of(cell):
            origins = provenance[case].derived_from
            assert licence.split(";")[0] in {origin.licence for origin in origins}
            by_traincheck = any("TrainCheck" in origin.author for origin in origins)
            assert "TrainCheck" not in after or by_traincheck, case


def test_numbers_have_every_entry_and_each_bug_once_a_list(toy):
    bug = toy.bug
    compiled = replace(bug, labels=replace(bug.labels, location="compiler", cause=None))
    numbers = count([bug, bug, compiled, replace(bug, retired="2026-11-01: a test")])
    assert {name: tuple(rows) for name, rows in numbers.items() if name != "cause"} == {
        "effect": LISTS["effect"],
        "stage": LISTS["stage"],
        "realism": REALISM,
        **DECLARED,
    }
    assert tuple(numbers["cause"]) == (*LISTS["cause"], "not said")
    assert len(numbers) == 9
    for rows in numbers.values():
        assert sum(sum(row.values()) for row in rows.values()) == 3
    assert numbers["cause"]["wrong logic"]["user code"] == 2
    assert numbers["cause"]["not said"]["compiler"] == 1
    assert numbers["stage"]["data"]["user code"] == 2
    assert numbers["stage"]["data"]["compiler"] == 1
    assert numbers["realism"]["original"]["compiler"] == 1
    assert not any(numbers["effect"]["no learning"].values())


def test_retired_bugs_injected_faults_and_cases_that_nobody_ran_do_not_count(toy):
    bug = toy.bug
    injected = replace(bug, declared=replace(bug.declared, code_at_fault="injected"))
    retired = replace(bug, retired="2026-11-01: a test")
    bugs = [bug, injected, retired]
    assert counted_bugs(bugs) == [bug]
    assert count(bugs)["harm"]["reported"]["user code"] == 1
    harms = count_harm(bugs)
    assert harms["re-created"]["reported"] == 1
    assert harms["injected"]["reported"] == 1
    assert sum(sum(row.values()) for row in harms.values()) == 2
    unrun = replace(bug.cases["only"], never_run=True)
    assert counted_cases(bug) == [bug.cases["only"]]
    assert counted_cases(replace(bug, cases={"only": unrun})) == []


def test_bugs_of_one_family_count_once(toy):
    alone = toy.bug
    related = replace(alone, id="Toy-2", declared=replace(alone.declared, family="factors"))
    assert count_families([alone]) == 1
    assert count_families([alone, related, replace(related, id="Toy-3")]) == 2


def test_realism_is_not_said_where_there_is_no_provenance(toy):
    toy.configure(provenance=None)
    assert count([toy.bug])["realism"]["not said"]["user code"] == 1
