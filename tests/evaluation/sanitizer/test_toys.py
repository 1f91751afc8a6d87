"""Toys of invariants, in the folder beside: faulty ones are accused of their invariant alone, right ones of nothing."""

import runpy
from functools import cache
from pathlib import Path

import pytest
from support import toys

FOUND = {
    path.stem: runpy.run_path(str(path))
    for path in sorted(Path(__file__).with_name("toys").glob("*.py"))
}
ACCUSED = [
    (stem, name, [found["NAME"]]) for stem, found in FOUND.items() for name in found["WRONG"]
]
SILENT = [(stem, name, []) for stem, found in FOUND.items() for name in found["RIGHT"]]


def test_each_has_both_and_none_is_both():
    assert len(FOUND) > 20
    assert {found["NAME"].replace("-", "_") for found in FOUND.values()} == set(FOUND)
    assert all(
        found["WRONG"] and found["RIGHT"] and not found["WRONG"].keys() & found["RIGHT"]
        for found in FOUND.values()
    )


@pytest.fixture(scope="session")
def said(torch_python, tmp_path_factory):
    """What is said of all toys of an invariant, which are run once."""

    @cache
    def of(stem):
        return toys.run(
            torch_python, tmp_path_factory.mktemp(stem), FOUND[stem]["WRONG"] | FOUND[stem]["RIGHT"]
        )

    return of


# Those of one invariant follow each other, so that a process that takes a part of them runs them once.
@pytest.mark.real
@pytest.mark.parametrize("stem, name, accused", sorted(ACCUSED + SILENT))
def test_what_is_said(said, stem, name, accused):
    assert list(said(stem)[name].errors) == accused
