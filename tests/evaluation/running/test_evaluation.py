"""Detectors of every kind on the toy bug: each gets what it deserves,
and none changes another's score.
"""

import json
import runpy
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace as replace_result
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pandas as pd
import pytest
from msgspec.structs import replace
from support.checks import overhead as timing
from support.checks import record, with_changes
from support.detectors import write_detector
from support.toy import SCRIPT, toy_config

from evaluation.catalog import controls, detectors, submissions
from evaluation.catalog.frozen import Frozen
from evaluation.keys import KIT, kit_digest, rule_digest, rules_digest
from evaluation.model import Alarm, Rule, Training
from evaluation.records import Seconds
from evaluation.running import campaign
from evaluation.running.adapter import Adapter
from evaluation.running.answers import STATUS_OF
from evaluation.running.bare_runs import BareRuns, Once
from evaluation.running.campaign import CampaignResult
from evaluation.running.detector_check import DetectorCheck
from evaluation.running.detector_run import DetectorRun
from evaluation.running.options import CampaignOptions
from evaluation.running.program import select_seeds
from evaluation.running.promote import promote_checks
from evaluation.running.timing import select_timed, take_turns
from evaluation.scoring.scores import label, outcomes, scores
from evaluation.store.committed import CommittedChecks
from evaluation.store.results import CheckStore
from runner.bugs.case import Case
from runner.errors import UsageError
from trainbugs import api
from trainbugs.cli.main import main

KINDS = {
    "always": 'main(lambda target, state: {"alarms": [alarm("here", "something", iteration=1)]})',
    "never": "main(lambda target, state: {})",
    "right": """
        def check(target, state):
            text = Path(target.directory, target.script).read_text()
            line = text.splitlines().index('    record = {"epoch": epoch, "accuracy": 1 * epoch + config["seed"]}')
            return {"alarms": [alarm("factor", "1", line=line + 1, file=target.script, iteration=3)]}

        try:
            main(check)
        except ValueError:
            main(lambda target, state: {})
    """,
    "hangs": "time.sleep(60)",
    "crashes": "raise ValueError('no idea')",
    "killed": "os.kill(os.getpid(), 9)",
    "silent": "pass",
    "broken": "Path(sys.argv[sys.argv.index('--out') + 1]).write_text('{\"status\": \"ok\", ')",
    "foreign": "Path(sys.argv[sys.argv.index('--out') + 1]).write_text('{\"status\": \"fine\"}')",
    "failed": (
        'main(lambda target, state: {"status": "tool_error", "alarms": [alarm("x", "spurious")]})'
    ),
    "old": 'raise SystemExit("never started")',
    "peeks": (
        "main(lambda target, state: {'alarms': [alarm('x', Path(ROOT, "
        "'bugs/Toy-1/config.json').read_text())]})"
    ),
    "lists": "os.listdir(Path(ROOT, 'bugs')); main(lambda target, state: {})",
    "greps": """
        def check(target, state):
            subprocess.run(["grep", "-r", "buggy", ROOT + "/bugs"], check=False)
            return {}
        main(check)
    """,
    "hides": """
        try:
            open(ROOT + "/bugs/Toy-1/config.json")
        except OSError:
            pass
        main(lambda target, state: {})
    """,
    "child": """
        def check(target, state):
            subprocess.run([sys.executable, "-c", f"open('{ROOT}/bugs/Toy-1/config.json')"], check=False)
            return {}
        main(check)
    """,
    "learns": """
        def prepare(references, state):
            last = [json.loads(Path(reference.metrics).read_text())[-1]["accuracy"] for reference in references]
            (state / "last.json").write_text(json.dumps([min(last), len(last)]))

        def check(target, state):
            low, many = json.loads((state / "last.json").read_text())
            last = json.loads(Path(target.metrics).read_text())[-1]["accuracy"]
            return {"alarms": [alarm("low", f"{last} < {low} of {many}")] if last < low - 200 else []}

        main(check, prepare)
    """,
    "cannot-learn": """
        def prepare(references, state):
            raise ToolError("too hard")
        main(lambda target, state: {"alarms": [alarm("x", "x")]}, prepare)
    """,
    "learns-forever": "main(lambda target, state: {}, lambda references, state: time.sleep(60))",
}
STATUS = {
    "always": "ok", "never": "ok", "right": "ok", "hangs": "timeout", "crashes": "tool_error", "killed": "tool_error",
    "silent": "tool_error", "broken": "tool_error", "foreign": "tool_error", "failed": "tool_error",
    "old": "unsupported", "peeks": "tool_error", "lists": "tool_error", "greps": "ok", "hides": "ok",
    "child": "ok", "learns": "ok", "cannot-learn": "tool_error", "learns-forever": "timeout",
}  # fmt: skip
RULES = {"default": Rule()}
SLOW = ("hangs", "learns-forever")
NEEDS = {
    "learns": ["reference_runs", "metrics"],
    "cannot-learn": ["reference_runs"],
    "learns-forever": ["reference_runs"],
}
HEAD = """\
import json, os, subprocess, sys, time
from pathlib import Path
from detector_kit import ToolError, alarm, main
"""


@pytest.fixture
def make(toy, tmp_path, monkeypatch):
    """Make a detector outside of the catalogue, of one of KINDS or with another adapter."""
    monkeypatch.setattr("evaluation.running.adapter.GRACE_S", 0.2)
    # The loss of each iteration is taken by a monitor in torch, which toys do without.
    monkeypatch.setattr(
        "evaluation.running.bare_runs.BareRuns._record_losses", lambda self, program: []
    )
    toy.write(
        "fixed.py", (toy.directory / "fixed.py").read_text().replace("2 * epoch", "100 * epoch")
    )

    def write_kind(kind, adapter=None, **changes):
        directory = tmp_path / "own" / kind
        directory.mkdir(parents=True, exist_ok=True)
        needs = NEEDS.get(kind, ["source"])
        described = {
            "schema": 1, "name": kind, "version": "1", "title": "a toy", "source": "here", "needs": needs,
            "adapter": "adapter.py", "alarm_rules": {"default": {}}, "timeout_s": 0.3 if kind in SLOW else 20,
        }  # fmt: skip
        if "reference_runs" in needs:
            described["references"] = ["same"]
        (directory / "detector.json").write_text(json.dumps(described | changes))
        text = HEAD + f"ROOT = {str(toy.root)!r}\n" + textwrap.dedent(adapter or KINDS[kind])
        (directory / "adapter.py").write_text(text)
        return directory

    return write_kind


def evaluate(toy, *directories, **options):
    session_options = ("seeds", "jobs", "results")
    session = toy.session(
        **{name: options.pop(name) for name in session_options if name in options}
    )
    selected = [detectors.load(toy.root, str(directory)) for directory in directories]
    return campaign.run(CampaignOptions(selected, overhead_on=None, **options), session)


def score(result):
    table = outcomes(result.checks, {record.detector: RULES for record in result.checks})
    return scores(table).set_index("detector")


@pytest.mark.parametrize("kind", STATUS)
def test_each_detector_gets_its_status(toy, make, kind, monkeypatch):
    if kind == "old":
        monkeypatch.setattr("evaluation.model.Detector.supports", lambda detector, torch: False)
    result = evaluate(toy, make(kind))
    assert {record.kind: record.status for record in result.checks} == {
        "buggy": STATUS[kind],
        "fixed": STATUS[kind],
    }
    assert all(record.reason for record in result.checks if record.status != "ok")
    assert not [
        record.alarms for record in result.checks if record.status != "ok" and record.alarms
    ]


@pytest.mark.parametrize("kind", ["peeks", "lists", "greps", "hides", "child"])
def test_a_look_at_the_catalogue_is_noted_where_the_kernel_cannot_refuse_it(
    toy, make, kind, unkept
):
    assert {record.status for record in evaluate(toy, make(kind), seeds=(0,)).checks} == {"peeked"}


def test_always_and_never_get_what_they_deserve(toy, make):
    table = score(evaluate(toy, make("always"), make("never"), make("right"), seeds=(0, 1)))
    # `always` alarms in iteration 1, before the fault acts in the second one.
    assert list(table.detected) == [0, 0, 2]
    assert list(table.early) == [2, 0, 0]
    assert list(table.paired) == [0, 0, 2]
    assert list(table.false_fixed) == [2, 0, 0]
    assert list(table.detected_n) == [2, 2, 2]
    assert list(table.paired_n) == [2, 2, 2]
    right = table.loc["right"]
    assert right.claimed_delay_median == 1
    assert right.diagnosis_exact == 2
    assert right.diagnosis_no == 0


def test_one_that_fails_changes_nobody_elses_score(toy, make):
    alone = score(evaluate(toy, make("right"))).loc["right"]
    bad = [make(kind) for kind in ("crashes", "hangs", "broken", "peeks", "killed")]
    among = score(evaluate(toy, bad[0], bad[1], make("right"), *bad[2:], force=True)).loc["right"]
    same = [name for name in alone.index if not name.endswith("_s")]
    assert alone[same].equals(among[same])


def test_a_monitor_is_run_by_the_adapter_of_all_monitors(toy, make):
    directory = make("never")
    described = json.loads((directory / "detector.json").read_text()) | {"needs": ["in_process"]}
    described["monitor"] = described.pop("adapter")
    (directory / "detector.json").write_text(json.dumps(described))
    record = evaluate(toy, directory).checks[0]
    # The toy's interpreter has no torch, which the launcher needs.
    assert record.status == "tool_error"
    assert "the launcher ended with 1: ModuleNotFoundError" in record.reason


def test_one_that_learns_gets_the_fixed_twin_with_other_seeds(toy, make):
    result = evaluate(toy, make("learns"))
    assert {record.kind: bool(record.alarms) for record in result.checks} == {
        "buggy": True,
        "fixed": False,
    }
    assert {record.references for record in result.checks} == {"same"}
    assert [alarm.message[-4:] for record in result.checks for alarm in record.alarms] == ["of 2"]
    assert all(record.seconds.prepare > 0 for record in result.checks)


TELLS = """
    def told(each):
        return {name: value is not None for name, value in vars(each).items()}

    def prepare(references, state):
        (state / "told.json").write_text(json.dumps(told(references[0])))

    def check(target, state):
        beside = sorted(path.name for path in Path().iterdir())
        learnt = state / "told.json"
        said = [told(target), json.loads(learnt.read_text()) if learnt.is_file() else None, beside]
        return {"alarms": [alarm("told", json.dumps(said)) | {"seen": 1, "times": 9}]}

    main(check, prepare)
"""
TEXT, RUNS, RECORDED = (
    {"directory", "script", "arguments"},
    {"python", "launcher", "packages"},
    {"metrics", "losses"},
)
ALWAYS = {"schema", "torch", "device", "timeout_s"}


@pytest.mark.parametrize(
    "needs, expected",
    [
        (["source"], TEXT),
        (["metrics"], RECORDED),
        (["in_process"], TEXT | RUNS),
        (["metrics", "reference_runs"], RECORDED),
        (["source", "reference_runs"], TEXT),
    ],
)
def test_a_detector_is_given_what_it_needs_and_nothing_else(toy, make, needs, expected):
    learns = {"references": ["same"]} if "reference_runs" in needs else {}
    record = evaluate(toy, make("asks", TELLS, needs=needs, **learns), seeds=(0,)).checks[0]
    target, learnt, files = json.loads(record.alarms[0].message)
    assert {name for name in target if target[name]} - ALWAYS - {"torch"} == expected
    assert (
        learnt is None
        if not learns
        else {name for name in learnt if learnt[name]} - ALWAYS == expected
    )
    assert ("program" in files) == bool(expected & TEXT)
    assert record.reference_text == (bool(expected & TEXT) if learns else None)
    row = scores(outcomes([record], {"asks": RULES})).iloc[0]
    assert label(row) == (
        "asks" if not learns else "asks (oracle)" if expected & TEXT else "asks (same)"
    )


def test_an_adapter_does_not_say_when_its_alarms_were_seen_nor_how_many_they_stand_for(toy, make):
    """Only the launcher tells when, and its own adapter passes that on."""
    alarms = [
        raised for record in evaluate(toy, make("asks", TELLS)).checks for raised in record.alarms
    ]
    assert alarms
    assert {(raised.seen, raised.times) for raised in alarms} == {(None, 1)}


def test_a_rule_that_is_written_after_the_run_is_marked(toy, make):
    adapter = "main(lambda target, state: {'alarms': [alarm('pid', 'x', severity='info')]})"
    evaluate(toy, make("late", adapter))
    rules = {"default": {}, "info": {"minimum_severity": "info"}}
    evaluate(toy, make("late", adapter, alarm_rules=rules))
    stored = CheckStore(toy.results / "detectors").read()
    table = scores(outcomes(stored.checks, stored.rules))
    assert [label(row) for _, row in table.iterrows()] == ["late", "late (info, post hoc)"]
    evaluate(toy, make("late", adapter, alarm_rules=rules), force=True)
    stored = CheckStore(toy.results / "detectors").read()
    assert list(scores(outcomes(stored.checks, stored.rules)).rule_since) == ["before", "before"]


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


def test_nothing_that_a_detector_gets_tells_buggy_from_fixed(toy, make):
    adapter = """
        def check(target, state):
            words = [target.script, *target.arguments, target.directory, os.getcwd(), str(state), *sys.argv]
            words += os.listdir(target.directory) + os.listdir(".") + [Path(__file__).parent.name]
            words += [f"{n}={v}" for n, v in os.environ.items() if n != "TRAINBUGS_GUARDED"]
            words += [Path(target.directory, "config.json").read_text()]
            return {"alarms": [alarm("seen", json.dumps(words))]}
        main(check)
    """
    result = evaluate(toy, make("looks", adapter), seeds=(0,))
    messages = [json.loads(record.alarms[0].message) for record in result.checks]
    for words in messages:
        assert not [word for word in words if "buggy" in word or "fixed" in word or "Toy" in word]
    assert sorted(w for w in messages[0] if "/tmp" not in w) == sorted(
        w for w in messages[1] if "/tmp" not in w
    )


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


def test_raw_answers_are_kept_and_records_survive_a_round_trip(toy, make):
    adapter = """
        def check(target, state):
            Path("raw.txt").write_text("all that the tool said")
            return {"alarms": [], "artefacts": ["raw.txt", "/etc/hostname", "missing"],
                    "training": {"seconds": 1.5, "of": "process"}, "invariants": {"checked": 4, "violated": 1}}
        main(check)
    """
    result = evaluate(toy, make("keeps", adapter))
    folder = CheckStore(toy.results / "detectors")
    artefacts = folder.artefacts(result.checks[0])
    assert {path.name for path in artefacts.iterdir()} == {
        "raw.txt",
        "stdout",
        "stderr",
        "verdict.json",
    }
    assert sorted(folder.read().checks, key=lambda r: r.kind) == sorted(
        result.checks, key=lambda r: r.kind
    )
    assert folder.read().rules == {"keeps": RULES}
    assert {(record.kit, record.rules) for record in result.checks} == {
        (kit_digest(), rules_digest(RULES))
    }
    assert [record.declared for record in result.checks] == [{"default": rule_digest(Rule())}] * 2
    assert len({record.program for record in result.checks}) == 2
    assert score(result).loc["keeps"].invariant_rate == 0.25


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


def test_the_kit_has_the_errors_that_adapters_end_with():
    kit = runpy.run_path(str(KIT / "detector_kit.py"))
    assert {error.__name__: status for error, status in kit["STATUSES"].items()} == STATUS_OF


def test_an_error_of_a_check_that_is_called_as_one_of_the_kit_is_a_crash(toy, tmp_path):
    crashes = """
        class UnsupportedError(Exception):
            pass
        def check(target, state):
            raise UnsupportedError("of a library")
        UnsupportedError.__module__ = "builtins"
        main(check)
    """
    result = evaluate(toy, write_detector(tmp_path / "crashes", crashes), controls="none")
    reason = "the adapter ended with 1: UnsupportedError: of a library"
    assert {(check.status, check.reason) for check in result.checks} == {("tool_error", reason)}


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


def test_overhead_is_timed_in_turns_on_the_fixed_program(toy, make, monkeypatch, tmp_path):
    folder, checked, check_once = tmp_path / "bare", [], Adapter.check
    folder.mkdir()
    monkeypatch.setattr("evaluation.running.timing.BARE", folder)

    def noted(adapter, *arguments, **options):
        checked.append(adapter.detector.directory)
        return check_once(adapter, *arguments, **options)

    monkeypatch.setattr(Adapter, "check", noted)
    is_fixed = "'100 * epoch' in Path(target.directory, target.script).read_text()"
    for of, alone, ratio in (("loop", 2.0, 1.5), ("process", 5.0, 0.6)):
        check = f'{{"training": {{"seconds": {alone} if {is_fixed} else 1.0, "of": "{of}"}}}}'
        (folder / f"{of}.py").write_text(f"{HEAD}main(lambda target, state: {check})")
        adapter = f'main(lambda target, state: {{"training": {{"seconds": 3.0, "of": "{of}"}}}})'
        session = toy.session()
        selected = [detectors.read(make("trains", adapter))]
        plan = CampaignOptions(selected, overhead_on="Toy-1/only", repeats=2)
        result = campaign.run(plan, session)
        assert [len(record.bare) for record in result.overheads] == [2]
        table = scores(outcomes(result.checks, {"trains": RULES}), result.overheads)
        assert table.claimed_overhead[0] == ratio
        assert table.overhead_of[0] == of
        assert table.overhead[0] == pytest.approx(
            sum(result.overheads[0].watched_wall) / bare_s(result), rel=1e-3
        )
        assert campaign.run(plan, session).overheads == result.overheads
    both_programs, bare, watched = [False, False], True, False
    assert [at == folder for at in checked] == [*both_programs, bare, watched, bare, watched] * 2
    (folder / "process.py").write_text("raise SystemExit(1)")
    assert not campaign.run(plan, session).overheads
    assert not campaign.run(
        CampaignOptions([detectors.read(make("never"))], overhead_on="Toy-1/only"), session
    ).overheads


def bare_s(result):
    return sum(result.overheads[0].bare_wall)


def test_one_fixed_program_of_the_named_case_is_timed():
    trained = Seconds(None, 1.0, Training(1.0, "loop"))
    records = [
        record("buggy", seconds=trained), record("fixed", "another", seconds=trained), record("fixed"),
        record("fixed", seconds=trained, seed=1), record("fixed", seconds=trained),
    ]  # fmt: skip
    by_check = {DetectorCheck(None, None): record for record in records}
    checks = select_timed(list(by_check), by_check, CampaignOptions([], overhead_on="B/one"))
    # By the smallest seed, whichever was met first.
    assert [by_check[check] for check in checks] == records[4:]


@pytest.mark.parametrize("bad", [None, Training(2.0, "process")])
@pytest.mark.parametrize("turn", ["run_bare", "run_watched"])
def test_a_turn_that_fails_or_times_something_else_makes_no_record(turn, bad):
    blank = timing((), ())
    turns = {
        "run_bare": lambda: (Training(1.0, "loop"), 2.0),
        "run_watched": lambda: (Training(3.0, "loop"), 5.0),
    }
    walls = {"bare_wall": (2.0, 2.0), "watched_wall": (5.0, 5.0)}
    assert take_turns(blank, **turns, repeats=2, show=print) == replace(
        timing((1.0, 1.0), (3.0, 3.0)), **walls
    )
    assert take_turns(blank, **turns | {turn: lambda: (bad, 1.0)}, repeats=2, show=print) is None


def test_only_clean_pinned_and_whole_evaluations_are_committed(toy, make, tmp_path):
    directory = make("always")
    result = evaluate(toy, directory)
    plan, folder = CampaignOptions([detectors.read(directory)]), tmp_path / "expected"
    to = {"always": folder}
    publishable = [with_changes(record, pinned=True, revision="0" * 40) for record in result.checks]
    for bad, words in (
        (
            replace_result(
                result, checks=tuple(with_changes(r, pinned=False) for r in publishable)
            ),
            "pinned",
        ),
        (
            replace_result(
                result, checks=tuple(replace(r, revision="0-dirty") for r in publishable)
            ),
            "not committed",
        ),
        (
            replace_result(result, checks=tuple(replace(r, revision=None) for r in publishable)),
            "not committed",
        ),
        (
            replace_result(result, checks=tuple(publishable), broken=(shown_program(toy),)),
            "does not run",
        ),
    ):
        with pytest.raises(UsageError, match=words):
            promote_checks(plan, bad, to)
        assert not folder.exists()
    gone = replace(publishable[0], case="gone")
    promote_checks(plan, replace_result(result, checks=(*publishable, gone)), to)
    assert len(CommittedChecks(folder).read().checks) == len(publishable) + 1
    (folder / "other.jsonl").write_text("of another detector")
    committed = promote_checks(plan, replace_result(result, checks=tuple(publishable[::-1])), to)[
        folder
    ].read(["always"])
    assert committed.checks == sorted(publishable, key=lambda record: record.kind)
    assert committed.rules == {"always": RULES}
    assert (folder / "other.jsonl").read_text() == "of another detector"
    assert {path.name for path in folder.iterdir()} == {"always.jsonl", "other.jsonl"}


def test_committed_are_the_first_alarms_of_each_kind_and_their_number(toy, make, tmp_path):
    directory, folder = make("always"), tmp_path / "expected"
    described = json.loads((directory / "detector.json").read_text())
    described["alarm_rules"] = {
        "default": {},
        "two": {"at_least": 2},
        "b": {"codes": ["b"], "at_least": 2},
        "four": {"at_least": 4},
        "seven": {"at_least": 7},
    }
    (directory / "detector.json").write_text(json.dumps(described))
    result, detector = evaluate(toy, directory), detectors.read(directory)
    alarms = tuple(
        Alarm(code, "m", "error", iteration, "f", 3)
        for code in ("a", "b")
        for iteration in (9, 8, 7)
    )
    # Two checks at a time end in either order.
    ended = sorted(result.checks, key=lambda record: record.kind)
    checks = tuple(
        with_changes(r, pinned=True, revision="0" * 40, alarms=alarms, dropped=5) for r in ended
    )
    promoted = promote_checks(
        CampaignOptions([detector]), replace_result(result, checks=checks), {"always": folder}
    )
    for committed in promoted[folder].read().checks:
        places = [(alarm.code, alarm.iteration) for alarm in committed.alarms]
        assert places == [("a", 7), ("b", 7)]
        assert [(alarm.message, alarm.line, alarm.times) for alarm in committed.alarms] == [
            ("m", 3, 3),
            ("m", 3, 3),
        ]
        assert committed.dropped == 5
        satisfied = {
            name for name, rule in detector.alarm_rules.items() if rule.counted(committed.alarms)
        }
        assert satisfied == {"default", "two", "b", "four"}
    # Nothing that is scored is lost.
    rules = {"always": detector.alarm_rules}
    pd.testing.assert_frame_equal(
        outcomes(promoted[folder].read().checks, rules), outcomes(checks, rules)
    )


def test_a_committed_reason_names_no_folder_of_the_machine(toy, make, tmp_path):
    directory, folder = make("always"), tmp_path / "expected"
    result, detector = evaluate(toy, directory), detectors.read(directory)
    reason = (
        "trace ended with 139: /tmp/x-1/run.sh: line 2: 7 fault  /home/me/bin/python src/a/b.py, "
        "1/2 of 3/4"
    )
    failed = [
        with_changes(r, pinned=True, revision="0" * 40, status="tool_error", reason=reason)
        for r in result.checks
    ]
    plan = CampaignOptions([detector])
    promoted = promote_checks(
        plan, replace_result(result, checks=tuple(failed)), {"always": folder}
    )
    reasons = {check.reason for check in promoted[folder].read().checks}
    assert reasons == {
        "trace ended with 139: run.sh: line 2: 7 fault  python src/a/b.py, 1/2 of 3/4"
    }


def shown_program(toy):
    session = toy.session()
    bare_runs = BareRuns(session, controls.load(toy.root))
    return bare_runs.programs(session.catalog.select(["Toy-1"]))[0]


@pytest.fixture
def cli(toy, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(api, "load", lambda: toy.catalog)
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return status, captured.out, captured.err

    return call


def test_evaluate_and_scores_on_the_command_line(cli, toy, make, tmp_path):
    python = ("--python", sys.executable)
    status, out, _ = cli("evaluate", "--detector", make("always"), make("never"), *python)
    assert status == 0
    assert out.splitlines()[1].startswith("always")
    assert out.splitlines()[2].startswith("never")
    assert {path.name for path in (tmp_path / "scores").iterdir()} >= {
        "scores.json",
        "outcomes.csv",
        "matrix.png",
    }
    status, again, _ = cli("scores", "--from", "results", "--out", "other")
    assert status == 0
    assert again.splitlines()[:3] == out.splitlines()[:3]
    status, out, err = cli(
        "evaluate", "--detector", make("always"), make("never"), *python, "--json", "-q"
    )
    scored = json.loads(out, parse_constant=pytest.fail)
    assert status == 0
    assert [row["detector"] for row in scored] == ["always", "never"]
    assert scored[1]["overhead"] is None
    files = (
        "scores.json, scores.csv, outcomes.csv, comparisons.csv, matrix.png, page.png, rates.png, "
        "delays.png"
    )
    assert err.splitlines()[0] == f"written to scores: {files}"
    assert err.splitlines()[-1].startswith("records: ")
    assert scored == json.loads(cli("scores", "--from", "results", "--json")[1])
    spoilt = Path("results/detectors/always/none/Toy-1/only/fixed-0.json")
    text = spoilt.read_text()
    spoilt.write_text(text.replace('"trigger": 2', f'"trigger": {10**30}'))
    status, again, err = cli("scores", "--from", "results", "--out", "other")
    assert status == 2
    assert [line.split()[0] for line in again.splitlines()[:3]] == [
        "DETECTOR",
        "always",
        "never",
    ]
    assert len(err.splitlines()) == 1
    assert err.startswith(f"trainbugs: {spoilt}: not a record of an evaluation: trigger")
    spoilt.write_text(text)
    cli(
        "evaluate",
        "--detector",
        make("never", KINDS["never"] + "  # mended"),
        *python,
        "--seeds",
        "1",
    )
    status, again, err = cli("scores", "--from", "results", "--out", "other")
    assert status == 0
    assert "0/1" in again.splitlines()[2]
    assert "always" in again.splitlines()[1]
    assert err == "2 records of older code of a detector are left out\n"
    status, out, err = cli(
        "evaluate", "--detector", make("crashes"), *python, "--bugs", "Toy-1/only", "-q"
    )
    assert status == 1
    assert "2 tool error" in out
    assert len(err.splitlines()) == 2
    assert "crashes on Toy-1/only/buggy seed 0: tool_error: " in err
    toy.write("fixed.py", "raise SystemExit('no')")
    status, _, err = cli("evaluate", "--detector", make("always"), *python, "--quiet")
    assert status == 2
    assert "Toy-1/only/fixed seed 0: does not run by itself" in err
    assert "always on" not in err


def test_evaluate_chooses_rules_by_all_that_a_results_folder_has(
    cli, toy, make, monkeypatch, tmp_path
):
    """Of the case `other` alone `any` would be the best rule; of both it is `few`,
    which accuses no fixed program.
    """
    counts = """
        def check(target, state):
            marks = Path(target.directory, target.script).read_text().count("# mark")
            return {"alarms": [alarm("mark", str(each)) for each in range(marks)]}
        main(check)
    """
    for name, marks in {
        "buggy.py": 2,
        "fixed.py": 1,
        "buggy_other.py": 1,
        "fixed_other.py": 0,
    }.items():
        toy.write(
            name,
            (toy.directory / f"{name[:5]}.py").read_text().split("# mark")[0] + "# mark\n" * marks,
        )
    case = toy_config()["cases"]["only"]
    # `make` gives the fixed program another factor: 100 in the place of 2, times three epochs, less
    # those of buggy.
    case["expectations"][1]["value"] = 297
    other = case | {
        "variants": {kind: {"script": f"{kind}_other.py"} for kind in ("buggy", "fixed")}
    }
    toy.configure(cases={"only": case, "other": other})
    detector = make("counts", counts, alarm_rules={"any": {}, "few": {"at_least": 2}})
    frozen = {"counts": Frozen("1", "2026-01-01", "0" * 64, ("Toy-1",))}
    monkeypatch.setattr(submissions, "load_frozen", lambda root: frozen)

    def chosen_of(case):
        arguments = (
            "--detector",
            detector,
            "--bugs",
            f"Toy-1/{case}",
            "--python",
            sys.executable,
            "-q",
        )
        status, out, _ = cli("evaluate", *arguments, "--json")
        assert status == 0
        return {row["rule"]: (row["paired"], row["chosen"]) for row in json.loads(out)}

    assert chosen_of("other") == {"any": (1, True), "few": (0, False)}
    assert chosen_of("only") == {"any": (0, False), "few": (1, True)}
    assert chosen_of("other") == {"any": (1, False), "few": (0, True)}
    # A record by which a rule is chosen, and which cannot be read, is named.
    spoilt = (
        tmp_path / "results" / "detectors" / "counts" / "none" / "Toy-1" / "only" / "fixed-0.json"
    )
    spoilt.write_text("{}")
    arguments = ("--detector", detector, "--bugs", "Toy-1/other", "--python", sys.executable, "-q")
    status, _, err = cli("evaluate", *arguments)
    assert status == 2
    assert err.startswith(f"trainbugs: {spoilt}: not a record of an evaluation")
    # So is one that would stand beside those of rewritten programs.
    status, _, err = cli("evaluate", *arguments, "--perturb", "1")
    assert status == 2
    assert err.startswith(f"trainbugs: {spoilt}: not a record of an evaluation")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["evaluate"], "--detector"),
        (["evaluate", "--detector", "nothing"], "there is no detector 'nothing'"),
        (
            ["evaluate", "--detector", "alway"],
            "there is no detector 'alway'; expected one of (none)",
        ),
        (["evaluate", "--detector", "always", "--bugs", "Toy-2"], "there is no bug 'Toy-2'"),
        (
            ["evaluate", "--detector", "always", "--bugs", "Toy-1/only/buggy"],
            "scored on both variants",
        ),
        (["evaluate", "--detector", "always", "--repeats", "0"], "expected a number of at least 1"),
        (["evaluate", "--detector", "always", "--overhead", "Toy-9/x"], "--overhead"),
        (["evaluate", "--detector", "learns", "--references", "cross"], "no detector was asked"),
        (["scores"], "no checks of any detector"),
        (
            ["evaluate", "--detector", "always", "--label", "compiler"],
            "no case fits --label 'compiler'",
        ),
        (
            ["evaluate", "--detector", "always", "--label", "user code", "--update-expected"],
            "for whole evaluations",
        ),
        (
            ["evaluate", "--detector", "always", "--bugs", "Toy-1", "--update-expected"],
            "for whole evaluations",
        ),
        (
            ["evaluate", "--detector", "always", "--controls", "none", "--update-expected"],
            "for whole evaluations",
        ),
        (
            ["evaluate", "--detector", "always", "--seeds", "0", "--update-expected"],
            "for whole evaluations",
        ),
        (
            ["evaluate", "--detector", "always", "--overhead", "none", "--update-expected"],
            "for whole evaluations",
        ),
        (["evaluate", "--detector", "always", "--update-expected"], "is not committed"),
        (
            ["evaluate", "--detector", "learns", "--references", "same", "--update-expected"],
            "is not committed",
        ),
    ],
)
def test_mistakes_get_one_line(cli, make, arguments, words, monkeypatch, tmp_path):
    for kind in ("always", "learns"):
        make(kind)
    monkeypatch.chdir(tmp_path / "own")
    python = ["--python", sys.executable] if arguments[0] == "evaluate" else []
    status, out, err = cli(*arguments, *python)
    assert status == 2
    assert words in err.splitlines()[-1]
    assert ("DETECTOR" in out) == ("committed" in words)


def test_an_environment_that_is_not_whole_is_named_before_any_program_runs(cli, make, tmp_path):
    directory = make("always")
    (directory / "environment.json").write_text('{"disk_gb": 1}')
    (directory / "requirements.txt").write_text("one==1\n")
    status, out, err = cli("evaluate", "--detector", directory, "--python", sys.executable)
    line = (
        f"trainbugs: {directory / '.python-version'}: cannot be read: No such file or directory\n"
    )
    assert status == 2
    assert out == ""
    assert err == line
    assert not list(tmp_path.rglob("metrics.json"))


@pytest.mark.parametrize("name", ["pandas", "matplotlib"])
def test_what_scores_need_is_asked_for_before_any_check(cli, make, monkeypatch, tmp_path, name):
    for module in [imported for imported in sys.modules if imported.startswith("plots.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    status, out, err = cli("evaluate", "--detector", make("always"), "--python", sys.executable)
    line = (
        f"trainbugs: {name} is not installed; `pip install uv pandas matplotlib numpy` is enough\n"
    )
    assert status == 2
    assert out == ""
    assert err == line
    assert not list(tmp_path.rglob("results"))


def without_times(records):
    return [replace(record, seconds=None, started="") for record in records]


def test_many_checks_at_a_time_give_the_same_records(toy, make, tmp_path, monkeypatch):
    learnt, prepare = [], Adapter.prepare

    def counted(*arguments):
        learnt.append(1)
        return prepare(*arguments)

    monkeypatch.setattr(Adapter, "prepare", counted)
    slow = "main(lambda target, state: {}, lambda references, state: time.sleep(0.1))"
    kinds = make("always"), make("right"), make("crashes"), make("learns", slow)
    serial = evaluate(toy, *kinds, seeds=(0, 1))
    parallel = evaluate(toy, *kinds, seeds=(0, 1), jobs=4, results=tmp_path / "parallel")
    assert without_times(parallel.checks) == without_times(serial.checks)
    assert len(serial.checks) == 16
    assert len(learnt) == 2, "once for all programs, each time"


def test_checks_run_at_the_same_time_and_are_found_again(toy, make, monkeypatch):
    together, check = threading.Barrier(4), Adapter.check

    def meet(*arguments):
        together.wait(timeout=20)
        return check(*arguments)

    monkeypatch.setattr(Adapter, "check", meet)
    result = evaluate(toy, make("never"), seeds=(0, 1), jobs=4)
    assert [record.status for record in result.checks] == ["ok"] * 4
    assert evaluate(toy, make("never"), seeds=(0, 1), jobs=4).checks == result.checks


def test_a_check_has_started_before_it_is_answered(toy, make, monkeypatch):
    answer, answered = DetectorRun.answer, []

    def count(*arguments):
        answered.append(answer(*arguments))
        return answered[-1]

    clock = SimpleNamespace(
        now=lambda zone: datetime(2026, 1, 1, second=len(answered), tzinfo=zone)
    )
    monkeypatch.setattr(DetectorRun, "answer", count)
    monkeypatch.setattr("evaluation.running.detector_check.datetime", clock)
    started = {record.started for record in evaluate(toy, make("never")).checks}
    assert started == {"2026-01-01T00:00:00+00:00", "2026-01-01T00:00:01+00:00"}


def test_something_is_made_once_though_many_ask():
    once, calls, start = Once(), [], threading.Barrier(8)

    def make():
        time.sleep(0.05)
        calls.append(1)
        return len(calls)

    def ask():
        start.wait()
        return once.get("key", make)

    with ThreadPoolExecutor(8) as threads:
        answers = [threads.submit(ask) for _ in range(8)]
        assert {answer.result() for answer in answers} == {1}
        assert len(calls) == 1
    with pytest.raises(ZeroDivisionError):
        once.get("other", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        once.get("other", lambda: 1)


def test_checks_that_would_wait_for_one_that_learns_take_no_share_of_the_machine(
    toy, make, monkeypatch
):
    begun, at_the_end_of_learning = [], []
    answer, prepare = DetectorRun.answer, Adapter.prepare

    def begin(detector_run, program, *arguments):
        begun.append(program)
        return answer(detector_run, program, *arguments)

    def learn(*arguments):
        learnt = prepare(*arguments)
        time.sleep(0.5)
        at_the_end_of_learning.append(len(begun))
        return learnt

    monkeypatch.setattr(DetectorRun, "answer", begin)
    monkeypatch.setattr(Adapter, "prepare", learn)
    monkeypatch.setattr("runner.execution.scheduler.AGAIN_S", 0.05)
    result = evaluate(toy, make("learns"), seeds=(0, 1), jobs=4)
    assert [record.status for record in result.checks] == ["ok"] * 4
    assert at_the_end_of_learning == [1]


def test_who_is_about_to_learn_has_the_turn_until_it_has_learnt_or_failed(toy, make):
    detector_run = DetectorRun(detectors.load(toy.root, str(make("learns"))), "same", None, None)
    keys = ("a", "b")
    with (
        detector_run.turn(keys) as first,
        detector_run.turn(keys) as second,
        detector_run.turn(("c",)) as third,
    ):
        assert first is True
        assert second is False
        assert third is True
    with (
        detector_run.turn(keys) as first,
        detector_run.turn(()) as second,
        detector_run.turn(()) as third,
    ):
        assert first is True
        assert second is True
        assert third is True
        detector_run._lessons.get(keys, lambda: None)
        with detector_run.turn(keys) as fourth:
            assert fourth


def test_interpreter_of_adapters_is_ours(toy, make):
    adapter = "main(lambda target, state: {'alarms': [alarm('python', sys.executable)]})"
    assert evaluate(toy, make("asks", adapter)).checks[0].alarms[0].message == sys.executable
