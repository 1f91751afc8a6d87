"""The table of moments: the hooks call them, the documents show them,
and no other names are told.
"""

import re
import runpy

from support.paths import ROOT

from evaluation.keys import KIT

LAUNCHER = KIT / "launcher"
MOMENTS = runpy.run_path(str(LAUNCHER / "moments.py"))
TABLES = (MOMENTS["OPTIMIZER_MOMENTS"], MOMENTS["PROGRAM_MOMENTS"])
ALL_NAMES = {name for table in TABLES for name in MOMENTS["names_in"](table)}


def as_markdown(table):
    """The table as docs/detector-contract.md shows it."""
    lines = ["| method | arguments | when |", "|---|---|---|"]
    for moments in table:
        names = ", ".join(f"`{name}`" for name in moments.names)
        arguments = f" {moments.arguments} " if moments.arguments else " "
        lines.append(f"| {names} |{arguments}| {moments.when} |")
    return "\n".join(lines)


def test_the_documents_show_the_tables():
    text = (ROOT / "docs" / "detector-contract.md").read_text()
    for table in TABLES:
        assert f"\n\n{as_markdown(table)}\n\n" in text


def test_no_moment_is_declared_twice_for_one_monitor():
    for table in TABLES:
        names = MOMENTS["names_in"](table)
        assert len(names) == len(set(names))


def test_the_launcher_tells_all_of_the_moments_and_no_others():
    names = set()
    for path in LAUNCHER.glob("*.py"):
        if path.name != "moments.py":
            names |= set(re.findall(r'"((?:before|after|inner)_\w+|end|join)"', path.read_text()))
    # The moments of an optimizer are named by its method.
    names |= {
        f"{side}_{method}" for side in ("before", "after") for method in ("zero_grad", "step")
    }
    assert names == ALL_NAMES


def test_each_hook_is_that_of_some_moments():
    hooks = (LAUNCHER / "hooks.py").read_text().partition("\nHOOKS = {\n")[2]
    names = re.findall(r'^    "(\w+)": ', hooks, re.M)
    assert sorted(names) == sorted(MOMENTS["names_by_hook"]())
