"""Whatever is in the files of a bug or of a results folder, the program ends with a line and never with a traceback.

`TRAINBUGS_FUZZ=20000 pytest tests/test_fuzz.py` tries as many variants of each kind of file.
"""

import contextlib
import copy
import io
import json
import os
import shutil
import tempfile
from pathlib import Path

import hypothesis.configuration
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.checks import HIT, overhead
from support.checks import record as check
from support.paths import ROOT
from support.toy import Toy, toy_config

from evaluation.store import Evaluations
from runner.files.atomic import write_json
from runner.files.untrusted import printable_lines
from trainbugs import api
from trainbugs.cli.main import main

# Nothing is written into the checkout.
hypothesis.configuration.set_hypothesis_home_dir(Path(tempfile.gettempdir(), "trainbugs-hypothesis"))
settings.register_profile(
    "fuzz",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
# What is drawn is odd: glyphs that the font lacks, values at which an axis overflows. That is said, and no error.
pytestmark = [pytest.mark.stress, pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")]

TRAPS = [
    *(None, True, False, 0, -1, 1, 1.0, 1.5, 2**63, 10**30, 10**400, -(10**400), 1e308, 1e-320, float("nan")),
    *(float("inf"), "", "x", "..", "../x", "/etc/passwd", "a\0b", "a\n", "\x1b[2J", "\ud800", "\u202e", "$x_{$"),
    *("NaN", "$\\frac$", "buggy", "fixed", "only", "epoch", "accuracy", "x" * 2_000, [], {}, [[]], {"": 0}, [0, 0]),
]
KEYS = ("where", "minus", "minus_where", "seeds", "data", "heatmap", "needs", "status", "x")


def variants(examples):
    """Settings for a test: that many examples, or as many as TRAINBUGS_FUZZ says."""
    return settings(settings.get_profile("fuzz"), max_examples=int(os.environ.get("TRAINBUGS_FUZZ", examples)))


values = st.sampled_from(TRAPS) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def places(value):
    """Every (container, key) in a value of JSON."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in list(inner):
        yield value, key
        yield from places(part)


@st.composite
def spoiled(draw, text):
    """The JSON `text` with values replaced, removed and added."""
    value = json.loads(text)
    for _ in range(draw(st.integers(1, 3))):
        container, key = draw(st.sampled_from(list(places(value)) or [([0], 0)]))
        how = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
        # A copy: what is put in may be spoiled itself in the next round.
        new = copy.deepcopy(draw(values))
        if how == "remove":
            del container[key]
        elif how == "replace":
            container[key] = new
        elif isinstance(container, list):
            container.insert(key, new)
        else:
            container[draw(st.sampled_from(KEYS))] = new
    return json.dumps(value).encode()


@st.composite
def torn(draw, text):
    """`text` with some bytes changed, cut off at some place, or with a piece of it twice."""
    data = bytearray(text.encode())
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(0, len(data) - 1)))
        how = draw(st.sampled_from(["byte", "cut", "twice"]))
        if how == "cut":
            del data[place:]
        elif how == "twice":
            data[place:place] = data[place : place + draw(st.integers(1, 60))]
        else:
            data[place : place + 1] = draw(st.binary(min_size=1, max_size=2))
    return bytes(data)


def broken(text):
    return spoiled(text) | spoiled(text) | torn(text)


class Adapter:
    """A toy catalogue with expected records and results, whose files are spoiled and mended."""

    def __init__(self, root):
        self.toy = Toy(root / "catalogue")
        self.toy.write("why.py", "")
        self.out = root / "out"
        outcome = self.toy.run(seeds=(0,))
        self.record = next(self.toy.results.rglob("buggy-seed0-*.json"))
        self.verdict = self.record.with_name("verdict.json")
        self.expected = self.toy.directory / "expected" / "only" / "buggy-seed0.json"
        self.mapped = self.toy.directory / "expected" / "versions" / "own" / "only" / "buggy-seed0.json"
        for path in (self.expected, self.expected.with_name("fixed-seed0.json"), self.mapped):
            path.parent.mkdir(parents=True, exist_ok=True)
        for record in outcome.records:
            shutil.copy(
                self.toy.results / "Toy-1" / "only" / f"{record.variant}-seed0-{record.key[:12]}.json",
                self.expected.with_name(f"{record.variant}-seed0.json"),
            )
        shutil.copy(self.expected, self.mapped)

    @contextlib.contextmanager
    def spoil(self, path, data):
        before = path.read_bytes()
        path.write_bytes(data)
        try:
            yield
        finally:
            path.write_bytes(before)

    def call(self, *arguments):
        """Call the program; it ends with a status of its own and says little on standard error."""
        streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            status = main([str(argument) for argument in arguments])
        shown, said = (stream.buffer.getvalue().decode() for stream in streams)
        assert status in (0, 1, 2), arguments
        assert status < 2 or said
        assert len(said.splitlines()) <= 3 and "Traceback" not in said, said
        assert all(len(line) < 2_000 for line in said.splitlines()), said
        for text in (shown, said) if "--csv" not in arguments else (said,):
            assert text == printable_lines(text), arguments
        return status


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    root = tmp_path_factory.mktemp("fuzz")
    made = Adapter(root)
    here = Path.cwd()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "load", lambda: made.toy.catalog)
        patch.chdir(root)
        yield made
    assert Path.cwd() == here


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
        drawn = bench.call("figures", "Toy-1", "--from", "results", "--results", bench.toy.results, "--out", bench.out)
        assert drawn == listed


@given(data=st.data())
@variants(8)
def test_verdict(bench, data):
    with bench.spoil(bench.verdict, data.draw(broken(bench.verdict.read_text()))):
        bench.call("figures", "Toy-1", "--from", "results", "--results", bench.toy.results, "--out", bench.out)


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
    """A folder of evaluations that `scores` reads: one detector, a hit on the buggy program, timings."""
    folder = Evaluations(bench.toy.results / "detectors")
    for made in (check("buggy", alarms=[HIT]), check("fixed"), overhead((1.0, 1.1), (2.0, 2.2))):
        folder.save(made)
    rules = {"default": {"codes": [HIT.code]}}
    text = (ROOT / "detectors" / "loss-rules" / "detector.json").read_text()
    write_json(folder.root / "d" / "detector.json", json.loads(text) | {"name": "d", "alarm_rules": rules})
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
        bench.call("scores", "--from", "results", "--results", bench.toy.results, "--out", bench.out)


@given(data=st.data(), name=st.sampled_from(["buggy.py", "fixed.py", "README.md", "why.py"]))
@variants(60)
def test_text(bench, data, name):
    path = bench.toy.directory / name
    with bench.spoil(path, data.draw(torn(path.read_text()) | st.text().map(str.encode) | st.binary())):
        bench.call("info", "Toy-1")
        bench.call("validate", "Toy-1")
