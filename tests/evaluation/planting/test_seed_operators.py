"""Which operators a seed plants: a new one changes no program that an earlier seed planted."""

import ast

import pytest
from support.paths import ROOT
from support.planting import plant_all

from evaluation.catalog import controls
from evaluation.planting import operators, seed_operators
from evaluation.planting.edits import Edit, Operator
from evaluation.planting.operators import OPERATORS
from evaluation.planting.seed_operators import joining_operators, operator_names

EARLIER_SEEDS = (0, 1, 2)
NEW_SEED = 1000


def programs():
    """The texts of some controls."""
    targets = controls.load(ROOT).targets()
    scripts = [target.case.program.variants["fixed"].script for target in targets[::8]]
    return [script.read_text() for script in scripts]


def planted(seed):
    """The first fault of a seed in each of the programs: it is the one that is shown."""
    return [plant_all(text, seed)[0] for text in programs()]


def stop_at_once(tree: ast.Module):
    """A fault that fits every program."""
    yield Edit(1, lambda: tree.body.insert(0, ast.parse("raise SystemExit").body[0]))


@pytest.fixture
def new_operators(monkeypatch):
    """Thirty new operators, so that one of them comes first where they take part;
    they join at NEW_SEED.
    """
    added = tuple(
        Operator(f"new-{number}", f"new {number}", "exit", stop_at_once) for number in range(30)
    )
    joining = joining_operators() | {NEW_SEED: tuple(operator.name for operator in added)}
    monkeypatch.setattr(operators, "OPERATORS", (*OPERATORS, *added))
    monkeypatch.setattr(seed_operators, "joining_operators", lambda: joining)
    return added


@pytest.mark.parametrize("seed", EARLIER_SEEDS)
def test_a_new_operator_changes_no_program_of_an_earlier_seed(seed, request):
    before = planted(seed)
    request.getfixturevalue("new_operators")
    assert planted(seed) == before


def test_a_new_operator_joins_new_seeds(new_operators):
    names = {program.operator.name for program in planted(NEW_SEED)}
    assert names & {operator.name for operator in new_operators}


def test_each_operator_of_the_table_joins_at_some_seed():
    joined = [name for names in joining_operators().values() for name in names]
    assert sorted(joined) == sorted(operator.name for operator in OPERATORS)


def test_a_seed_plants_what_joined_at_it_or_before(monkeypatch):
    monkeypatch.setattr(seed_operators, "joining_operators", lambda: {0: ("a",), 3: ("b", "c")})
    assert operator_names(2) == {"a"}
    assert operator_names(3) == {"a", "b", "c"}
