"""detectors/frozen.json: which bugs those who wrote a detector of ours knew,
and that it is the same since. detectors/kit.txt: what all detectors are run with.
"""

import json

import pytest
from support.paths import ROOT

from evaluation.catalog.frozen import digest
from evaluation.keys import kit_digest

FROZEN = json.loads((ROOT / "detectors" / "frozen.json").read_text())


@pytest.mark.parametrize("name", FROZEN)
def test_a_frozen_detector_is_as_it_was(name):
    """Whoever mends it gives it a new version, and names the bugs that there are by then."""
    described = json.loads((ROOT / "detectors" / name / "detector.json").read_text())
    assert FROZEN[name]["version"] == described["version"]
    assert FROZEN[name]["digest"] == digest(ROOT / "detectors" / name)


@pytest.mark.parametrize("name", FROZEN)
def test_the_bugs_that_it_was_developed_on_are_bugs(name):
    bugs = FROZEN[name]["developed_on"]
    assert bugs == sorted(set(bugs))
    assert all((ROOT / "bugs" / bug / "config.json").is_file() for bug in bugs)


def test_the_kit_is_as_it_was():
    """Records of another kit are of other answers: whoever changes the kit evaluates anew."""
    lines = (ROOT / "detectors" / "kit.txt").read_text().splitlines()
    frozen = next(line for line in lines if not line.startswith("#"))
    assert frozen.split()[0] == kit_digest()
