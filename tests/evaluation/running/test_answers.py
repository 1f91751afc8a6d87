"""What detectors are given and answer: each of every kind gets what it deserves,
and none changes another's score.
"""

import json
import runpy
import sys

import pytest
from support.detectors import write_detector
from support.evaluating import RULES, evaluate, score

from evaluation.keys import KIT, kit_digest, rule_digest, rules_digest
from evaluation.model import Rule
from evaluation.running.answers import STATUS_OF
from evaluation.scoring.outcomes import label, outcomes
from evaluation.scoring.scores import scores
from evaluation.store.results import CheckStore

STATUS = {
    "always": "ok", "never": "ok", "right": "ok", "hangs": "timeout", "crashes": "tool_error", "killed": "tool_error",
    "silent": "tool_error", "broken": "tool_error", "foreign": "tool_error", "failed": "tool_error",
    "old": "unsupported", "peeks": "tool_error", "lists": "tool_error", "greps": "ok", "hides": "ok",
    "child": "ok", "learns": "ok", "cannot-learn": "tool_error", "learns-forever": "timeout",
}  # fmt: skip


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
    (directory / described["monitor"]).write_text("def attach(model, optimizer, emit): ...")
    record = evaluate(toy, directory).checks[0]
    # The toy's interpreter has no torch, which the launcher needs.
    assert record.status == "tool_error"
    assert "the launcher ended with 1: ModuleNotFoundError" in record.reason


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


def test_interpreter_of_adapters_is_ours(toy, make):
    adapter = "main(lambda target, state: {'alarms': [alarm('python', sys.executable)]})"
    assert evaluate(toy, make("asks", adapter)).checks[0].alarms[0].message == sys.executable
