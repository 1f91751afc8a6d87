"""Whatever is in the files of a detector, of a submission or of committed records,
the program ends with a line.

What a detector answers is read by the benchmark itself: any answer becomes a record that can be
read again, and scored. `test_fuzz.py` tells how to try more.
"""

import json
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.checks import HIT, overhead
from support.checks import record as check
from support.detectors import write_detector
from support.fuzzing import MARKS, broken, broken_lines, opened, torn, variants

from evaluation.catalog import detectors
from evaluation.model import Answer
from evaluation.running.adapter import ANSWER
from evaluation.running.answers import read_answer
from evaluation.store.committed import CommittedChecks
from evaluation.store.results import CheckStore
from runner.files.atomic import write_json

pytestmark = MARKS

RULES = {"default": {"codes": [HIT.code]}, "all": {}}
SUBMISSION = {
    "schema": 1, "authors": ["A. Child"], "licence": "MIT", "link": "https://example.org", "since": "2026-11-23",
    "developed_on": ["Toy-1"],
}  # fmt: skip
ALARM = {
    "code": "c",
    "message": "m",
    "severity": "error",
    "iteration": 7,
    "file": "program.py",
    "line": 40,
}
WELL = {
    "schema": 1, "status": "ok", "reason": None, "alarms": [ALARM, ALARM], "dropped": 1, "training": 1.5,
    "invariants": 3, "artefacts": ["a.txt"],
}  # fmt: skip
SCORES = ("--figures", "none", "--out", "scores")


def records(name):
    """The records of one detector: a hit on the buggy program, none on the fixed one, timings."""
    checks = [check("buggy", alarms=[HIT], detector=name), check("fixed", detector=name)]
    timing = overhead((1.0, 1.1), (2.0, 2.2))
    return checks, [
        type(timing)(**{field: getattr(timing, field) for field in timing.__struct_fields__})
    ]


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("fuzz")) as opened_bench:
        root = opened_bench.toy.root
        detector = detectors.read(write_detector(root / "detectors" / "d", "", alarm_rules=RULES))
        checks, timings = records("d")
        CommittedChecks(root / "detectors" / "expected").replace(detector, checks, timings)
        folder = root / "submissions" / "s"
        submitted = detectors.read(write_detector(folder / "s", "", alarm_rules=RULES))
        CommittedChecks(folder).replace(submitted, records("s")[0], [])
        write_json(folder / "submission.json", SUBMISSION)
        yield opened_bench


def test_what_is_not_spoiled_is_well(bench):
    """Else the rest of this file would look at errors only."""
    assert bench.call("detectors") == 0
    assert bench.call("scores", *SCORES) == 0
    assert bench.call("scores", "--from", "submissions", *SCORES) == 0
    assert bench.call("site", "--out", "site") == 0


@given(data=st.data())
@variants(25)
def test_description(bench, data):
    path = bench.toy.root / "detectors" / "d" / "detector.json"
    with bench.spoil(path, data.draw(broken(path.read_text()))):
        shown = bench.call("detectors")
        assert shown == bench.call("detectors", "--json")
        bench.call("scores", *SCORES)
        bench.call(
            "evaluate", "--detector", "d", "--bugs", "Toy-1/x", "--results", bench.toy.results
        )


@given(data=st.data())
@variants(20)
def test_committed_records(bench, data):
    path = bench.toy.root / "detectors" / "expected" / "d.jsonl"
    with bench.spoil(path, data.draw(broken_lines(path.read_text()))):
        status = bench.call("scores", *SCORES)
        assert status == bench.call("scores", "--format", "json", *SCORES)
        bench.call("scores", "--from", "both", "--results", bench.toy.results, *SCORES)


@given(data=st.data())
@variants(20)
def test_submission(bench, data):
    folder = bench.toy.root / "submissions" / "s"
    name = data.draw(st.sampled_from(["submission.json", "s.jsonl", "s/detector.json"]))
    path = folder / name
    kind = broken_lines if name == "s.jsonl" else broken
    with bench.spoil(path, data.draw(kind(path.read_text()))):
        bench.call("scores", "--from", "submissions", *SCORES)
        bench.call("scores", *SCORES)
        bench.call("evaluate", "--detector", folder / "s", "--bugs", "Toy-1/x")


@given(data=st.data())
@variants(5)
def test_site(bench, data):
    paths = [
        "detectors/d/detector.json",
        "submissions/s/submission.json",
        "submissions/s/s/detector.json",
    ]
    path = bench.toy.root / data.draw(st.sampled_from(paths))
    with bench.spoil(path, data.draw(broken(path.read_text()))):
        bench.call("site", "--out", "site")


@given(data=broken(json.dumps(WELL)) | torn(json.dumps(WELL)) | st.binary())
@variants(40)
def test_answer(bench, data):
    """It is read, kept and scored, with whatever it says in its texts."""
    path = bench.here / ANSWER
    path.write_bytes(data)
    answer = read_answer(path)
    assert isinstance(answer, Answer)
    assert answer.status == "ok" or answer.reason
    results = bench.here / "answers"
    shutil.rmtree(results, ignore_errors=True)
    store = CheckStore(results / "detectors")
    # As `Evaluation.check` does it: what cannot be kept becomes a tool_error.
    record = check("buggy", alarms=answer.alarms, status=answer.status, reason=answer.reason)
    store.save(record)
    store.save(check("fixed"))
    write_json(store.root / "d" / "detector.json", json.loads(described(bench)))
    assert store.find(record) == record
    assert bench.call("scores", "--from", "results", "--results", results, *SCORES) == 0


def described(bench):
    return (bench.toy.root / "detectors" / "d" / "detector.json").read_text()
