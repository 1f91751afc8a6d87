"""Rewritten programs: names, order, statements and layout change; what a program does,
and how twins differ, not.
"""

import ast
import io
import random
from contextlib import redirect_stdout

import pytest
from support.paths import ROOT

from evaluation.catalog import controls
from evaluation.rewriting.layout import RewriteError, parse_program
from evaluation.rewriting.names import choose_names
from evaluation.rewriting.twins import difference, names_to_keep, rewrite
from runner.bugs.catalog import Catalog

PROGRAM = '''\
"""What it does."""
import functools
from dataclasses import dataclass

LIMIT = 3  # a comment


def last(values):
    """The last one."""
    return values[-1]


def double(function):
    @functools.wraps(function)
    def doubled(value, times=2):
        return times * function(value)
    return doubled


@double
def plus(value):
    return value + LIMIT


@dataclass
class Point:
    x: int
    label: str = "p"

    def moved(self, by):
        return Point(self.x + by, label=self.label)


class Far(Point):
    limit = plus(1)


def main(seed):
    total = 0
    for number in range(seed):
        total += plus(number)
        if total > 20:
            total -= 1
    try:
        raise ValueError(total)
    except ValueError as error:
        caught = error.args[0]
    squares = [number * number for number in range(3) if (even := number % 2 == 0)]
    print(total, caught, squares, even, Far(2).moved(by=3).x, Far.limit, last(squares), f"{total=}")


main(7)
'''


def output(text):
    out = io.StringIO()
    with redirect_stdout(out):
        exec(compile(text, "program.py", "exec"), {"__name__": "__main__"})
    return out.getvalue()


def names_in(text):
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


@pytest.mark.parametrize("seed", range(8))
def test_a_rewritten_program_does_the_same(seed):
    text = rewrite({"": PROGRAM}, seed)[""].text
    assert output(text) == output(PROGRAM)
    assert "comment" not in text
    assert "The last one" not in text
    assert not names_in(text) & {
        "total",
        "squares",
        "caught",
        "plus",
        "doubled",
        "LIMIT",
        "Far",
        "last",
    }


def test_what_others_call_by_name_stays():
    text = rewrite({"": PROGRAM}, 1, {"seed"})[""].text
    for word in (
        "def main(",
        "seed",
        "times=2",
        "self.x",
        "by=3",
        "def moved(",
        "limit = ",
        "label=",
        "functools.wraps",
    ):
        assert (word in text) == (word != "def main("), word


def test_seeds_differ_and_repeat():
    first, second, again = (rewrite({"": PROGRAM}, seed)[""].text for seed in (1, 2, 1))
    assert first == again
    assert second != again
    assert [node.name for node in ast.parse(first).body if hasattr(node, "name")]


def test_definitions_change_their_order():
    """What a decorator or a class needs stays before it: the program runs, above."""
    orders = set()
    for seed in range(20):
        body = ast.parse(rewrite({"": PROGRAM}, seed)[""].text).body
        functions = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        orders.add(tuple(len(ast.dump(node)) for node in functions))
    assert len(orders) > 5


@pytest.mark.parametrize(
    "text, name",
    [
        ("x = 1\nprint(globals()['x'])", "x"),
        ("def f(size):\n    return size\nf(**{'size': 1})", "size"),
        ("def f(size):\n    return size\nf(size=1)", "size"),
        ("def f(size=1):\n    return size\nf()", "size"),
        ("def f(*, size):\n    return size", "size"),
        ("import torch\ntorch.x = 1", "torch"),
        ("from torch import nn as layers\nlayers.x", "layers"),
        ("class A:\n    size = 1\n    twice = 2 * size", "size"),
        ("class A(Callback):\n    def call(self, batch):\n        return batch", "batch"),
        ("def f(a: 'Net'):\n    pass\nclass Net:\n    pass", "Net"),
        ("max = 3\nprint(max)", "max"),
        (
            "def f(v):\n    match v:\n        case [first, *rest]:\n            return first",
            "first",
        ),
    ],
)
def test_names_that_may_be_reached_in_other_ways_stay(text, name):
    assert name not in choose_names([parse_program(text)], 1, set())


def test_names_of_variables_change():
    text = (
        "def f(batch):\n    global count\n    count = len(batch)\n    return lambda item: item + "
        "count"
    )
    assert choose_names([parse_program(text)], 1, set()).keys() == {"f", "batch", "count", "item"}


def test_a_module_keeps_what_others_import():
    text = rewrite(
        {"": "HALF = 2\ndef load(name):\n    part = name\n    return part"}, 1, module=True
    )[""].text
    assert "HALF" in text
    assert "def load(" in text
    assert "part" not in text


TWINS = {
    "a line more": ("step()", "clear()\n        step()"),
    "a line less": ("step()\n        clear()", "step()"),
    "in another order": ("step()\n        clear()", "clear()\n        step()"),
    "other arguments": ("step(1)", "step(2)"),
    "twice": ("step()\n        step()", "step()"),
    "a block": ("step()", "if count:\n            step()\n            clear()"),
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("twin", TWINS)
def test_twins_differ_as_they_did(twin, seed):
    body = (
        "count = 0\n    for epoch in range(3):\n        count += 1\n        FIX\n        count += 1"
    )
    texts = [f"def main():\n    {body}\n".replace("FIX", fix) for fix in TWINS[twin]]
    rewritten = rewrite({"buggy": texts[0], "fixed": texts[1]}, seed)
    before = difference(map(ast.parse, texts))
    assert before > 0
    assert difference(ast.parse(program.text) for program in rewritten.values()) == before


def cases():
    return [(bug, case) for bug in Catalog(ROOT) for case in bug.cases.values()]


@pytest.mark.parametrize("bug, case", cases(), ids=lambda part: getattr(part, "name", ""))
def test_every_script_can_be_rewritten(bug, case):
    variants = case.program.variants
    texts = {name: variants[name].script.read_text() for name in ("buggy", "fixed")}
    probe = bug.probe.read_text() if bug.probe else None
    reserved = names_to_keep(case.program.parameters, probe, bug.site.api)
    seed = random.Random(case.id).randrange(1000)
    rewritten = rewrite(texts, seed, reserved)
    assert rewritten == rewrite(texts, seed, reserved), "not the same for the same seed"
    trees = {
        name: (parse_program(texts[name]), parse_program(rewritten[name].text)) for name in texts
    }
    before = difference([old for old, _ in trees.values()])
    assert before > 0
    assert difference([new for _, new in trees.values()]) == before
    for name, (old, new) in trees.items():
        old_names, new_names = names_in(texts[name]), names_in(rewritten[name].text)
        lost = (old_names & reserved) - new_names
        assert not lost, "a name that the probe looks at, or a parameter, is gone"
        assert len(old_names - new_names) >= 4, "hardly a name has changed"
        assert fields(old, ast.Attribute, "attr") == fields(new, ast.Attribute, "attr")
        assert fields(old, ast.keyword, "arg") == fields(new, ast.keyword, "arg")
    if bug.site.file == variants["buggy"].script.name:
        line = rewritten["buggy"].text.splitlines()[rewritten["buggy"].lines[bug.site.line] - 1]
        nodes = [
            node
            for node in ast.walk(trees["buggy"][0])
            if getattr(node, "lineno", 0) == bug.site.line
        ]
        assert all(node.attr in line for node in nodes if isinstance(node, ast.Attribute))


def fields(tree, kind, name):
    return sorted(str(getattr(node, name)) for node in ast.walk(tree) if isinstance(node, kind))


def test_every_module_and_control_can_be_rewritten():
    for bug in Catalog(ROOT):
        for module in bug.shared:
            assert rewrite({"": module.read_text()}, 3, module=True)[""].text
    for target in controls.load(ROOT).targets():
        text = target.case.program.variants["fixed"].script.read_text()
        new = rewrite({"": text}, 3, names_to_keep(target.case.program.parameters, None, ""))[
            ""
        ].text
        assert new != text


@pytest.mark.parametrize("text", ["print 1", "x = '\0'", "def f(:"])
def test_what_is_no_python_is_refused(text):
    with pytest.raises(RewriteError, match="cannot be parsed"):
        rewrite({"": text}, 1)
