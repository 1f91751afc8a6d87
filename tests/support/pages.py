"""A page whose blocks of Python are run; `PYTHONPATH=.:tests python -m support.pages` writes their
outputs anew.

A block of ```python that is followed by a block of ```text has its output there: what it prints,
and the text of its last expression. A line `<!-- real -->` above it says that it runs a bug, `<!--
needs X -->` that it needs a package.
"""

import ast
import io
import re
import tempfile
from contextlib import chdir, redirect_stdout
from importlib.util import find_spec
from typing import Any

import pandas as pd

from support.paths import ROOT

PAGE = ROOT / "docs" / "python.md"
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*) -->\n)?^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?",
    re.M | re.S,
)


def blocks(text: str, mark: str) -> list[str]:
    """The code of the blocks with this mark."""
    return [block["code"] for block in BLOCK.finditer(text) if block["mark"] == mark]


def filled(text: str) -> str:
    """The page with the outputs of its blocks, which share their names like the cells of a
    notebook.

    Blocks that run a bug, or need a package that is not there, stay as they are.
    """
    names: dict[str, Any] = {"display": print}
    with pd.option_context("display.width", 120, "display.max_columns", None):
        return BLOCK.sub(lambda block: _filled(block, names), text)


def _filled(block: "re.Match[str]", names: dict[str, Any]) -> str:
    words = (block["mark"] or "").split()
    if words == ["real"] or (words[:1] == ["needs"] and find_spec(words[1]) is None):
        return block[0]
    output = run(block["code"], names)
    if block["output"] is None:
        return block[0]
    return block[0].replace(f"```text\n{block['output']}```", f"```text\n{output}```")


def run(code: str, names: dict[str, Any]) -> str:
    """Execute a block; returns what it prints, and the text of its last expression,
    as a notebook shows them.
    """
    *statements, last = ast.parse(code).body
    final = last if isinstance(last, ast.Expr) else ast.Expr(ast.Constant(None))
    body = ast.Module(statements if final is last else [*statements, last], [])
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(body, PAGE.name, "exec"), names)
        value = eval(
            compile(ast.fix_missing_locations(ast.Expression(final.value)), PAGE.name, "eval"),
            names,
        )
        if value is not None and not hasattr(value, "savefig"):  # the page has the picture
            print(repr(value))
    return "".join(f"{line.rstrip()}\n" for line in printed.getvalue().splitlines())


if __name__ == "__main__":
    # The page saves a figure, which is not to lie in the checkout.
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        PAGE.write_text(filled(PAGE.read_text()))
