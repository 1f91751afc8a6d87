"""Patches with the numbers of the fixed twin, with other parameters."""

import pytest
from msgspec import structs
from support.paths import ROOT
from support.toy import toy_config

from evaluation.repair import drawn_seeds
from evaluation.repair.grading import grade
from evaluation.repair.patches import Patch
from evaluation.repair.tasks import repairable
from evaluation.repair.variations import variations
from evaluation.repair.varying import vary
from runner.bugs.catalog import Catalog

ID = "0123456789abcdef"
CHANGES = ("num_epoch = 1", "num_epoch = 2", "num_epoch = 4", "num_epoch = 6")


@pytest.fixture
def target(toy, toy_environment, monkeypatch):
    # Where the fault is in the measurement, a patch may change what is recorded.
    labels = toy_config()["labels"] | {"stage": "evaluation", "effect": "wrong evaluation"}
    toy.configure(labels=labels)
    monkeypatch.setattr(drawn_seeds, "draw_seeds", lambda count: tuple(range(5000, 5000 + count)))
    (found,), _ = repairable(toy.catalog)
    return found


@pytest.fixture
def varied(toy, target):
    """The grade of a program, and what becomes of it with other parameters."""

    def grade_and_vary(script):
        patches, targets = [Patch(ID, script=script)], {ID: target}
        session = toy.session()
        grades = grade(session, patches, targets, 0)
        (result,) = vary(session, patches, targets, grades)
        return result

    return grade_and_vary


def fixed_text(toy):
    return (toy.directory / "fixed.py").read_text()


def parameters_of(target, **changes):
    program = structs.replace(target.case.program, parameters=changes)
    return structs.replace(target.case, program=program)


def test_the_fixed_twin_is_the_same_with_all_parameters(varied, toy):
    result = varied(fixed_text(toy))
    assert result.is_same
    assert result.varied.is_same
    assert result.varied.tried == result.varied.same == CHANGES
    assert result.varied.difference == ""


def mended_only_if(condition, toy):
    text = fixed_text(toy)
    cheat = text.replace("2 * epoch", f"(2 if {condition} else 1) * epoch")
    assert cheat != text
    return cheat


def test_a_mend_for_the_measured_parameters_alone_is_told(varied, toy):
    result = varied(mended_only_if('config["num_epoch"] <= 3', toy))
    assert result.is_same
    assert not result.varied.is_same
    assert result.varied.same == CHANGES[:2]
    assert result.varied.difference == ("num_epoch = 4: accuracy is 1, and 2 in the fixed program")


def test_a_program_that_fails_with_another_parameter_is_not_the_same(varied, toy):
    text = fixed_text(toy)
    result = varied(
        text.replace("records = []", 'records = [][0 * (1 // (6 - config["num_epoch"])) :]')
    )
    assert result.varied.same == CHANGES[:3]
    assert "num_epoch = 6: crashed" in result.varied.difference
    assert "ZeroDivisionError" in result.varied.difference


def test_a_change_with_which_the_fixed_twin_fails_does_not_count(varied, toy):
    text = fixed_text(toy).replace("records = []", 'records = []\nassert config["num_epoch"] != 4')
    toy.write("fixed.py", text)
    assert varied(text).varied.tried == ("num_epoch = 1", "num_epoch = 2", "num_epoch = 6")


def test_a_patch_with_other_numbers_runs_with_no_other_parameters(varied, toy):
    result = varied((toy.directory / "buggy.py").read_text())
    assert (result.outcome, result.varied) == ("NOT FIXED", None)
    assert not list(toy.results.rglob("*study-vary*"))


def test_each_number_and_flag_is_changed_alone(target):
    case = parameters_of(
        target,
        width=4,
        rate=0.5,
        dropout=0.0,
        bias=True,
        name="x",
        seed=3,
        device="cpu",
        output="m",
    )
    found = variations(case)
    assert [*found] == [
        *(f"width = {value}" for value in (1, 3, 5, 8)),
        *(f"rate = {value}" for value in (0.0, 1.0)),
        "dropout = 1.0",
        "bias = False",
    ]
    changed = found["width = 8"]
    assert changed.program.parameters == {**case.program.parameters, "width": 8}
    assert changed.oracle.expectations == ()
    assert {variant.records for variant in changed.program.variants.values()} == {None}
    assert len({item.name for item in found.values()}) == len(found)


@pytest.mark.parametrize(("value", "others"), [(0, [1]), (1, [0, 2]), (2, [1, 3, 4])])
def test_no_value_stands_twice_and_none_is_negative(target, value, others):
    case = parameters_of(target, width=value)
    assert [item.program.parameters["width"] for item in variations(case).values()] == others


def test_the_page_says_how_many_changes_a_case_has():
    counts = [len(variations(target.case)) for target in repairable(Catalog(ROOT))[0]]
    page = " ".join((ROOT / "docs" / "repairs.md").read_text(encoding="utf-8").split())
    mean = sum(counts) // len(counts)
    assert f"A case has {min(counts)} to {max(counts)} changes, {mean} in the mean" in page
