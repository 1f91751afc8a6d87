"""Mutants: what is changed, where, and what becomes of one that a test sees."""

import pytest
from support.modules import load

mutants = load("benchmarks/mutants.py")


def mutate(tmp_path, text):
    """The texts of a module with one change each."""
    path = tmp_path / "runner" / "module.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    changed = []
    for mutant in mutants._mutants(path):
        mutant.apply(tmp_path)
        changed.append(path.read_text())
        path.write_text(text)
    return changed


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "ROOT", tmp_path)


@pytest.mark.parametrize(
    "before, after",
    [
        ("a == b", "(a != b)"),
        ("a < b", "(a <= b)"),
        ("a and b", "(a or b)"),
        ("not a", "bool(a)"),
        ("a + b", "(a - b)"),
        ("a if b else c", "(c if b else a)"),
        ("True", "False"),
        ("7", "8"),
    ],
)
def test_an_expression_is_changed_where_it_stands(tmp_path, before, after):
    text = "def f(a, b, c):\n    ä = {}  # è\n    return ä\n"
    assert mutate(tmp_path, text.format(before)) == [text.format(after)]


def test_what_no_function_holds_stays(tmp_path):
    assert not mutate(tmp_path, "LIMIT = 3\n\n\nclass A:\n    size: int = 4\n")


def test_a_seed_draws_the_same_mutants_again(tmp_path):
    (tmp_path / "runner").mkdir()
    text = "".join(f"def f{n}(a):\n    return a + {n}\n" for n in range(20))
    (tmp_path / "runner" / "module.py").write_text(text)
    assert mutants.draw(5, seed=1) == mutants.draw(5, seed=1)
    assert mutants.draw(5, seed=1) != mutants.draw(5, seed=2)


def test_a_mutant_is_killed_by_a_test_that_names_its_module(tmp_path):
    (tmp_path / "runner").mkdir()
    (tmp_path / "runner" / "limits.py").write_text("def most(a):\n    return a + 1\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_limits.py").write_text(
        "from runner.limits import most\n\n\ndef test_most():\n    assert most(1) == 2\n"
    )
    fates = [mutants.try_mutant(mutant, tmp_path) for mutant in mutants.draw(9, seed=0)]
    assert [fate.fate for fate in fates] == ["killed", "killed"]
    assert (tmp_path / "runner" / "limits.py").read_text().endswith("return a + 1\n")


def test_a_mutant_without_a_test_survives(tmp_path):
    (tmp_path / "runner").mkdir()
    (tmp_path / "runner" / "limits.py").write_text("def most(a):\n    return a + 1\n")
    fates = [mutants.try_mutant(mutant, tmp_path) for mutant in mutants.draw(1, seed=0)]
    assert [(fate.fate, fate.test) for fate in fates] == [("survived", "no tests")]
