"""The sanitizer's invariants, read from its source without running it."""

import ast
import json
import re
import subprocess

import pytest
from support.paths import ROOT

from evaluation.watching import invariants
from runner.errors import CatalogError

SANITIZER = ROOT / "detectors" / "sanitizer"
FROZEN = ROOT / "detectors" / "sanitizer-3"
BASE = 'class Invariant:\n    NAME, SEVERITY, LIGHT = "", "error", True\n'
TWO = '''
from sanitizer_invariants.tools.invariant import Invariant


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
ORDER = 'ORDER = ("second", "first")\n'


def write(folder, **files):
    """A sanitizer with these files; two underscores in a name divide a folder from what is in
    it.
    """
    for name, text in files.items():
        parts = [name] if name == "__init__" else name.split("__")
        path = folder.joinpath("sanitizer_invariants", *parts).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_names_severities_and_statements(tmp_path):
    sanitizer = write(tmp_path, tools__invariant=BASE, losses__two=TWO, __init__=ORDER)
    assert invariants.read(sanitizer) == (
        invariants.Invariant("second", "info", False, "Another one."),
        invariants.Invariant("first", "error", True, "The first statement."),
    )


@pytest.mark.parametrize(
    "files, problem",
    [
        ({}, "cannot be read"),
        ({"__init__": "ORDER = [1"}, "cannot be read"),
        ({"__init__": "MOST = ()"}, "there is no ORDER"),
        ({"__init__": ORDER}, "there is no invariant 'second'"),
    ],
)
def test_a_source_without_a_list_of_invariants_is_refused(tmp_path, files, problem):
    with pytest.raises(CatalogError, match=problem):
        invariants.read(write(tmp_path, **files))


def test_names_are_unique_and_each_has_a_statement():
    declared = invariants.read(SANITIZER)
    assert declared
    assert len({invariant.name for invariant in declared}) == len(declared)
    for invariant in declared:
        assert invariant.name
        assert invariant.statement.endswith(".")
        assert invariant.severity in ("error", "info")


@pytest.mark.real
def test_the_source_is_read_as_python_does(torch_python):
    code = (
        "import json\nfrom sanitizer_invariants import ALL\n"
        "first = lambda each: ' '.join(each.__doc__.split('\\n\\n')[0].split())\n"
        "print(json.dumps([[each.NAME, each.SEVERITY, each.LIGHT, first(each)] for each in ALL]))"
    )
    output = subprocess.check_output([torch_python, "-c", code], cwd=SANITIZER)
    expected = [
        [invariant.name, invariant.severity, invariant.light, invariant.statement]
        for invariant in invariants.read(SANITIZER)
    ]
    assert json.loads(output) == expected


def test_it_begins_with_the_invariants_of_version_3_in_the_same_order():
    tree = ast.parse((FROZEN / "sanitizer_invariants" / "__init__.py").read_text())
    (classes,) = [node.value for node in tree.body if isinstance(node, ast.Assign)]
    assert isinstance(classes, ast.Tuple)
    class_names = [element.id for element in classes.elts if isinstance(element, ast.Name)]
    names = [re.sub(r"(?<!^)([A-Z])", r"-\1", name).lower() for name in class_names]
    declared = invariants.read(SANITIZER)
    assert [invariant.name for invariant in declared][: len(names)] == names


@pytest.mark.real
def test_each_invariant_says_which_version_was_the_first_to_have_it(torch_python):
    code = (
        "import json\nfrom sanitizer_invariants import ALL\n"
        "print(json.dumps({each.NAME: each.VERSION for each in ALL}))"
    )
    versions = json.loads(subprocess.check_output([torch_python, "-c", code], cwd=SANITIZER))
    readme = (SANITIZER / "README.md").read_text()
    marks = dict(re.findall(r"^\| `([a-z-]+)` (?:\((\d)\) )?\|", readme, re.M))
    assert {name: str(version) for name, version in versions.items()} == {
        name: mark or "1" for name, mark in marks.items()
    }
    rule = json.loads((FROZEN / "detector.json").read_text())["alarm_rules"]["version-1"]
    assert sorted(name for name, version in versions.items() if version == 1) == rule["codes"]
