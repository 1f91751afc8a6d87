"""Maps of versions: what each state means, and that versions are in their own order."""

import math

from support.copies import replace
from support.paths import ROOT
from support.records import record
from support.toy import alone

from runner.bugs.catalog import Catalog
from runner.bugs.labels import Versions
from runner.verdicts.affected import findings, mappable


def run(torch, accuracies=(), seed=0, **changes):
    return record(
        "buggy", seed, accuracies, environment=f"torch-{torch}", torch=f"{torch}+cu1", **changes
    )


def test_each_state(toy):
    records = [
        run("2.13.0", (2, 4, 6)),
        run("2.9.1", (1, 2, 4)),
        run("2.2.2", (1, 2, 3)),
        run("2.0.1", status="crashed", reason="why"),
        run("1.13.1", (1, 2, math.nan)),
    ]
    results = findings(alone(toy), records)
    assert [(item.version, item.state) for item in results] == [
        ("1.13.1", "INVALID"),
        ("2.0.1", "INVALID"),
        ("2.2.2", "affected"),
        ("2.9.1", "neither"),
        ("2.13.0", "not affected"),
    ]
    assert results[1].reason == "seed 0: crashed: why"
    assert results[3].reason == "seed 0: last 4, expected == 6"


def test_every_seed_counts(toy):
    bug = alone(toy)
    assert (
        findings(bug, [run("2.2.2", (1, 2, 3)), run("2.2.2", (1, 2, 6), seed=1)])[0].state
        == "neither"
    )
    assert (
        findings(bug, [run("2.2.2", (1, 2, 3)), run("2.2.2", (1, 2, 3), seed=1)])[0].state
        == "affected"
    )
    assert (
        findings(bug, [run("2.2.2", (1, 2, 3)), run("2.2.2", seed=1, status="timeout")])[0].state
        == "INVALID"
    )


def test_a_case_that_compares_its_variants_cannot_be_mapped(toy):
    assert not mappable(toy.bug.cases["only"])
    assert mappable(alone(toy).cases["only"])


def test_the_real_bugs():

    catalog = Catalog(ROOT)
    assert all(mappable(case) for case in catalog.bug("PyTorch-115607").cases.values())


def test_a_map_of_another_package_is_of_its_releases(toy):
    bug = replace(alone(toy), affected=Versions(package="timm", versions=("0.9.7",)))
    records = [
        record("buggy", 0, (1, 2, 3), environment=name, torch="2.2.2")
        for name in ("timm-0.9.7", "torch-2.2.2")
    ]
    assert [(item.version, item.state) for item in findings(bug, records)] == [
        ("-", "affected"),
        ("0.9.7", "affected"),
    ]
