"""Whole reproductions in the real environments, gigabytes included;
`pytest -m real` runs these alone.
"""

import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from sys import intern

import pytest
from support import proof
from support.detectors import OWN
from support.monitors import works_in
from support.paths import ROOT

from evaluation.catalog import detectors
from evaluation.running import campaign
from evaluation.running.options import CampaignOptions
from runner.authoring.validate import problems
from runner.bugs.catalog import Catalog
from runner.bugs.program import UPSTREAM
from runner.environments import builder, check, spec
from runner.environments.runtime import Runtimes
from runner.errors import UsageError
from runner.progress.lines import on_stderr
from runner.results.expected import version_records
from runner.session.explain import explain
from runner.session.options import Options
from runner.session.session import Session
from runner.session.version_sweep import map_versions
from runner.verdicts.affected import findings

CATALOG = Catalog(ROOT)
pytestmark = pytest.mark.real


def run(tmp_path, *targets, **options):
    options = {"jobs": 2} | options
    session = Session(CATALOG, Options(results=tmp_path / "results", **options), on_stderr())
    return session.run(CATALOG.select(targets))


# Environments that other tests of a full proof use as well; others are removed after the tests in
# them.
SHARED = {"torch-2.2.2", "torch-2.13.0"}


def built():
    return {name for name in spec.names(ROOT) if spec.find(spec.load(ROOT, name))}


@pytest.fixture(scope="module")
def place(request):
    """The environment of that name. What is built for the tests in it is removed after them,
    if it was not there.
    """
    leave = built() | (SHARED if request.config.getoption("proof_within") is None else set())
    yield builder.build(spec.load(ROOT, request.param), on_stderr(), keep=request.param in leave)
    for name in built() - leave:
        builder.remove(spec.load(ROOT, name))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """One folder for several tests: what one has run, the next finds done."""
    return tmp_path_factory.mktemp("results")


def runnable(data):
    """Every case of the catalogue that this machine can run,
    with the environment of its buggy variant.

    With `data`, also those that need some.
    """
    missing = set(proof.missing_needs())
    if data:
        missing.discard("data")
    return [
        (intern(case.program.variants["buggy"].environment), case.id)
        for case in active_cases()
        if not missing & set(case.program.needs)
    ]


def active_cases():
    """All cases of bugs that are not retired."""
    return [case for name in CATALOG.active() for case in CATALOG.bug(name).cases.values()]


def upstreams(environment):
    """The variants `upstream` of that environment that this machine can run."""
    missing = set(proof.missing_needs())
    cases = [case for case in active_cases() if not missing & set(case.program.needs)]
    names = []
    for case in cases:
        variant = case.program.variants.get(UPSTREAM)
        if variant and variant.environment == environment:
            names.append(f"{case.id}/{UPSTREAM}")
    return names


# pytest keeps a fixture while its parameter is the same object.
every_environment = pytest.mark.parametrize(
    "place", [intern(name) for name in spec.names(ROOT)], indirect=True
)
every_case = pytest.mark.parametrize("place, target", runnable(data=True), indirect=["place"])
every_case_without_data = pytest.mark.parametrize(
    "place, target", runnable(data=False), indirect=["place"]
)


@every_environment
def test_an_environment_is_what_its_lock_says_and_behaves_as_mapped(place, tmp_path):
    assert check.all_problems(place) == []
    name = place.environment.name
    targets = upstreams(name)
    outcomes = run(tmp_path / "upstream", *targets, device="cpu") if targets else []
    for outcome in outcomes:
        assert outcome.verdict.upstream.behaves, outcome.verdict.upstream.reason
    if not name.startswith("torch-"):
        return
    records = [record for bug in CATALOG.active() for record in version_records(CATALOG.bug(bug))]
    mapped = {
        f"{record.bug}/{record.case}" for record in records if record.runtime.environment == name
    }
    options = Options(results=tmp_path / "results", device="cpu", jobs=2)
    for version_map in map_versions(CATALOG, sorted(mapped), name, options, on_stderr()):
        expected = findings(version_map.bug, version_records(version_map.bug))
        states = {item.case: item.state for item in expected if item.environment == name}
        # A bug may have cases that are not mapped.
        assert version_map.findings
        measured = {item.case: item.state for item in version_map.findings}
        assert measured.items() <= states.items()
    # torch.compile of 2.0 refuses Python 3.11
    works_in(place.python, tmp_path, compiles=name != "torch-2.0.1")


@pytest.mark.reproduction
@every_case
def test_every_bug_reproduces_as_committed(place, target, results, spread, record_property):
    case = CATALOG.select([target])[0].case
    if case.program.data and not os.environ.get("TRAINBUGS_DATA"):
        pytest.skip("TRAINBUGS_DATA names no folder with MNIST/raw")
    # Else the expected records, and with them the key of the proof, may be of other files than
    # those that run.
    found = problems(ROOT / "bugs" / case.bug, ROOT)
    # An author may run a bug whose report nobody else has read yet.
    assert [problem for problem in found if not problem.startswith("provenance.read_by")] == []
    data = Path(os.environ["TRAINBUGS_DATA"]) if case.program.data else None
    outcome = run(results, target, device="cpu", keep=False, data=data, **spread)[0]
    record_property("verdict", outcome.verdict.outcome)
    record_property("drift", outcome.drift)
    assert outcome.verdict.outcome == "REPRODUCED", outcome.verdict.reason
    # Another processor rounds differently, and training amplifies that without end. Only of a few
    # steps there is a bound; a whole update of 115607 would be 1e-3.
    assert outcome.drift is not None
    assert math.isfinite(outcome.drift)
    if case.bug == "PyTorch-115607":
        assert outcome.drift < 1e-4


@pytest.mark.parametrize("place", [intern("torch-2.2.2")], indirect=True)
def test_metrics_of_parallel_runs_are_those_of_serial_ones(place, tmp_path):
    targets = ["PyTorch-115607/complex", "Bolts-654/digits"]
    serial = run(tmp_path / "serial", *targets, device="cpu", jobs=1)
    for jobs in (2, 3):
        parallel = run(tmp_path / str(jobs), *targets, device="cpu", jobs=jobs)
        for alone, together in zip(serial, parallel, strict=True):
            metrics = [record.metrics for record in alone.records]
            assert [record.metrics for record in together.records] == metrics
            assert together.verdict == alone.verdict
            assert together.verdict.outcome == "REPRODUCED"


@every_case_without_data
def test_the_fixed_variant_in_the_place_of_the_buggy_one_is_not_reproduced(place, target, tmp_path):
    name, case = target.split("/")
    directory = tmp_path / "bugs" / name
    shutil.copytree(ROOT / "bugs" / name, directory)
    (tmp_path / "environments").symlink_to(ROOT / "environments")
    config = json.loads((directory / "config.json").read_text())
    variants = config["cases"][case]["variants"]
    variants["buggy"] = variants["fixed"]
    (directory / "config.json").write_text(json.dumps(config))
    copy = Catalog(tmp_path)
    options = Options(
        results=tmp_path / "results",
        seeds=(copy.bug(name).cases[case].program.seeds[0],),
        device="cpu",
        jobs=2,
    )
    outcome = Session(copy, options, on_stderr()).run(copy.select([target]))[0]
    assert outcome.verdict.outcome == "NOT REPRODUCED", outcome.verdict.reason


@every_case_without_data
def test_our_detectors_are_silent_on_every_fixed_variant(place, target, results):
    ours = [detectors.load(ROOT, name) for name in OWN]
    plan = CampaignOptions(ours, bugs=[target], controls="none", overhead_on=None)
    options = Options(results=results / "results", device="cpu", keep=False, jobs=2)
    result = campaign.run(plan, Session(CATALOG, options, on_stderr()))
    assert {record.status for record in result.checks} == {"ok"}
    assert not result.broken
    assert not [record.name for record in result.checks if record.kind == "fixed" and record.alarms]


def test_the_fault_put_back_brings_115607_to_a_current_release(tmp_path):
    place = {"environment": "torch-2.13.0", "device": "cpu", "seeds": (0,)}
    for case in ("simple", "complex", "loop-simple", "loop-complex"):
        target = f"PyTorch-115607/{case}"
        injected = run(tmp_path, target, inject=True, **place)[0]
        assert injected.verdict.outcome == "REPRODUCED"
        assert injected.records[0].injected
        assert injected.drift is not None
        assert injected.drift < 1e-5
        assert run(tmp_path, target, **place)[0].verdict.outcome == "NOT REPRODUCED"
    refused = run(tmp_path, "PyTorch-115607/simple", inject=True, device="cpu")[0]
    assert (refused.verdict.outcome, refused.records[0].status) == ("INVALID", "refused")


def test_why_shows_the_guard_that_2_2_2_lacks():
    bug, places = CATALOG.bug("PyTorch-115607"), Runtimes(ROOT, on_stderr(), "cpu")
    affected = explain(bug, places.get("torch-2.2.2"), inject=False)
    mended = explain(bug, places.get("torch-2.13.0"), inject=False)
    injected = explain(bug, places.get("torch-2.13.0"), inject=True)
    fault = (
        "gradients None, None; step counters [1, 1]; compiled a version\n    no guard on any "
        "gradient"
    )
    assert fault in affected
    assert fault in injected
    assert fault not in mended
    assert "params'][0].grad: CONSTANT_MATCH" in mended
    assert "step counters [4, 3]" in mended


@pytest.mark.parametrize(
    "environment, first_compiled, first_evaluated",
    [
        ("torch-2.3.1", "False", "True"),
        ("torch-2.4.1", "True", "True"),
        ("torch-2.8.0", "False", "False"),
    ],
)
def test_why_shows_what_a_compiled_module_says_of_its_mode(
    environment, first_compiled, first_evaluated
):
    runtime = Runtimes(ROOT, on_stderr(), "cpu").get(environment)
    text = explain(CATALOG.bug("PyTorch-132986"), runtime, inject=False)
    lines = [line.split() for line in text.splitlines()[2:] if line.strip()]
    rows = {" ".join(words[:-2]): words[-2:] for words in lines}
    assert rows["compile, eval()"] == [first_compiled, "False"]
    assert rows["eval(), compile"] == [first_evaluated, "False"]
    assert rows["compile, eval(), train()"] == ["True", "True"]


def blocks_of_why(name):
    """Outputs of why.py in the README of a bug: a block that begins with the version of torch."""
    readme = (ROOT / "bugs" / name / "README.md").read_text()
    return re.findall(r"^```\n(torch .*?)```", readme, re.M | re.S)


SHOWN = [(name, block) for name in CATALOG.active() for block in blocks_of_why(name)]


@pytest.mark.parametrize("name, block", SHOWN, ids=[name for name, _ in SHOWN])
def test_why_prints_what_the_readme_shows(name, block):
    environment = "torch-" + block.split()[1].split("+")[0]
    runtime = Runtimes(ROOT, on_stderr(), "cpu").get(environment)
    assert explain(CATALOG.bug(name), runtime, inject=False).split() == block.split()


def test_some_readmes_show_what_why_prints():
    assert {name for name, _ in SHOWN} >= {
        "PyTorch-138908",
        "PyTorch-148259",
        "PyTorch-16045",
        "PyTorch-185872",
    }


def test_60335387_digits_reproduces_and_repeats_exactly(tmp_path):
    first = run(tmp_path, "SO-60335387/digits", device="cpu", seeds=(0,))[0]
    assert first.verdict.outcome == "REPRODUCED"
    again = run(tmp_path, "SO-60335387/digits", device="cpu", seeds=(0,), force=True)[0]
    started = [record.started for record in first.records]
    metrics = [record.metrics for record in first.records]
    assert [record.started for record in again.records] != started
    assert [record.metrics for record in again.records] == metrics


def test_mnist_that_is_not_there_is_said_before_any_run(tmp_path):
    with pytest.raises(
        UsageError, match=r"--data DIR, where DIR/MNIST/raw holds train-images-idx3-ubyte, "
    ):
        run(tmp_path, "SO-60335387/lr1e-4", seeds=(0,), data=tmp_path)


def test_scripts_run_by_hand(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "runner", "checkout", "PyTorch-115607", tmp_path / "copy"],
        check=True,
        cwd=ROOT,
    )
    built = builder.build(spec.load(ROOT, "torch-2.2.2"), on_stderr())
    done = subprocess.run(
        [built.python, "simple_buggy.py"], cwd=tmp_path / "copy", capture_output=True, text=True
    )
    assert done.returncode == 0
    assert done.stdout.count('"iteration": ') == 3
    assert '"step"' not in done.stdout
