"""Controls and bugs' scripts look alike: no line,
name or word of many of the ones is in none of the others.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable

import pytest
from support.paths import ROOT

from evaluation.catalog import controls
from runner.bugs.catalog import Catalog

# Of controls, or of scripts of bugs.
MANY = 1 / 3


def programs():
    """The texts and the parameters of all controls, and of all scripts of bugs."""
    catalog = Catalog(ROOT)
    targets = {"controls": controls.load(ROOT).targets(), "bugs": catalog.select(catalog.active())}
    texts, parameters = {}, {}
    for kind, targets_of_kind in targets.items():
        shown = [target.case.program for target in targets_of_kind]
        scripts = {variant.script for program in shown for variant in program.variants.values()}
        texts[kind] = [path.read_text() for path in sorted(scripts)]
        parameters[kind] = [set(program.parameters) for program in shown]
    return texts, parameters


TEXTS, PARAMETERS = programs()


def lines(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines()}


def words(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w+", text))


def definitions(text: str) -> set[str]:
    kinds = ast.FunctionDef | ast.ClassDef
    return {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)}


def imports(text: str) -> set[str]:
    return {
        ast.unparse(node)
        for node in ast.parse(text).body
        if isinstance(node, ast.Import | ast.ImportFrom)
    }


def marks(many: list[set[str]], contrast: list[set[str]], share: float) -> list[str]:
    """What more than that share of the first programs have, and no program of the contrast."""
    count = Counter(mark for marked in many for mark in marked)
    elsewhere = set().union(*contrast)
    return sorted(
        mark
        for mark, number in count.items()
        if number > share * len(many) and mark not in elsewhere
    )


@pytest.mark.parametrize("kind", [lines, words, definitions, imports])
def test_nothing_that_many_controls_have_is_in_no_bug(kind: Callable[[str], set[str]]):
    ours, bugs = [*map(kind, TEXTS["controls"])], [*map(kind, TEXTS["bugs"])]
    assert len(ours) >= 68
    assert marks(ours, bugs, MANY) == []


@pytest.mark.parametrize("kind", [lines, definitions, imports])
def test_nothing_that_many_bugs_have_is_in_no_control(kind: Callable[[str], set[str]]):
    ours, bugs = [*map(kind, TEXTS["controls"])], [*map(kind, TEXTS["bugs"])]
    assert marks(bugs, ours, MANY) == []


# docs/records.md tells of it. A new text of a control makes its records stale: the next one has it.
MARK = "validation_loss"


def test_one_word_and_no_parameter_is_in_nearly_all_bugs_and_in_no_control():
    """What programs are about differs, so that words of the themes of bugs are in no control."""
    ours, bugs = [*map(words, TEXTS["controls"])], [*map(words, TEXTS["bugs"])]
    assert marks(bugs, ours, 0.6) == [MARK]
    page = (ROOT / "docs" / "records.md").read_text()
    assert f"`{MARK}` is in {sum(MARK in text for text in bugs)} of {len(bugs)} scripts" in page
    assert marks(PARAMETERS["bugs"], PARAMETERS["controls"], MANY) == []


def test_no_parameter_of_many_controls_is_in_no_bug_and_most_have_as_many_as_bugs():
    assert marks(PARAMETERS["controls"], PARAMETERS["bugs"], MANY) == []
    fewest = min(len(names) for names in PARAMETERS["bugs"])
    assert sum(len(names) < fewest for names in PARAMETERS["controls"]) <= MANY * len(
        PARAMETERS["controls"]
    )


def test_controls_import_nothing_of_their_own():
    """A detector is shown the script and config.json alone."""
    folder = ROOT / "detectors" / "controls"
    modules = {path.stem for path in folder.glob("*.py")}
    imported = {
        name.split()[1].split(".")[0] for text in TEXTS["controls"] for name in imports(text)
    }
    assert not imported & modules
    assert {"json", "sys", "torch"} <= imported
