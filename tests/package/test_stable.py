"""What a release promises to keep: commands with their options, names in Python, columns of tables,
keys of formats, exit statuses.
"""

import argparse
import json

import pytest
from support.paths import ROOT

import trainbugs
from evaluation.watching.small_wheel import INIT
from trainbugs.cli import exits
from trainbugs.cli.root_parser import build_parser

PROMISED = ROOT / "docs" / "stable.txt"


def commands(parser, path):
    """A line for each option and argument of a parser, and of its subcommands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from commands(inner, f"{path} {name}")
        elif action.option_strings:
            for option in action.option_strings:
                yield f"{path} {option}"
        else:
            yield f"{path} {action.metavar or action.dest}"


def formats():
    """A line for each key of a file's outermost object."""
    for path in sorted((ROOT / "docs" / "schemas").glob("*.json")):
        schema = json.loads(path.read_text())
        outermost = schema["$defs"][schema["$ref"].rpartition("/")[2]]
        for key in outermost["properties"]:
            yield f"format {path.stem}: {key}"


def python_names():
    for name in trainbugs.__all__:
        yield f"python trainbugs.{name}"
    inside = {}
    listed = next(line for line in INIT.splitlines() if line.startswith("__all__"))
    exec(listed, inside)
    for name in inside["__all__"]:
        yield f"python trainbugs_watch.{name}"


def columns():
    """A line for each column of the tables in Python whose columns are always the same."""
    tables = {
        "bugs": trainbugs.bugs(root=ROOT),
        "scores": trainbugs.scores("expected", "optimizer-progress", root=ROOT),
        "outcomes": trainbugs.outcomes("expected", "optimizer-progress", root=ROOT),
    }
    for name, table in tables.items():
        for column in table.columns:
            yield f"column {name}: {column}"


def exit_statuses():
    for name in ("SUCCESS", "FAILURE", "INVALID", "NOTHING_WATCHED"):
        yield f"exit status {getattr(exits, name)}: {name}"


def interface():
    yield from commands(build_parser(), "trainbugs")
    yield from python_names()
    yield from columns()
    yield from formats()
    yield from exit_statuses()


def broken(promised, there):
    """What is wrong with the list of promises, as one text."""
    gone, new = sorted(promised - there), sorted(there - promised)
    lines = [f"promised, and gone: {line}" for line in gone]
    lines += [f"add this line to docs/stable.txt: {line}" for line in new]
    return "\n".join(lines)


def test_what_is_promised_is_there_and_what_is_there_is_promised():
    lines = PROMISED.read_text().splitlines()
    assert lines == sorted(set(lines))
    assert broken(set(lines), set(interface())) == ""


@pytest.mark.parametrize(
    "promised, there, message",
    [
        ({"a", "b"}, {"a"}, "promised, and gone: b"),
        ({"a"}, {"a", "c"}, "add this line to docs/stable.txt: c"),
        ({"a"}, {"a"}, ""),
    ],
)
def test_a_broken_promise_is_told(promised, there, message):
    assert broken(promised, there) == message


def test_the_list_has_all_kinds():
    lines = set(interface())
    assert "trainbugs run --jobs" in lines
    assert "trainbugs env list|build|check|remove" in lines
    assert "python trainbugs.scores" in lines
    assert "python trainbugs_watch.watching" in lines
    assert "format watch: findings" in lines
    assert "exit status 3: NOTHING_WATCHED" in lines
