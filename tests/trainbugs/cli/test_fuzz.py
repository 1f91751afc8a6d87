"""Whatever is in the files of a bug or of a results folder,
the program ends with a line and never with a traceback.

`TRAINBUGS_FUZZ=20000 TRAINBUGS_FUZZ_SEED=1 pytest -n 0 tests/trainbugs/cli/test_fuzz*.py` tries as
many variants of each kind of file and command line, chosen by that seed. Without these the tests
try few, and always the same.
"""

import json
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.checks import HIT, overhead
from support.checks import record as check
from support.fuzzing import MARKS, broken, opened, spoiled, torn, variants
from support.paths import ROOT
from support.toy import toy_config

from evaluation.store.results import CheckStore
from runner.files.atomic import write_json

pytestmark = MARKS


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("fuzz")) as opened_bench:
        yield opened_bench


@given(data=broken(json.dumps(toy_config())))
@variants(30)
def test_config(bench, data):
    directory = bench.toy.directory
    with bench.spoil(directory / "config.json", data):
        statuses = [
            bench.call(*arguments)
            for arguments in (
                ["info", directory],
                ["info", directory, "--json"],
                ["list"],
                ["list", "--markdown"],
                ["validate", directory],
                ["run", directory],
                ["versions", directory],
                ["why", directory],
                ["results", "--results", bench.toy.results],
            )
        ]
        assert statuses[0] == statuses[1] == statuses[2] == statuses[3]
        if statuses[0] == 0:
            assert bench.call("checkout", directory, bench.out / "copy") == 0
            shutil.rmtree(bench.out)


@given(data=st.data())
@variants(40)
def test_record(bench, data):
    with bench.spoil(bench.record, data.draw(broken(bench.record.read_text()))):
        listed = bench.call("results", "--results", bench.toy.results)
        assert listed == bench.call("results", "--csv", "-", "--results", bench.toy.results)


@given(data=st.data())
@variants(5)
def test_record_is_drawn(bench, data):
    text = json.loads(bench.record.read_text())
    metrics = data.draw(spoiled(json.dumps(text["metrics"])))
    with bench.spoil(bench.record, json.dumps(text | {"metrics": json.loads(metrics)}).encode()):
        listed = bench.call("results", "--results", bench.toy.results)
        drawn = bench.call(
            "figures",
            "Toy-1",
            "--from",
            "results",
            "--results",
            bench.toy.results,
            "--out",
            bench.out,
        )
        assert drawn == listed


@given(data=st.data())
@variants(8)
def test_verdict(bench, data):
    with bench.spoil(bench.verdict, data.draw(broken(bench.verdict.read_text()))):
        bench.call(
            "figures",
            "Toy-1",
            "--from",
            "results",
            "--results",
            bench.toy.results,
            "--out",
            bench.out,
        )


@given(data=st.data(), mapped=st.booleans())
@variants(30)
def test_expected_record(bench, data, mapped):
    path = bench.mapped if mapped else bench.expected
    with bench.spoil(path, data.draw(broken(path.read_text()))):
        bench.call("list", "--max-seconds", "3")
        bench.call("info", "Toy-1")
        bench.call("validate", "Toy-1")


@given(data=st.data(), mapped=st.booleans())
@variants(4)
def test_expected_record_is_drawn(bench, data, mapped):
    path = bench.mapped if mapped else bench.expected
    with bench.spoil(path, data.draw(spoiled(path.read_text()))):
        bench.call("figures", "Toy-1", "--out", bench.out)


@pytest.fixture(scope="module")
def evaluated(bench):
    """A folder of evaluations that `scores` reads: one detector, a hit on the buggy program,
    timings.
    """
    folder = CheckStore(bench.toy.results / "detectors")
    for new_record in (
        check("buggy", alarms=[HIT]),
        check("fixed"),
        overhead((1.0, 1.1), (2.0, 2.2)),
    ):
        folder.save(new_record)
    rules = {"default": {"codes": [HIT.code]}}
    text = (ROOT / "detectors" / "loss-rules" / "detector.json").read_text()
    write_json(
        folder.root / "d" / "detector.json", json.loads(text) | {"name": "d", "alarm_rules": rules}
    )
    return sorted(folder.root.rglob("*.json"))


def test_what_is_not_spoiled_is_well(bench, evaluated):
    """Else the rest of this file would look at errors only."""
    results = ["--results", bench.toy.results]
    assert bench.call("scores", "--from", "results", *results, "--out", bench.out) == 0
    assert bench.call("figures", "Toy-1", "--from", "results", *results, "--out", bench.out) == 0
    assert bench.call("figures", "Toy-1", "--out", bench.out) == 0
    assert bench.call("results", *results) == bench.call("list") == bench.call("info", "Toy-1") == 0


@given(data=st.data())
@variants(8)
def test_evaluation(bench, evaluated, data):
    path = data.draw(st.sampled_from(evaluated))
    with bench.spoil(path, data.draw(broken(path.read_text()))):
        bench.call(
            "scores", "--from", "results", "--results", bench.toy.results, "--out", bench.out
        )


@given(data=st.data(), name=st.sampled_from(["buggy.py", "fixed.py", "README.md", "why.py"]))
@variants(60)
def test_text(bench, data, name):
    path = bench.toy.directory / name
    with bench.spoil(
        path, data.draw(torn(path.read_text()) | st.text().map(str.encode) | st.binary())
    ):
        bench.call("info", "Toy-1")
        bench.call("validate", "Toy-1")
