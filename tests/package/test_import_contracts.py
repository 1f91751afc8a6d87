"""The contracts of imports: none has holes, so that a new module cannot be forgotten."""

from configparser import ConfigParser

import pytest
from support.paths import ROOT

# What runs inside of programs has its order by itself, and few modules need none.
WITHOUT_ORDER = {
    "evaluation.kit",
    "evaluation.watching.in_process",
    "evaluation.iterations",
    "runner.authoring.pretended_gpu",
    "runner.authoring.skeleton",
    "runner.progress",
    "trainbugs.inspect_tracks",
}


def contracts():
    parser = ConfigParser()
    parser.read(ROOT / ".importlinter")
    return {
        name.rpartition(":")[2]: parser[name]
        for name in parser.sections()
        if name.startswith("importlinter:contract:")
    }


@pytest.mark.parametrize("name", contracts())
def test_a_contract_of_a_package_names_all_of_its_modules(name):
    """Import-linter itself refuses a module that an exhaustive one lacks."""
    contract = contracts()[name]
    if "containers" in contract:
        assert contract.getboolean("exhaustive"), name


def test_each_package_of_several_modules_has_an_order():
    ordered = {contract["containers"].strip() for contract in contracts().values() if
               "containers" in contract}  # fmt: skip
    for package in ("evaluation", "plots", "runner", "trainbugs"):
        for path in (ROOT / package).rglob("__init__.py"):
            name = ".".join(path.parent.relative_to(ROOT).parts)
            if any(name == known or name.startswith(f"{known}.") for known in WITHOUT_ORDER):
                continue
            assert len(list(path.parent.glob("*.py"))) < 3 or name in ordered, name
