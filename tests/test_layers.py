"""Imports run downward only: this is the table of layers; within a row nothing imports its neighbour."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = [
    {"runner.errors", "runner.model", "runner.scratch", "runner.limits", "runner.confine", "runner.network"},
    {"runner.slots", "runner.reading", "runner.fields"},
    {"runner.catalog", "runner.process", "runner.measure", "runner.progress", "runner.key", "runner.options"},
    {"runner.schedule", "runner.settings", "runner.index"},
    {"runner.board"},
    {"runner.crew"},
    {"runner.interpreter", "runner.records", "runner.checkout", "runner.remote", "runner.slurm"},
    {
        "runner.connection",
        "runner.environment",
        "runner.table",
        "runner.verification",
        "runner.selection",
        "runner.estimate",
        "runner.store",
    },
    {"runner.build", "runner.affected", "runner.cluster", "runner.repeatability"},
    {"runner.place", "runner.wellformed", "runner.new"},
    {"runner.execution", "runner.why"},
    {"runner.runs", "runner.outcome", "runner.worker"},
    {"runner.hire"},
    {"runner.session"},
    {"runner.versions"},
    {"runner.report", "runner.api"},
    {"evaluation.model", "evaluation.once"},
    {"evaluation.detectors", "evaluation.programs"},
    {"evaluation.controls", "evaluation.records", "evaluation.verdicts"},
    {"evaluation.trial", "evaluation.scores"},
    {"evaluation.samples", "evaluation.report"},
    {"evaluation.evaluate"},
    {"evaluation.overhead"},
    {"evaluation.campaign"},
    {"evaluation.expected"},
    {"plots.style"},
    {"plots.curves", "plots.summary", "plots.heatmap", "plots.versions", "plots.detectors"},
    {"plots.figures"},
    {"runner.commands", "runner.env_commands", "evaluation.commands"},
    {"evaluation.arguments"},
    {"runner.arguments"},
    {"runner.cli"},
    {"runner", "runner.__main__", "plots", "evaluation"},
]
FORBIDDEN = {f"runner.{name}" for name in ("execution", "session", "process", "build", "environment", "place", "why")}


def modules():
    for package in ("runner", "plots", "evaluation"):
        for path in sorted((ROOT / package).glob("*.py")):
            yield package if path.stem == "__init__" else f"{package}.{path.stem}", path


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def layer(name):
    return next(index for index, names in enumerate(LAYERS) if name in names)


@pytest.mark.parametrize("name, path", list(modules()), ids=lambda value: value if isinstance(value, str) else "")
def test_imports_run_downward(name, path):
    known = {module for module, _ in modules()} - {"runner", "plots", "evaluation"}
    for other in set(imports(path)) & known:
        assert layer(other) < layer(name), f"{name} imports {other}"
        assert not (name.startswith("plots") and other in FORBIDDEN), f"{name} imports {other}"


@pytest.mark.parametrize("name, path", list(modules()), ids=lambda value: value if isinstance(value, str) else "")
def test_only_one_module_starts_processes_and_each_says_what_it_is_for(name, path):
    text = path.read_text()
    assert name == "runner.process" or not set(imports(path)) & {"subprocess", "multiprocessing"}
    assert ast.get_docstring(ast.parse(text)), f"{name} does not say what question it answers"
