"""The sanitizer's invariants, read from its source without running it."""

import json
import subprocess

import pytest
from support.paths import ROOT

from evaluation.watching import invariants
from runner.errors import CatalogError

SANITIZER = ROOT / "detectors" / "sanitizer"
BASE = 'class Invariant:\n    NAME, SEVERITY, LIGHT = "", "error", True\n'
TWO = '''
from sanitizer_invariants.base import Invariant


class First(Invariant):
    """The first
    statement.

    Why: more.
    """

    NAME = "first"


class Second(First):
    """Another one."""

    NAME = "second"
    SEVERITY, LIGHT = "info", False


class Helper(Invariant):
    NAME = "helper"
'''
ALL = "from sanitizer_invariants.two import First, Second\n\nALL = (Second, First)\n"


def write(folder, **files):
    (folder / "sanitizer_invariants").mkdir()
    for name, text in files.items():
        (folder / "sanitizer_invariants" / f"{name}.py").write_text(text)
    return folder


def test_names_severities_and_statements(tmp_path):
    found = invariants.read(write(tmp_path, base=BASE, two=TWO, __init__=ALL))
    assert found == (
        invariants.Invariant("second", "info", False, "Another one."),
        invariants.Invariant("first", "error", True, "The first statement."),
    )


@pytest.mark.parametrize(
    "files, problem",
    [
        ({}, "cannot be read"),
        ({"__init__": "ALL = [1"}, "cannot be read"),
        ({"__init__": "MOST = ()"}, "there is no ALL"),
        ({"__init__": ALL}, "there is no class Second"),
    ],
)
def test_what_is_no_list_of_invariants(tmp_path, files, problem):
    with pytest.raises(CatalogError, match=problem):
        invariants.read(write(tmp_path, **files))


def test_each_has_a_name_of_its_own_and_a_statement():
    found = invariants.read(SANITIZER)
    assert len({each.name for each in found}) == len(found) > 0
    assert all(
        each.name and each.statement.endswith(".") and each.severity in ("error", "info")
        for each in found
    )


@pytest.mark.real
def test_the_source_is_read_as_python_does(torch_python):
    code = (
        "import json\nfrom sanitizer_invariants import ALL\n"
        "first = lambda each: ' '.join(each.__doc__.split('\\n\\n')[0].split())\n"
        "print(json.dumps([[each.NAME, each.SEVERITY, each.LIGHT, first(each)] for each in ALL]))"
    )
    said = subprocess.check_output([torch_python, "-c", code], cwd=SANITIZER)
    assert [
        [e.name, e.severity, e.light, e.statement] for e in invariants.read(SANITIZER)
    ] == json.loads(said)
