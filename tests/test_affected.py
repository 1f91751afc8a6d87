"""Maps of versions: what each state means, and that versions are in their own order."""

import math

from test_verification import record

from runner.bugs.catalog import Catalog
from runner.verdicts.affected import findings, mappable


def alone(toy):
    """The toy bug with expectations that judge each variant by itself: buggy ends at 3, fixed at 6."""
    case = {
        "title": "The one case",
        "trigger": {"iteration": 2, "why": "it is a toy"},
        "variants": {"buggy": {"script": "buggy.py"}, "fixed": {"script": "fixed.py"}},
        "expectations": [
            {"statement": "3", "variant": "buggy", "metric": "accuracy", "reduce": "last", "op": "==", "value": 3},
            {"statement": "6", "variant": "fixed", "metric": "accuracy", "reduce": "last", "op": "==", "value": 6},
        ],
    }  # fmt: skip
    toy.configure(seeds=[0], cases={"only": case})
    return toy.bug


def run(torch, accuracies=(), seed=0, **changes):
    return record("buggy", seed, accuracies, environment=f"torch-{torch}", torch=f"{torch}+cu1", **changes)


def test_each_state(toy):
    records = [
        run("2.13.0", (2, 4, 6)),
        run("2.9.1", (1, 2, 4)),
        run("2.2.2", (1, 2, 3)),
        run("2.0.1", status="crashed", reason="why"),
        run("1.13.1", (1, 2, math.nan)),
    ]
    found = findings(alone(toy), records)
    assert [(item.torch, item.state) for item in found] == [
        ("1.13.1", "INVALID"),
        ("2.0.1", "INVALID"),
        ("2.2.2", "affected"),
        ("2.9.1", "neither"),
        ("2.13.0", "not affected"),
    ]
    assert found[1].reason == "seed 0: crashed: why"
    assert found[3].reason == "seed 0: last 4, expected == 6"


def test_every_seed_counts(toy):
    bug = alone(toy)
    assert findings(bug, [run("2.2.2", (1, 2, 3)), run("2.2.2", (1, 2, 6), seed=1)])[0].state == "neither"
    assert findings(bug, [run("2.2.2", (1, 2, 3)), run("2.2.2", (1, 2, 3), seed=1)])[0].state == "affected"
    assert findings(bug, [run("2.2.2", (1, 2, 3)), run("2.2.2", seed=1, status="timeout")])[0].state == "INVALID"


def test_a_case_that_compares_its_variants_cannot_be_mapped(toy):
    assert not mappable(toy.bug.cases["only"])
    assert mappable(alone(toy).cases["only"])


def test_the_real_bugs():
    from pathlib import Path

    catalog = Catalog(Path(__file__).parent.parent)
    assert all(mappable(case) for case in catalog.bug("PyTorch-115607").cases.values())
