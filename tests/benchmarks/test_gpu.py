"""`make gpu` with a pretended GPU: which cases are run, what is kept of them,
and how it goes on after a stop.
"""

import importlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support.paths import ROOT
from support.toy import SCRIPT, toy_config

from runner.bugs.catalog import Catalog
from runner.environments import interpreter
from runner.environments.interpreter import Interpreter
from runner.errors import UsageError
from runner.results.expected import CUDA, expected_records
from runner.session.options import Options

DEVICE = "Pretended GPU"


@pytest.fixture
def gpu(monkeypatch):
    """The script, as a module."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("gpu")


def host(torch="2.9.1", **packages):
    """An interpreter of the host that sees a GPU."""
    return Interpreter(Path(sys.executable), "3.11.7", torch, (DEVICE,), "550.1", packages)


def seeing(devices):
    """The look at an interpreter, with that list of devices and a torch."""
    look = interpreter.probe
    return lambda path, readable=None: replace(
        look(path, readable), torch="2.9.1", devices=devices, driver="550.1"
    )


@pytest.fixture
def pretended(monkeypatch, toy):
    """A machine with a GPU, which every torch sees, and programs that ask for it."""
    for script in toy.directory.glob("*.py"):
        script.write_text(f'{script.read_text()}config["device"]\n')
    monkeypatch.setattr("runner.environments.interpreter.machine_has_accelerator", lambda: True)
    for module in ("interpreter", "runtime"):
        monkeypatch.setattr(f"runner.environments.{module}.probe", seeing((DEVICE,)))


def two_cases(toy):
    case = toy_config()["cases"]["only"]
    toy.configure(cases={"only": case, "other": case | {"title": "Another one"}})


def call(gpu, toy, tmp_path, **options):
    """The exit status, and the report by case: its cells."""
    options = {"device": "cuda", "python": Path(sys.executable), "results": toy.results} | options
    status = gpu.run(toy.catalog, Options(**options), tmp_path / "gpu.md")
    return status, table(tmp_path / "gpu.md")


def table(path):
    lines = [line for line in path.read_text().splitlines() if line.startswith("| ")][1:]
    rows = {}
    for line in lines:
        case, *cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        rows[case] = cells
    return rows


@pytest.mark.usefixtures("pretended")
def test_records_of_a_gpu_are_kept_and_a_report_is_written(gpu, toy, tmp_path):
    status, report = call(gpu, toy, tmp_path)
    assert status == 0
    assert report["Toy-1/only"][:4] == ["the script", "REPRODUCED", "REPRODUCED", "4 written"]
    assert {
        (record.runtime.device, record.device_name)
        for record in expected_records(toy.bug, "only", CUDA)
    } == {("cuda", DEVICE)}
    assert not expected_records(toy.bug, "only")
    text = (tmp_path / "gpu.md").read_text()
    assert f"{DEVICE}, driver 550.1, torch 2.9.1 of an interpreter of the host" in text
    assert "It has 1 of 1 cases: 1 REPRODUCED." in text
    assert str(tmp_path) not in text


@pytest.mark.usefixtures("pretended", "toy_environment")
def test_the_environments_of_the_bugs_are_used_where_no_interpreter_is_named(gpu, toy, tmp_path):
    status, report = call(gpu, toy, tmp_path, python=None)
    assert status == 0
    assert report["Toy-1/only"][2] == "REPRODUCED"
    assert {record.runtime.environment for record in expected_records(toy.bug, "only", CUDA)} == {
        "toy"
    }
    assert "pinned environments" in (tmp_path / "gpu.md").read_text()


@pytest.mark.usefixtures("pretended")
@pytest.mark.parametrize(
    "script, status, verdict",
    [
        (SCRIPT.replace("VALUE", "2") + 'config["device"]\n', 1, "NOT REPRODUCED"),
        ('raise SystemExit("device")', 2, "INVALID"),
    ],
)
def test_of_another_verdict_no_records_are_kept_and_the_report_says_why(
    gpu, toy, tmp_path, script, status, verdict
):
    toy.write("buggy.py", script)
    ended, report = call(gpu, toy, tmp_path)
    assert ended == status
    assert report["Toy-1/only"][2] == verdict
    assert report["Toy-1/only"][3] == ""
    assert report["Toy-1/only"][-1]
    assert not expected_records(toy.bug, "only", CUDA)


@pytest.mark.usefixtures("pretended")
def test_it_goes_on_after_a_stop(gpu, toy, tmp_path, monkeypatch):
    two_cases(toy)
    promote, done = gpu.promote_runs, []

    def stopped(outcomes):
        if done:
            raise KeyboardInterrupt
        done.append(outcomes)
        return promote(outcomes)

    monkeypatch.setattr(gpu, "promote_runs", stopped)
    with pytest.raises(KeyboardInterrupt):
        call(gpu, toy, tmp_path)
    assert list(table(tmp_path / "gpu.md")) == ["Toy-1/only"]
    assert "It has 1 of 2 cases" in (tmp_path / "gpu.md").read_text()
    before = {path: path.stat().st_mtime_ns for path in toy.results.rglob("*-seed*.json")}
    monkeypatch.setattr(gpu, "promote_runs", promote)
    status, report = call(gpu, toy, tmp_path)
    assert status == 0
    assert list(report) == ["Toy-1/only", "Toy-1/other"]
    assert len(before) == 8
    assert before == {path: path.stat().st_mtime_ns for path in toy.results.rglob("*-seed*.json")}


@pytest.mark.usefixtures("pretended")
def test_a_torch_that_sees_no_gpu_is_a_line_of_the_report(
    gpu, toy, tmp_path, monkeypatch, toy_environment
):
    monkeypatch.setattr("runner.environments.runtime.probe", seeing(()))
    status, report = call(gpu, toy, tmp_path, python=None)
    assert status == 2
    assert report["Toy-1/only"][2] == "NOT RUN"
    assert "sees 0 such devices" in report["Toy-1/only"][-1]


@pytest.mark.usefixtures("pretended")
def test_not_more_is_kept_than_may_be_committed(gpu, toy, tmp_path, monkeypatch):
    two_cases(toy)
    monkeypatch.setattr(gpu, "MAX_RECORDS_BYTES", 1)
    _, report = call(gpu, toy, tmp_path)
    assert report["Toy-1/only"][3] == "4 written"
    assert report["Toy-1/other"][3].startswith("none: CUDA records have 0.0 MB")


def test_without_a_gpu_there_is_one_line(gpu, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("runner.environments.interpreter.machine_has_accelerator", lambda: False)
    assert gpu.main(["--results", str(tmp_path), "--out", str(tmp_path / "gpu.md")]) == 2
    assert capsys.readouterr().err == (
        "gpu: there is no GPU here; expected one that the kernel shows, such as /dev/nvidia0\n"
    )
    assert gpu.main(["--device", "cpu"]) == 2
    assert "expected cuda or cuda:N" in capsys.readouterr().err
    assert not (tmp_path / "gpu.md").exists()


def test_with_an_interpreter_of_the_host_the_faults_that_can_be_there_are_run(gpu):
    catalog = Catalog(ROOT)
    with pytest.raises(UsageError):
        catalog.select(["none-of-these"])
    everything = gpu.plan(catalog, None, None)
    of = {item.target.case.id: item for item in everything}
    reasons = {name: item.left_out for name, item in of.items() if item.left_out}
    need_data = {name for name, reason in reasons.items() if "needs --data" in reason}
    assert need_data == {"SO-60335387/lr1e-4", "SO-60335387/lr1e-5"}
    on_cpu = {name for name, reason in reasons.items() if "train on the CPU" in reason}
    assert on_cpu == reasons.keys() - need_data
    assert {"tianshou-963/field", "Lightning-21454/digits"} < on_cpu
    assert not of["PyTorch-115607/graphs"].left_out, "it needs a GPU, which is there"
    release = catalog.bug("PyTorch-115607").affected.versions
    for torch, left_out, expected in (
        (f"{release[0]}+cu121", None, "REPRODUCED"),
        ("99.0.0", "torch 99.0.0 is none of the affected releases", "NOT REPRODUCED"),
    ):
        planned = {item.target.case.id: item for item in gpu.plan(catalog, None, host(torch))}
        assert planned.keys() == of.keys()
        simple = planned["PyTorch-115607/simple"]
        assert simple.left_out == left_out
        assert simple.expected == expected
        assert planned["SO-60335387/digits"].left_out is None
    assert any(value.left_out and "has no" in value.left_out for value in planned.values()), (
        "packages that are not there"
    )


def test_a_release_between_affected_ones_may_have_the_fault(gpu):
    catalog = Catalog(ROOT)
    several = next(
        bug for name in catalog.active()
        if (bug := catalog.bug(name)).package == "torch" and not gpu.in_script(bug) and bug.affected
        and len(bug.affected.versions) > 1
    )  # fmt: skip
    first = min(several.affected.versions, key=gpu.version_order)
    target = catalog.select([several.id])[0]
    assert gpu._by_release(target, host(f"{first}.1")).expected == "REPRODUCED, or mended"
    assert gpu._by_release(target, host("0.1")).left_out


@pytest.mark.usefixtures("pretended")
def test_as_many_runs_at_a_time_as_asked_for(gpu, toy, tmp_path):
    two_cases(toy)
    status, report = call(gpu, toy, tmp_path, jobs=4)
    assert status == 0
    assert list(report) == ["Toy-1/only", "Toy-1/other"]
    assert {cells[2] for cells in report.values()} == {"REPRODUCED"}


@pytest.mark.usefixtures("pretended")
def test_cases_that_should_fail_run_first(gpu, toy, tmp_path, monkeypatch):
    two_cases(toy)
    ran, ask = [], gpu.Session.outcomes

    def noting(session, targets):
        ran.append([target.case.id for target in targets])
        return ask(session, targets)

    def planned(*_):
        targets = toy.catalog.select(["Toy-1"])
        expected = (gpu.MAYBE, gpu.REPRODUCED)
        return [gpu.Planned(*pair) for pair in zip(targets, expected, strict=True)]

    monkeypatch.setattr(gpu.Session, "outcomes", noting)
    monkeypatch.setattr(gpu, "plan", planned)
    assert call(gpu, toy, tmp_path)[0] == 0
    assert ran == [["Toy-1/other"], ["Toy-1/only"]]


def test_only_the_bugs_that_are_named_are_planned(gpu):
    catalog = Catalog(ROOT)
    planned = gpu.plan(catalog, None, host(torchmetrics="1.7.2"), ["TorchMetrics-3068"])
    assert [item.target.case.id for item in planned] == ["TorchMetrics-3068/letters"]
    assert planned[0].expected == "REPRODUCED"
    with pytest.raises(UsageError):
        gpu.plan(catalog, None, None, ["none-of-these"])


@pytest.mark.usefixtures("pretended")
def test_programs_that_train_on_the_cpu_are_left_out(gpu, toy, tmp_path):
    """A run "on a GPU" of such a program would say nothing of the GPU."""
    for script in toy.directory.glob("*.py"):
        script.write_text(script.read_text().replace("device", "output"))
    _, report = call(gpu, toy, tmp_path)
    assert "left out" in report["Toy-1/only"]
    assert report["Toy-1/only"][-1] == "its scripts train on the CPU"
