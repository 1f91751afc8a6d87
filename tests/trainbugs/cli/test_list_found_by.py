"""`trainbugs list --found-by`: the bugs that a detector finds."""

import json
import subprocess
import sys

import pytest
from msgspec.structs import replace
from support.checks import HIT, record
from support.committed import commit_checks
from support.paths import ROOT

from evaluation.model import Rule
from evaluation.scoring.found import found_bugs
from evaluation.scoring.outcomes import outcomes
from evaluation.scoring.scores import scores


def about_toy(*checks):
    return [replace(check, bug="Toy-1", case="only") for check in checks]


def found(checks, rules):
    table = outcomes(checks, {"d": rules})
    return found_bugs(table, scores(table))


@pytest.mark.parametrize(
    "checks, bugs",
    [
        ([record(alarms=[HIT]), record("fixed")], {"B"}),
        ([record(alarms=[HIT]), record("fixed", alarms=[HIT])], set()),
        ([record(), record("fixed")], set()),
        ([record(alarms=[replace(HIT, iteration=1)]), record("fixed")], set()),
        ([record(alarms=[HIT], benign=True), record("fixed", benign=True)], set()),
        ([record(), record("fixed"), record(case="2", alarms=[HIT]), record("fixed", "2")], {"B"}),
    ],
    ids=["paired", "also on fixed", "silent", "early", "benign", "one of two cases"],
)
def test_a_bug_is_found_if_one_of_its_cases_is_paired(checks, bugs):
    assert found(checks, {"default": Rule()}) == bugs


def test_only_the_chosen_rule_counts():
    checks = [record(alarms=[HIT]), record("fixed")]
    assert found(checks, {"default": Rule(codes=("none",)), "other": Rule()}) == set()
    assert found(checks, {"default": Rule(), "other": Rule(codes=("none",))}) == {"B"}


def test_the_command_shows_what_a_detector_finds(cli, toy):
    commit_checks(toy.root, "finds", about_toy(record(alarms=[HIT]), record("fixed")))
    commit_checks(toy.root, "misses", about_toy(record(), record("fixed")))
    status, out, _ = cli("list", "--found-by", "finds", "--json")
    assert status == 0
    assert [bug["id"] for bug in json.loads(out)] == ["Toy-1"]
    assert cli("list", "--found-by", "misses") == (
        2,
        "",
        "trainbugs: misses finds none of these 1 bugs; `trainbugs list` shows all\n",
    )
    assert cli("list", "--found-by", "finds", "--location", "hardware")[0] == 2


def test_an_unknown_detector_is_named(cli, toy):
    commit_checks(toy.root, "finds", about_toy(record(alarms=[HIT]), record("fixed")))
    assert cli("list", "--found-by", "find") == (
        2,
        "",
        "trainbugs: there are no checks of find (did you mean finds?) in the committed records; "
        "there are those of finds\n",
    )


def test_without_the_option_pandas_is_not_imported():
    code = (
        "import sys; from trainbugs.cli.main import main; status = main(['list']); "
        "assert status == 0 and not {'pandas', 'numpy'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
