"""Each invariant accuses the toys that break it, of that and nothing else,
and is silent on those that keep it.
"""

from functools import cache
from pathlib import Path

import pytest
from support import toys
from support.paths import ROOT

from evaluation.watching import invariants

FILES = sorted(Path(__file__).with_name("toys").glob("*.py"))
TOYS = {path.stem: toys.load(path) for path in FILES}
SANITIZER = ROOT / "detectors" / "sanitizer"


def names_of(part):
    """The names of the toys in a part of each file, sorted,
    so that those of a file follow each other.
    """
    return [
        (stem, name) for stem, file in sorted(TOYS.items()) for name in sorted(getattr(file, part))
    ]


@pytest.fixture(scope="session")
def verdict(torch_python, tmp_path_factory):
    """A function that returns the verdict on a toy. The toys of a file run when the first of them
    is asked for.
    """

    @cache
    def verdicts(stem):
        return toys.run(torch_python, tmp_path_factory.mktemp(stem), TOYS[stem].programs)

    def verdict_on(stem, kind, name):
        return verdicts(stem)[f"{kind} {name}"]

    return verdict_on


def test_each_invariant_has_its_file():
    names = {invariant.name.replace("-", "_") for invariant in invariants.read(SANITIZER)}
    assert set(TOYS) == names


@pytest.mark.parametrize("stem", TOYS)
def test_a_file_has_toys_of_both_kinds_and_names_its_invariant(stem):
    file = TOYS[stem]
    faulty = {*file.wrong.values(), *file.advised.values()}
    assert file.name.replace("-", "_") == stem
    assert faulty
    assert file.right
    assert not faulty & set(file.right.values())


@pytest.mark.parametrize("stem", TOYS)
def test_all_that_is_said_of_toys_is_said_of_toys_that_are_there(stem):
    file = TOYS[stem]
    assert set(file.others) <= set(file.right)
    for expected in (file.iterations, file.apis, file.parameters, file.lines):
        assert set(expected) <= set(file.wrong)
    assert set(file.outputs) <= set(file.right)


@pytest.mark.real
@pytest.mark.parametrize("stem, name", names_of("wrong"))
def test_a_wrong_toy_is_accused_of_its_invariant_alone(verdict, stem, name):
    file, errors = TOYS[stem], verdict(stem, "wrong", name).errors
    assert list(errors) == [file.name]
    if name in file.iterations:
        assert errors == {file.name: file.iterations[name]}


def first_alarm(verdict, stem, name):
    """The first alarm of the file's invariant: another one may advise before it."""
    alarms = verdict(stem, "wrong", name).alarms
    return next(alarm for alarm in alarms if alarm["code"] == TOYS[stem].name)


@pytest.mark.real
@pytest.mark.parametrize("stem, name", names_of("apis"))
def test_the_first_alarm_names_the_api(verdict, stem, name):
    assert first_alarm(verdict, stem, name)["api"] == TOYS[stem].apis[name]


@pytest.mark.real
@pytest.mark.parametrize("stem, name", names_of("parameters"))
def test_the_first_alarm_names_the_parameter(verdict, stem, name):
    assert first_alarm(verdict, stem, name)["parameter"] == TOYS[stem].parameters[name]


@pytest.mark.real
@pytest.mark.parametrize("stem, name", names_of("lines"))
def test_the_first_alarm_names_the_line(verdict, stem, name):
    expected, number = TOYS[stem].lines[name], first_alarm(verdict, stem, name)["line"]
    if isinstance(expected, int):
        assert number == expected
    else:
        assert expected in (toys.HEAD + TOYS[stem].wrong[name]).splitlines()[number - 1]


@pytest.mark.real
@pytest.mark.parametrize("stem, name", names_of("advised"))
def test_an_odd_toy_gets_advice(verdict, stem, name):
    result = verdict(stem, "advised", name)
    assert result.errors == {}
    assert toys.sure_advice(TOYS[stem], result) == (TOYS[stem].name,)


@pytest.mark.real
@pytest.mark.parametrize("stem, name", names_of("right"))
def test_a_right_toy_is_not_accused(verdict, stem, name):
    file, result = TOYS[stem], verdict(stem, "right", name)
    assert set(result.errors) == set(file.others.get(name, ()))
    if file.silent:
        assert toys.sure_advice(file, result) == ()


@pytest.mark.real
@pytest.mark.parametrize("stem, name", names_of("outputs"))
def test_a_toy_prints_what_it_prints_alone(verdict, stem, name):
    word, count = TOYS[stem].outputs[name]
    assert verdict(stem, "right", name).output.count(word) == count
