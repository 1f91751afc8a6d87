"""Expected records by kind of device.

No GPU is needed: the records are those of a CPU that say `cuda`.
"""

import json
import sys
from pathlib import Path

import pytest
from support.copies import replace
from support.records import as_pinned
from support.toy import OWN_PYTHON, toy_config

from runner.authoring.validate import problems
from runner.errors import UsageError
from runner.execution.key import read_scripts, run_key
from runner.files.atomic import write_json
from runner.results.expected import CUDA, expected_path, expected_records, recorded_devices
from runner.results.record import digest, encode
from runner.session.options import Options
from runner.session.promote import promote_runs
from runner.session.selection import without_gpu_cases
from runner.verdicts.drift import drift


def on_gpu(outcome, **changes):
    changes = {
        "device": "cuda:1",
        "pinned": False,
        "revision": "0123",
        "environment": "own",
    } | changes
    return replace(outcome, records=tuple(replace(record, **changes) for record in outcome.records))


@pytest.fixture
def outcome(toy):
    return toy.run()


def test_they_lie_beside_each_other(toy, outcome):
    promote_runs([as_pinned(outcome)])
    assert recorded_devices(toy.bug, "only") == ("cpu",)
    written = promote_runs([on_gpu(outcome)])
    assert {path.parent for path in written} == {toy.bug.expected / "only" / "cuda"}
    assert len(written) == 4
    assert recorded_devices(toy.bug, "only") == ("cpu", "cuda")
    assert {record.runtime.device for record in expected_records(toy.bug, "only")} == {"cpu"}
    assert {record.runtime.device for record in expected_records(toy.bug, "only", CUDA)} == {
        "cuda:1"
    }
    promote_runs([as_pinned(outcome)])
    assert all(path.exists() for path in written)


def test_drift_compares_like_with_like(toy, outcome):
    case, gpu_records = toy.bug.cases["only"], on_gpu(outcome, torch="2.9.1").records
    assert drift(case, gpu_records, outcome.records) is None
    assert drift(case, gpu_records, (*outcome.records, *gpu_records)) == 0
    assert drift(case, gpu_records, on_gpu(outcome, torch="2.8.0").records) is None
    assert drift(case, on_gpu(outcome, torch="2.9.1", injected=True).records, gpu_records) is None
    assert drift(case, outcome.records, (*outcome.records, *gpu_records)) == 0


def test_those_of_a_gpu_may_be_of_any_interpreter_but_not_of_two_kinds(toy, outcome):
    with pytest.raises(UsageError, match="in a pinned environment"):
        promote_runs([on_gpu(outcome, device="cpu")])
    with pytest.raises(UsageError, match="was run on cpu and cuda, expected one of them"):
        promote_runs(
            [replace(outcome, records=(*outcome.records[:1], *on_gpu(outcome).records[1:]))]
        )
    with pytest.raises(UsageError, match="only: NOT REPRODUCED; expected REPRODUCED"):
        promote_runs(
            [on_gpu(replace(outcome, verdict=replace(outcome.verdict, outcome="NOT REPRODUCED")))]
        )
    assert not toy.bug.expected.exists()
    assert len(promote_runs([replace(on_gpu(outcome, injected=True), injected=True)])) == 4


def test_it_is_said_on_which_devices_a_case_was_seen(toy, outcome, cli):
    assert "seen on no device yet" in cli("info", "Toy-1")[1]
    promote_runs([as_pinned(outcome), on_gpu(outcome)])
    assert "seen on cpu and cuda" in cli("info", "Toy-1")[1]
    assert "Seen on a CPU: 1 cases; on a GPU: 1." in cli("list", "--markdown")[1]


@pytest.fixture
def with_graphs(toy):
    """The toy bug with a second case, which needs a GPU."""
    case = toy_config()["cases"]["only"]
    toy.configure(cases={"only": case, "graphs": case | {"needs": ["gpu"]}})
    return toy


@pytest.mark.parametrize(
    "names, options, expected",
    [
        (["Toy-1"], {"device": "cpu"}, ["only"]),
        (["Toy-1"], {"device": "auto"}, ["only"]),
        (["Toy-1"], {"device": "cuda"}, ["only", "graphs"]),
        (["Toy-1"], {"executor": "slurm"}, ["only", "graphs"]),
        (["Toy-1", "Toy-1/graphs"], {"device": "cpu"}, ["only", "graphs"]),
    ],
)
def test_a_case_that_needs_a_gpu_is_left_out_where_there_is_none(
    with_graphs, monkeypatch, names, options, expected
):
    monkeypatch.setattr("runner.environments.interpreter.machine_has_accelerator", lambda: False)
    targets, notes = without_gpu_cases(with_graphs.catalog.select(names), names, Options(**options))
    assert [target.case.name for target in targets] == expected
    assert notes == (["Toy-1/graphs: left out, it needs a GPU"] * (len(expected) == 1))


def test_it_runs_by_its_bug_where_there_is_one(with_graphs, monkeypatch):
    monkeypatch.setattr("runner.environments.interpreter.machine_has_accelerator", lambda: True)
    assert (
        len(without_gpu_cases(with_graphs.catalog.select(["Toy-1"]), ["Toy-1"], Options())[0]) == 2
    )


def test_the_commands_leave_it_out_and_say_so(with_graphs, cli):
    status, out, err = cli("run", "Toy-1", "--device", "cpu", *OWN_PYTHON)
    assert status == 0
    assert "Toy-1/only" in out
    assert "Toy-1/graphs" not in out
    assert "it needs a GPU" in err


def test_one_that_is_named_is_refused_before_any_run(with_graphs, cli):
    status, out, err = cli("run", "Toy-1/only", "Toy-1/graphs", "--device", "cpu", *OWN_PYTHON)
    assert (status, out) == (2, "")
    assert not list(with_graphs.results.rglob("*.json"))
    python = Path(sys.executable).absolute()
    assert (
        err
        == f"trainbugs: Toy-1/graphs needs a GPU; {python} has no torch; see --device and --python\n"
    )


def test_validate_asks_for_no_records_of_it_and_judges_those_of_a_gpu(with_graphs):
    def reports():
        return [
            line for line in problems(with_graphs.directory, with_graphs.root) if "graphs" in line
        ]

    for name in ("buggy.py", "fixed.py"):
        text = (with_graphs.directory / name).read_text()
        with_graphs.write(name, f'{text}config["device"]\n')
    assert any("expected/graphs has 0 of 4 runs" in line for line in reports())
    runs_nowhere = json.loads((with_graphs.directory / "config.json").read_text())
    runs_nowhere["cases"]["graphs"]["never_run"] = True
    with_graphs.write("config.json", json.dumps(runs_nowhere))
    assert reports() == []
    del runs_nowhere["cases"]["graphs"]["never_run"]
    with_graphs.write("config.json", json.dumps(runs_nowhere))
    with_gpu = (with_graphs.directory / "config.json").read_text()
    with_graphs.write("config.json", with_gpu.replace('["gpu"]', "[]"))
    outcome = on_gpu(with_graphs.run("Toy-1/graphs"), pinned=True)
    with_graphs.write("config.json", with_gpu)
    case = with_graphs.bug.cases["graphs"]
    for record in outcome.records:
        place = (
            record.runtime.environment,
            record.lock,
            "True",
            record.python,
            record.runtime.torch,
        )
        scripts = read_scripts(with_graphs.bug, case.program.variants[record.variant])
        key = run_key(
            case, record.variant, scripts, record.seed, record.runtime.device, place, record.data
        )
        expected = replace(record, key=key, metrics_digest=digest(key, record.metrics))
        write_json(expected_path(with_graphs.bug, expected), encode(expected))
    assert reports() == []
    with_graphs.write("buggy.py", (with_graphs.directory / "fixed.py").read_text())
    assert any("is of other scripts" in line for line in reports())


def test_a_case_that_nobody_ran_may_have_records_with_the_fault_put_back(with_graphs):
    """Whoever has no release with the fault can say so much."""
    config = json.loads((with_graphs.directory / "config.json").read_text())
    config["cases"]["graphs"]["never_run"] = True
    with_graphs.write("config.json", json.dumps(config))
    records = on_gpu(with_graphs.run("Toy-1/only"), pinned=True, injected=True).records
    for record in records:
        write_json(
            expected_path(with_graphs.bug, replace(record, case="graphs")),
            encode(replace(record, case="graphs")),
        )
    problem_texts = problems(with_graphs.directory, with_graphs.root)
    assert not any("never_run" in line for line in problem_texts)
    for record in records:
        plain = replace(record, case="graphs", injected=False)
        write_json(expected_path(with_graphs.bug, plain), encode(plain))
    assert any("never_run is true" in x for x in problems(with_graphs.directory, with_graphs.root))
