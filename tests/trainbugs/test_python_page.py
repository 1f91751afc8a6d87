"""The page about the Python interface: its blocks run, and give the outputs that it shows."""

import re
import sys
from dataclasses import fields
from importlib.util import find_spec

from support.pages import BLOCK, PAGE, blocks, filled, run

import trainbugs
from runner.session.options import Options
from trainbugs import api

TEXT = PAGE.read_text()


def test_outputs_are_what_the_blocks_give(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert filled(TEXT) == TEXT, (
        "write the outputs anew: `PYTHONPATH=.:tests python -m support.pages`"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["figure.pdf"]


def test_no_block_is_left_out_for_a_package_that_is_missing():
    """The tests have them all: an output that nothing compares grows old."""
    needed = [
        block["mark"].split()[1]
        for block in BLOCK.finditer(TEXT)
        if (block["mark"] or "").startswith("needs ")
    ]
    assert needed
    assert [name for name in needed if find_spec(name) is None] == []


def test_the_block_that_runs_a_bug(toy, tmp_path, monkeypatch):
    """On the toy, with this interpreter."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(api, "default_root", lambda: toy.root)
    (code,) = blocks(TEXT, "real")
    for on_page, in_test in (
        ("SO-60335387/digits", "Toy-1/only"),
        ("seeds=[0]", "seeds=[0], python=sys.executable"),
    ):
        assert on_page in code
        code = code.replace(on_page, in_test)
    names = {"sys": sys, "trainbugs": trainbugs}
    assert (
        run(code, names) == "Outcome('Toy-1/only', REPRODUCED, 2 runs)\nREPRODUCED: 2 checks hold\n"
    )
    assert len(names["own"]) == 6


def test_every_block_is_run_and_every_function_shown():
    assert len(list(BLOCK.finditer(TEXT))) == TEXT.count("```python") >= 10
    assert TEXT.count("```text") == sum(
        block["output"] is not None for block in BLOCK.finditer(TEXT)
    )
    assert [name for name in api.__all__ if f"`{name}(" not in TEXT] == []


def test_options_with_other_names_than_on_the_command_line_are_listed():
    listed = re.findall(r"^\| `(\w+)=\S+` \| (?:`(--\S+)(?: \S+)?`|none)", TEXT, re.M)
    flags = {field.name: field.metadata.get("flag", "") for field in fields(Options)}
    other = {name: flag for name, flag in flags.items() if flag != f"--{name.replace('_', '-')}"}
    assert dict(listed) == other
    assert len(other) > 4
    assert [name for name in flags if f"`{name}" not in TEXT] == []


def test_an_output_that_is_not_what_came_out_is_replaced():
    block = '```python\nprint("a")\n{"b": 1}\n```\n\n```text\nelse\n```\n'
    assert filled(block) == block.replace("else", "a\n{'b': 1}")
    for mark in ("real", "needs nosuchpackage"):
        assert filled(f"<!-- {mark} -->\n{block}") == f"<!-- {mark} -->\n{block}"
