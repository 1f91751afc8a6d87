"""The negative control that reads versions: it knows all affected releases, and nothing else."""

import importlib.util
import sys

import pytest
from support.paths import ROOT

from benchmarks.affected_releases import affected_releases
from runner.bugs.catalog import Catalog

RELEASES = ROOT / "detectors" / "releases"


@pytest.fixture
def adapter(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "evaluation" / "kit"))
    spec = importlib.util.spec_from_file_location("releases_adapter", RELEASES / "adapter.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_it_has_every_affected_release():
    """`benchmarks/affected_releases.py` makes the list anew."""
    lines = (RELEASES / "affected.txt").read_text().splitlines()
    assert lines == list(affected_releases(Catalog(ROOT)))


def test_it_reads_the_modules_that_a_program_imports(adapter):
    text = (
        "import torch.nn as nn, json\nfrom peft.tuners import x\nfrom . import y\nimport_it = 1\n"
    )
    assert adapter.imported_modules(text) == {"torch", "json", "peft"}


@pytest.mark.parametrize(
    "versions, codes",
    [
        ({"torch": "2.2.2"}, ["framework"]),
        ({"timm": "0.9.7", "torch": "1.0.0"}, ["library"]),
        ({"timm": "0.9.8"}, []),
        ({}, []),
    ],
)
def test_it_accuses_affected_releases_alone(adapter, versions, codes):
    affected = adapter.read_affected()
    assert [alarm["code"] for alarm in adapter.alarms(versions, affected)] == codes
