"""detectors/frozen.json: which bugs those who wrote a detector of ours knew, and that it is the same since."""

import hashlib
import json

import pytest
from support.paths import ROOT

FROZEN = json.loads((ROOT / "detectors" / "frozen.json").read_text())


def digest(folder):
    """A hash of the programs of a detector, and of its detector.json."""
    paths = sorted(path for path in folder.rglob("*") if path.name == "detector.json" or path.suffix == ".py")
    lines = (f"{path.relative_to(folder).as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in paths)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@pytest.mark.parametrize("name", FROZEN)
def test_a_frozen_detector_is_as_it_was(name):
    """Whoever mends it gives it a new version, and names the bugs that there are by then."""
    described = json.loads((ROOT / "detectors" / name / "detector.json").read_text())
    assert FROZEN[name]["version"] == described["version"]
    assert FROZEN[name]["digest"] == digest(ROOT / "detectors" / name)


@pytest.mark.parametrize("name", FROZEN)
def test_the_bugs_that_it_was_developed_on_are_bugs(name):
    known = FROZEN[name]["developed_on"]
    assert known == sorted(set(known))
    assert all((ROOT / "bugs" / bug / "config.json").is_file() for bug in known)
