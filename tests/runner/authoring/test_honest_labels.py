"""Rules about labels, sites and names; each is broken once and must complain."""

import pytest
from support.copies import replace
from support.paths import ROOT
from support.records import as_pinned
from support.toy import toy_config

from runner.authoring.labels import check_wrong_evaluation
from runner.authoring.scripts import check_tells
from runner.authoring.together import check_affected, check_versions
from runner.authoring.truth import check_site
from runner.authoring.validate import problems
from runner.bugs.catalog import load_bug
from runner.results.expected import expected_records
from runner.session.promote import promote_runs


@pytest.fixture
def whole(toy, toy_environment):
    """The toy bug with its records."""
    promote_runs([as_pinned(toy.run())])
    return toy


def test_a_name_that_only_the_fix_uses_tells(toy):
    assert list(check_tells(toy.bug)) == []
    for name in ("buggy.py", "fixed.py"):
        text = (toy.directory / name).read_text()
        toy.write(name, "import math\n" + text)
    assert list(check_tells(toy.bug)) == [], "neither uses it"
    toy.write("fixed.py", (toy.directory / "fixed.py").read_text() + "print(math.pi)\n")
    (problem,) = check_tells(toy.bug)
    assert problem.startswith("buggy.py: binds math and never uses it, and fixed.py does")
    toy.configure(status={"state": "retired", "since": "2026-11-21", "reason": "a test"})
    assert list(check_tells(toy.bug)) == []


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"api": "json.dumps"}, None),
        ({"api": "torch.optim.Adam"}, "Adam does not stand within 5 lines of buggy.py:9"),
        ({"api": "torch.optim.Adam", "implicit": "it is missing"}, None),
        ({"implicit": "it is missing"}, "site.implicit is given, and print stands within"),
    ],
)
def test_the_api_stands_near_the_line_or_the_site_says_why_not(toy, changes, words):
    toy.configure(site=toy_config()["site"] | changes)
    problem = next(check_site(toy.bug, toy.root), None)
    assert (words in problem) if words else problem is None


def evaluation_problems(toy, **labels):
    toy.configure(labels=toy_config()["labels"] | {"effect": "wrong evaluation", **labels})
    bug = toy.bug
    records = expected_records(bug, "only")
    return list(check_wrong_evaluation(bug, bug.cases["only"], records))


def test_wrong_evaluation_needs_training_that_begins_alike(whole):
    (problem,) = evaluation_problems(whole, stage="evaluation")
    assert "labels.effect is wrong evaluation, and no metric is equal" in problem
    assert evaluation_problems(whole, stage="data") == [], "a leak"
    bug = whole.bug
    records = expected_records(bug, "only")
    alike = [replace(record, metrics=records[0].metrics) for record in records]
    assert list(check_wrong_evaluation(bug, bug.cases["only"], alike)) == []


def test_a_release_with_a_buggy_record_is_affected():
    """By a bug of the catalogue, whose code at fault is installed."""
    bug = load_bug(ROOT / "bugs" / "PyTorch-116494")
    case = bug.cases["none"]
    records = expected_records(bug, "none")
    assert list(check_affected(bug, case, records, ROOT)) == []
    versions = replace(bug.affected, versions=("1.0.0",))
    (problem,) = check_affected(replace(bug, affected=versions), case, records, ROOT)
    assert problem == (
        "config.json: expected/none shows the fault in torch 2.3.1; add it to affected"
    )
    (problem,) = check_affected(replace(bug, affected=None), case, records, ROOT)
    assert problem.startswith("affected is missing")


def test_affected_and_fixed_are_releases_of_what_is_installed():
    bug = load_bug(ROOT / "bugs" / "PyTorch-116494")
    assert list(check_versions(bug, ROOT)) == []
    misspelt = replace(bug.affected, package="troch")
    (problem,) = check_versions(replace(bug, affected=misspelt), ROOT)
    assert problem.startswith("config.json: affected.package is 'troch', not in torch-2.3.1 (did")
    both = replace(bug, fixed=bug.affected)
    assert list(check_versions(both, ROOT)) == [
        f"config.json: affected and fixed both name torch {version}"
        for version in sorted(bug.affected.versions)
    ]


def test_validate_says_once_what_is_not_installed(toy, toy_environment):
    """Before there is a record, and not once for each case."""
    case = toy_config()["cases"]["only"]
    toy.configure(
        affected={"package": "toypackag", "versions": ["1.0"]}, cases={"only": case, "other": case}
    )
    found = [line for line in problems(toy.directory, toy.root) if "affected.package" in line]
    assert found == [
        "config.json: affected.package is 'toypackag', not in toy (did you mean toypackage?)"
    ]


def test_a_case_that_nobody_ran_says_so_and_has_no_records(whole):
    cases = toy_config()["cases"]
    cases["only"]["never_run"] = True
    whole.configure(cases=cases)
    (problem,) = problems(whole.directory, whole.root)
    assert "never_run is true, and expected/only has records" in problem
    cases["only"]["needs"] = ["gpu"]
    del cases["only"]["never_run"]
    whole.configure(cases=cases)
    for path in (whole.directory / "expected" / "only").iterdir():
        path.unlink()
    assert any(
        "expected/only has 0 of 4 runs" in line for line in problems(whole.directory, whole.root)
    )
