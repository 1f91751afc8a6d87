"""What makes a detector's directory well formed; what an answer may be;
the detectors and controls that are shipped.
"""

import ast
import json
import os

import pytest
from support.paths import ROOT

from evaluation.catalog import controls, detectors
from evaluation.model import Alarm, Answer, Rule
from evaluation.running.answers import read_answer
from evaluation.watching import invariants
from runner.errors import CatalogError, UsageError

GOOD = {
    "schema": 1, "name": "mine", "version": "1", "title": "t", "source": "s", "needs": ["source"],
    "adapter": "adapter.py", "alarm_rules": {"default": {}},
}  # fmt: skip


def write(tmp_path, **changes):
    directory = tmp_path / "mine"
    directory.mkdir(exist_ok=True)
    (directory / "adapter.py").write_text("")
    (directory / "monitor.py").write_text("")
    described = {name: value for name, value in (GOOD | changes).items() if value is not None}
    (directory / "detector.json").write_text(json.dumps(described))
    return directory


def test_a_directory_anywhere_is_a_detector(tmp_path):
    detector = detectors.load(ROOT, str(write(tmp_path)))
    assert detector.name == "mine"
    assert detector.with_references == ("none",)
    assert detector.alarm_rules == {"default": Rule()}
    assert detector.program == "adapter.py"
    assert detector.monitor is None


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"name": "other"}, "name is 'other', expected 'mine'"),
        ({"adapter": "absent.py"}, "there is no absent.py"),
        (
            {"adapter": None},
            "detector.json: there is neither an adapter nor a monitor; name one of them",
        ),
        (
            {"monitor": "monitor.py"},
            "detector.json: adapter and monitor exclude each other; name one of them",
        ),
        ({"adapter": "../adapter.py"}, r"adapter: is '../adapter.py', expected a text that fits"),
        (
            {"needs": ["label"]},
            r"needs\[0\]: is 'label', expected one of in_process, metrics, reference_runs, source",
        ),
        ({"needs": ["source", "source"]}, "needs names 'source' twice"),
        ({"needs": ["reference_runs"]}, "go together"),
        ({"references": ["same"]}, "go together"),
        ({"reference_count": 3}, "reference_count is for the references same"),
        (
            {"needs": ["reference_runs"], "references": ["same"], "reference_count": 7},
            "reference_count",
        ),
        ({"torch": "two"}, "torch is 'two', expected a range like"),
        ({"adapter": None, "monitor": "monitor.py"}, "a monitor needs in_process"),
        (
            {"alarm_rules": {"default": {"minimum_severity": "fatal"}}},
            "default.minimum_severity: is 'fatal', expected one",
        ),
        ({"alarm_rules": {}}, "alarm_rules: is {}, expected an object of length >= 1"),
        (
            {"adapter": None, "monitor": "monitor.py", "needs": ["in_process"]},
            "monitor.py: defines neither attach nor watch",
        ),
        ({"timeout_s": 0}, "timeout_s: is 0, expected a number > 0"),
        ({"sauce": 1}, r"there is no key 'sauce' \(did you mean source\?\)"),
        ({"title": None}, "the key 'title' is missing"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, changes, words):
    with pytest.raises(CatalogError, match=words) as error:
        detectors.read(write(tmp_path, **changes))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "def attach(model, optimizer, emit): ...",
        "if True:\n    def watch(program, emit): ...",
        "watch = print",
        "from sys import exit as attach",
        "from other import *",
        "globals()['watch'] = print",
        "(",
        "\0",
    ],
)
def test_a_monitor_that_may_define_something_is_left_to_its_checks(tmp_path, text):
    directory = write(tmp_path, adapter=None, monitor="monitor.py", needs=["in_process"])
    (directory / "monitor.py").write_text(text)
    assert detectors.read(directory).monitor == "monitor.py"


def test_an_unknown_name_lists_the_known_ones(tmp_path):
    with pytest.raises(UsageError, match="api-sequence"):
        detectors.load(ROOT, "no-such")


@pytest.mark.parametrize(
    "version, supported",
    [("2.2.2", True), ("2.2.2+cu121", True), ("1.13.1", False), ("2.13.0", True)],
)
def test_the_range_of_torch(tmp_path, version, supported):
    assert detectors.read(write(tmp_path, torch=">=2.0")).supports(version) is supported


def test_a_rule_counts_what_it_names():
    alarms = [
        Alarm("b", "", "error", 5),
        Alarm("a", "", "warning", 3),
        Alarm("a", "", "info", 1),
        Alarm("a", "", "error"),
    ]
    assert [alarm.iteration for alarm in Rule().counted(alarms)] == [None, 3, 5]
    assert [alarm.iteration for alarm in Rule("info", ("a",)).counted(alarms)] == [None, 1, 3]
    assert Rule("error", at_least=2).counted(alarms)
    assert not Rule("error", at_least=3).counted(alarms)


@pytest.mark.parametrize(
    "text, status, words",
    [
        ('{"status": "ok"}', "ok", None),
        (
            '{"status": "ok", "alarms": [{"code": "a", "message": "m", "severity": "error"}]}',
            "ok",
            None,
        ),
        ('{"status": "unsupported", "reason": "too old"}', "unsupported", "too old"),
        ('{"status": "timeout"}', "timeout", "no reason given"),
        (
            '{"status": "tool_error", "alarms": [{"code": "a", "message": "m", "severity": '
            '"error"}]}',
            "tool_error",
            "no",
        ),
        ("{", "tool_error", "not JSON"),
        ("[]", "tool_error", "verdict.json: is [], expected an object"),
        ('{"status": "peeked"}', "tool_error", "status: is 'peeked', expected one of ok, "),
        (
            '{"status": "ok", "alarms": [{"code": "a"}]}',
            "tool_error",
            "alarms[0]: the key 'message' is missing",
        ),
        (
            '{"status": "ok", "alarms": [{"code": "a", "message": "m", "severity": "fatal"}]}',
            "tool_error",
            "is 'fatal'",
        ),
        (
            '{"status": "ok", "alarms": [{"code": "a", "message": "", "severity": "info", '
            '"iteration": 0}]}',
            "tool_error",
            "alarms[0].iteration: is 0, expected a whole number >= 1",
        ),
        (
            '{"status": "ok", "training": {"seconds": NaN, "of": "loop"}}',
            "tool_error",
            "NaN is no number",
        ),
        (
            '{"status": "ok", "training": {"seconds": 1e13, "of": "loop"}}',
            "tool_error",
            "training.seconds: is 1",
        ),
        ('{"status": "ok", "status": "timeout"}', "tool_error", "the key 'status' is there twice"),
        ('{"status": "ok", "extra": 1}', "tool_error", "there is no key 'extra'"),
        ("[" * 100_000, "tool_error", "JSON"),
        (None, "tool_error", "wrote no verdict.json"),
    ],
)
def test_answers(tmp_path, text, status, words):
    path = tmp_path / "verdict.json"
    if text is not None:
        path.write_text(text)
    answer = read_answer(path)
    assert answer.status == status
    assert (words or "") in (answer.reason or "")
    assert status == "ok" or answer == Answer(status, answer.reason)


def test_an_answer_is_read_within_bounds(tmp_path, monkeypatch):
    path = tmp_path / "work" / "verdict.json"
    path.parent.mkdir()
    os.mkfifo(path)
    assert read_answer(path).reason == "verdict.json: is no plain file"
    path.unlink()
    (tmp_path / "elsewhere").write_text('{"status": "ok"}')
    path.symlink_to("../elsewhere")
    assert "a link that leads out of its directory" in read_answer(path).reason
    path.unlink()
    monkeypatch.setattr("evaluation.running.answers.MAX_BYTES", 20)
    path.write_text('{"status": "ok"}' + 10 * " ")
    assert read_answer(path) == Answer("tool_error", "verdict.json: is larger than 20 bytes")


def test_of_very_many_alarms_some_are_kept_and_the_rest_counted(tmp_path):
    alarm = {"code": "a", "message": "m", "severity": "error"}
    alarms = [*[alarm] * 1500, alarm | {"code": "b"}]
    (tmp_path / "verdict.json").write_text(
        json.dumps({"status": "ok", "alarms": alarms, "dropped": 7})
    )
    answer = read_answer(tmp_path / "verdict.json")
    assert len(answer.alarms) == 101
    assert answer.alarms[-1].code == "b"
    assert answer.dropped == 1407


@pytest.mark.parametrize("name", detectors.names(ROOT))
def test_shipped_detectors_are_well_formed_and_told_about(name):
    detector = detectors.load(ROOT, name)
    assert name in (ROOT / "detectors" / "README.md").read_text()
    lock = detector.directory / "requirements.txt"
    assert not lock.exists() or "--hash=" in lock.read_text()
    for path in detector.directory.glob("*.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), path


def test_there_are_at_least_twelve_controls_and_each_says_who_would_accuse_it():
    control_set = controls.load(ROOT)
    assert len(control_set.targets()) >= 12
    assert set(control_set.accused) == set(control_set.bug.cases)
    assert set(control_set.references) <= set(control_set.bug.cases)
    scripts = {path.stem for path in (ROOT / "detectors" / "controls").glob("*.py")}
    assert scripts == set(control_set.bug.cases)


def test_look_alikes_name_invariants_of_the_sanitizer_and_each_invariant_of_version_1_has_one():
    look_alikes = [name for names in controls.load(ROOT).look_alikes.values() for name in names]
    assert set(look_alikes) <= {
        invariant.name for invariant in invariants.read(ROOT / "detectors" / "sanitizer")
    }
    assert set(look_alikes) == set(
        detectors.load(ROOT, "sanitizer-3").alarm_rules["version-1"].codes
    )


def test_controls_do_not_give_themselves_away():
    for path in (ROOT / "detectors" / "controls").glob("*.py"):
        assert not [
            word
            for word in ("control", "clean", "correct", "detector", "alarm")
            if word in path.read_text().lower()
        ]


@pytest.mark.parametrize(
    "change, words",
    [
        (
            lambda d: d["controls"].update(absent={"title": "t", "accused": "a"}),
            "there is no absent.py",
        ),
        (lambda d: d["references"].append("absent"), "there is no control 'absent'"),
        (lambda d: d.pop("environment"), "controls.json: the key 'environment' is missing"),
        (
            lambda d: d["controls"]["ordinary"].update(acused="x"),
            r"controls.ordinary: there is no key 'acused' \(did",
        ),
        (
            lambda d: d["controls"]["ordinary"].update(look_alike=True),
            "look_alike: is True, expected a list",
        ),
        (lambda d: d.update(timeout_s=0), "timeout_s: is 0, expected a number > 0"),
    ],
)
def test_malformed_controls_are_refused(tmp_path, change, words):
    folder = tmp_path / "detectors" / "controls"
    folder.mkdir(parents=True)
    described = json.loads((ROOT / "detectors" / "controls" / "controls.json").read_text())
    for name in described["controls"]:
        (folder / f"{name}.py").write_text("")
    change(described)
    (folder / "controls.json").write_text(json.dumps(described))
    with pytest.raises(CatalogError, match=words):
        controls.load(tmp_path)


def test_a_catalogue_without_controls_has_none(tmp_path):
    assert controls.load(tmp_path).targets() == []


def test_a_typo_in_the_name_of_a_folder_gets_the_folder(tmp_path, monkeypatch):
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"no detector 'mime' \(did you mean mine\?\)"):
        detectors.load(ROOT, "mime")


@pytest.mark.parametrize("name", ["mine/adapter.py", "no/such"])
def test_a_path_without_a_description_is_said_without_a_list(tmp_path, monkeypatch, name):
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as error:
        detectors.load(ROOT, name)
    assert str(error.value) == (
        f"{name}: no folder with a detector.json; name the folder that holds yours"
    )


def test_unknown_name_gets_the_one_that_may_be_meant():
    with pytest.raises(
        UsageError,
        match=r"no detector 'api-sequenc' \(did you mean api-sequence\?\); expected one of",
    ):
        detectors.load(ROOT, "api-sequenc")
