"""Which programs a campaign shows to which detectors: cases, seeds, mended releases, controls, references."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from msgspec.structs import replace
from support.detectors import write_detector
from support.evaluating import KINDS, RULES, evaluate, score
from support.toy import SCRIPT, toy_config

from evaluation.catalog import detectors
from evaluation.running.campaign import CampaignResult
from evaluation.running.options import CampaignOptions
from evaluation.running.program import select_seeds
from evaluation.scoring.outcomes import outcomes
from evaluation.scoring.scores import scores
from runner.bugs.case import Case


def test_one_that_learns_gets_the_fixed_twin_with_other_seeds(toy, make):
    result = evaluate(toy, make("learns"))
    assert {record.kind: bool(record.alarms) for record in result.checks} == {
        "buggy": True,
        "fixed": False,
    }
    assert {record.references for record in result.checks} == {"same"}
    assert [alarm.message[-4:] for record in result.checks for alarm in record.alarms] == ["of 2"]
    assert all(record.seconds.prepare > 0 for record in result.checks)


def test_the_buggy_script_in_a_mended_release_is_another_clean_program(toy, make):
    case = toy_config()["cases"]["only"]
    case["variants"]["upstream"] = {"environment": "toy"}
    toy.configure(cases={"only": case})
    adapter = KINDS["always"].replace("iteration=1", "iteration=2")
    assert {r.kind for r in evaluate(toy, make("always", adapter)).checks} == {"buggy", "fixed"}
    checks = evaluate(toy, make("always", adapter), upstream=True).checks
    assert sorted(record.kind for record in checks) == ["buggy", "fixed", "upstream"]
    row = score(CampaignResult(checks, (), (), Path())).iloc[0]
    assert row.false_upstream == 1
    assert row.false_upstream_n == 1
    assert row.paired_upstream == 0
    assert row.paired_upstream_n == 1
    quiet = [replace(check, alarms=()) if check.kind == "upstream" else check for check in checks]
    row = score(CampaignResult(tuple(quiet), (), (), Path())).iloc[0]
    assert row.paired == 0
    assert row.paired_upstream == 1
    assert row.false_upstream == 0


CHANGES = {
    "force": lambda toy, make, adapter: evaluate(toy, make("counts", adapter), force=True),
    "adapter": lambda toy, make, adapter: evaluate(toy, make("counts", adapter + " # another")),
    "version": lambda toy, make, adapter: evaluate(toy, make("counts", adapter, version="2")),
    "time": lambda toy, make, adapter: evaluate(toy, make("counts", adapter), timeout_s=19),
    "program": lambda toy, make, adapter: (
        toy.write("images.py", "import json\n"),
        evaluate(toy, make("counts", adapter)),
    )[1],
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_answered_is_not_asked_again_unless_something_changed(toy, make, change):
    adapter = "main(lambda target, state: {'alarms': [alarm('pid', os.urandom(8).hex())]})"
    first = evaluate(toy, make("counts", adapter)).checks
    assert evaluate(toy, make("counts", adapter)).checks == first, "asked again"
    rules = {"default": {"codes": ["pid"]}, "other": {}}
    assert evaluate(toy, make("counts", adapter, alarm_rules=rules)).checks == first, (
        "asked again for other rules"
    )
    again = CHANGES[change](toy, make, adapter).checks
    assert not {record.alarms[0].message for record in again} & {
        record.alarms[0].message for record in first
    }


def test_what_a_killed_evaluation_leaves_lies_where_the_next_command_removes_it(
    toy, make, tmp_path, monkeypatch
):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    text = "main(lambda target, state: {'alarms': [alarm('here', str(Path.cwd()))]})"
    (check, _) = evaluate(toy, make("where", text), seeds=(0,)).checks
    assert (
        Path(check.alarms[0].message)
        .relative_to(tmp_path / "tmp")
        .parts[0]
        .startswith(".trainbugs-")
    )
    assert not [
        path for path in (tmp_path / "tmp").iterdir() if not path.name.startswith(".trainbugs-")
    ]


def test_each_case_is_met_with_its_first_seed_or_all(toy, make):
    toy.configure(seeds=[3, 1])
    first = evaluate(toy, make("never"), all_seeds=False).checks
    assert {check.seed for check in first} == {3}
    both = evaluate(toy, make("never"), all_seeds=True).checks
    assert {check.seed for check in both} == {1, 3}


@pytest.mark.parametrize("data, expected", [((), [0, 1]), (("MNIST/raw/images",), [0])])
def test_of_all_seeds_a_case_that_needs_data_has_the_first(data, expected):
    """Such programs take minutes."""
    case = cast("Case", SimpleNamespace(program=SimpleNamespace(seeds=[0, 1], data=data)))
    assert [list(select_seeds(case, requested, True)) for requested in (None, (7,))] == [
        expected,
        [7],
    ]


def test_a_program_that_does_not_run_is_shown_to_nobody(toy, make):
    toy.write("buggy.py", "raise SystemExit('no')")
    result = evaluate(toy, make("always"))
    assert [record.kind for record in result.checks] == ["fixed"]
    assert [subject.kind for subject in result.broken] == ["buggy"]


def test_a_retired_bug_is_shown_only_when_it_is_named(toy, make):
    toy.configure(status={"state": "retired", "since": "2026-11-21", "reason": "not stable"})
    assert not evaluate(toy, make("never"), controls="none").checks
    assert (
        len(evaluate(toy, make("never"), controls="none", bugs=["Toy-1"], seeds=(0,)).checks) == 2
    )


def test_two_detectors_of_one_name_are_refused(toy, make, tmp_path):
    detector = detectors.read(make("never"))
    with pytest.raises(Exception, match="two detectors are named 'never'"):
        CampaignOptions([detector, detector])


@pytest.fixture
def with_controls(toy):
    """Two controls in the toy catalogue, of which one is a reference for other programs."""
    folder = toy.root / "detectors" / "controls"
    folder.mkdir(parents=True)
    described = {
        "schema": 1, "environment": "toy", "timeout_s": 20, "references": ["plain"],
        "parameters": {"num_epoch": 3, "seed": 0, "device": "auto", "output": "metrics"},
        "controls": {name: {"title": "a toy", "accused": "by none"} for name in ("plain", "odd")},
    }  # fmt: skip
    (folder / "controls.json").write_text(json.dumps(described))
    for name, factor in (("plain", "100"), ("odd", "1")):
        (folder / f"{name}.py").write_text(SCRIPT.replace("VALUE", factor))


def test_controls_are_false_alarms_and_references_of_other_programs(toy, make, with_controls):
    directory = make("learns", references=["same", "cross"])
    result = evaluate(toy, directory, seeds=(0,))
    alarmed = {
        (record.references, record.bug, record.case): bool(record.alarms)
        for record in result.checks
        if record.kind == "control"
    }
    # `odd` is as low as the reference `plain` is high; `plain` is not scored with itself as the
    # reference
    assert alarmed == {
        ("same", "control", "plain"): False, ("same", "control", "odd"): False, ("cross", "control", "odd"): True,
    }  # fmt: skip
    table = scores(outcomes(result.checks, {"learns": RULES})).set_index("references")
    assert list(table.loc["cross"][["false_controls", "false_controls_n"]]) == [1, 1]
    assert list(table.loc["same"][["false_controls", "false_controls_n"]]) == [0, 2]
    assert {
        record.references for record in evaluate(toy, directory, references=("cross",)).checks
    } == {"cross"}
    assert not [
        r for r in evaluate(toy, make("never"), controls="none").checks if r.kind == "control"
    ]


@pytest.mark.parametrize(
    ("chosen", "counted"), [("all", "1 case and 2 controls: about "), ("none", "1 case: about ")]
)
def test_what_is_to_do_counts_cases_and_controls_apart(
    toy, make, with_controls, monkeypatch, capsys, chosen, counted
):
    monkeypatch.setattr("runner.session.forecast.SHORTEST_S", 0)
    evaluate(toy, make("never"), controls=chosen)
    assert any(line.startswith(counted) for line in capsys.readouterr().err.splitlines())


def test_controls_of_the_same_environments_need_no_other_one(toy, make, with_controls):
    path = toy.root / "detectors" / "controls" / "controls.json"
    described = json.loads(path.read_text())
    described["controls"]["odd"]["environment"] = "another"
    path.write_text(json.dumps(described))
    for choice, cases in (("same", {"plain"}), ("all", {"plain", "odd"}), ("none", set())):
        checks = evaluate(toy, make("never"), seeds=(0,), controls=choice).checks
        assert {record.case for record in checks if record.kind == "control"} == cases


@pytest.mark.parametrize("names", [["schedule"], []])
def test_controls_for_sanitizers_are_shown_only_with_all(toy, make, with_controls, names):
    path = toy.root / "detectors" / "controls" / "controls.json"
    described = json.loads(path.read_text())
    described["controls"]["odd"]["look_alike"] = names
    path.write_text(json.dumps(described))
    for choice, cases in (("same", {"plain"}), ("all", {"plain", "odd"})):
        checks = evaluate(toy, make("never"), seeds=(0,), controls=choice).checks
        assert {record.case for record in checks if record.kind == "control"} == cases


@pytest.mark.parametrize("count", [None, 1, 5])
def test_a_detector_says_how_many_clean_runs_it_learns_from(toy, tmp_path, count):
    counts = """
        def prepare(references, state):
            (state / "count").write_text(str(len({reference.directory for reference in references})))
        def check(target, state):
            return {"alarms": [alarm("count", (state / "count").read_text())]}
        main(check, prepare)
    """
    declaration = {} if count is None else {"reference_count": count}
    needs = {"needs": ["source", "reference_runs"], "references": ["same"]}
    result = evaluate(
        toy, write_detector(tmp_path / "counts", counts, **needs, **declaration), controls="none"
    )
    assert {check.alarms[0].message for check in result.checks} == {str(count or 2)}
    assert len(result.checks) == 2


def test_without_a_reference_that_runs_nothing_is_learnt(toy, make):
    fixed = (toy.directory / "fixed.py").read_text()
    toy.write(
        "fixed.py", fixed.replace("records = []", "records = []\nassert config['seed'] < 100")
    )
    result = evaluate(toy, make("learns"))
    assert {record.status for record in result.checks} == {"tool_error"}
    assert result.checks[0].reason == "prepare: no reference runs by itself"


def test_what_prepare_wrote_before_it_failed_is_kept_with_each_check(toy, tmp_path):
    stops = """
        def prepare(references, state):
            raise RuntimeError("so")
        main(lambda target, state: {"alarms": []}, prepare)
    """
    needs = {"needs": ["source", "reference_runs"], "references": ["same"]}
    evaluate(toy, write_detector(tmp_path / "stops", stops, **needs), controls="none")
    kept = list(tmp_path.rglob("stops/same/**/stderr"))
    assert len(kept) == 2
    for path in kept:
        assert "in prepare" in path.read_text()


@pytest.mark.parametrize(
    "error, status",
    [
        ("ToolTimeoutError", "timeout"),
        ("UnsupportedError", "unsupported"),
        ("ToolError", "tool_error"),
    ],
)
def test_why_nothing_is_learnt_is_told_as_of_a_check(toy, tmp_path, error, status):
    stops = f"""
        import detector_kit
        def prepare(references, state):
            raise detector_kit.{error}("as it is: so")
        main(lambda target, state: {{"alarms": []}}, prepare)
    """
    needs = {"needs": ["source", "reference_runs"], "references": ["same"]}
    result = evaluate(toy, write_detector(tmp_path / "stops", stops, **needs), controls="none")
    assert {(check.status, check.reason) for check in result.checks} == {
        (status, "prepare: as it is: so")
    }
