"""The files that `trainbugs watch` writes: JSON, SARIF and JUnit XML, held against their formats."""

import json
from xml.etree import ElementTree

import jsonschema
import msgspec
import pytest
from support.paths import ROOT

from evaluation.watching.cures import CURES
from evaluation.watching.document import WatchDocument
from evaluation.watching.invariants import read

NAMES = [invariant.name for invariant in read(ROOT / "detectors" / "sanitizer")]
ADVICE = {"severity": "info", "code": "zero-gradient", "iteration": 3}


@pytest.fixture
def written(watch, fake, tmp_path):
    """Watch with an output of a format; returns its text."""

    def write(kind, *words, alarms=(), script="train.py", **changes):
        fake.leaves(alarms, **changes)
        err = watch(f"--{kind}", "out", *words, script, "a")[2]
        assert err.endswith("trainbugs watch: the report is in out\n")
        return (tmp_path / "out").read_text()

    return write


def test_json_names_what_a_program_wants_to_know(written, fake):
    text = written("json", alarms=[{}, {"iteration": 9}, ADVICE])
    document = json.loads(text)
    assert msgspec.convert(document, WatchDocument, strict=True).schema == 1
    assert document["script"] == "train.py"
    assert document["arguments"] == ["a"]
    assert document["python"] == str(fake.path)
    assert document["torch"] == "2.2.2"
    assert document["answer"] == "broken"
    assert document["status"] == 0
    assert document["findings"][0] == {
        "invariant": "stale-gradients",
        "severity": "error",
        "message": "they were not cleared",
        "cure": CURES["stale-gradients"],
        "file": "train.py",
        "line": 7,
        "api": "torch.optim.Optimizer.zero_grad",
        "parameter": "0.weight",
        "iteration": 2,
        "silenced": None,
    }
    assert [finding["severity"] for finding in document["findings"]] == ["error", "info"]
    assert [alarm["iteration"] for alarm in document["report"]["alarms"]] == [2, 9, 3]


def test_json_has_the_keys_of_its_schema(written):
    schema = json.loads((ROOT / "docs" / "schemas" / "watch.json").read_text())
    document = json.loads(written("json", alarms=[{}]))
    parts = schema["$defs"]
    assert document.keys() == set(parts["WatchDocument"]["required"])
    assert document["findings"][0].keys() == set(parts["WatchFinding"]["required"])


@pytest.mark.parametrize(
    "alarms, changes, answer",
    [
        ([], {}, "kept"),
        ([ADVICE], {}, "kept"),
        ([], {"steps": 0}, "nothing watched"),
        ([{"severity": "warning"}], {}, "broken"),
    ],
)
def test_the_answer(written, alarms, changes, answer):
    document = json.loads(written("json", alarms=alarms, **changes))
    assert document["answer"] == answer


def test_what_was_watched(written):
    document = json.loads(written("json", "--light", "--ignore", "clip"))
    assert document["ignored"] == ["clip"]
    assert "stale-gradients" in document["watched"]
    assert not {"clip", "mixed-samples"} & set(document["watched"])


def a(kind, required, properties):
    """A part of a schema: an object that has the required keys, and no others than the known."""
    return {
        "type": kind,
        "required": required,
        "properties": properties,
        "additionalProperties": False,
    }


TEXT = a("object", ["text"], {"text": {"type": "string", "minLength": 1}})
LEVEL = {"enum": ["none", "note", "warning", "error"]}
BAG = {"type": "object"}
# The part of SARIF 2.1.0 that is used here, after sections 3.13 to 3.58 of the standard.
RULE = a(
    "object",
    ["id"],
    {
        "id": {"type": "string"},
        "shortDescription": TEXT,
        "help": TEXT,
        "defaultConfiguration": a("object", [], {"level": LEVEL}),
    },
)
PHYSICAL = a(
    "object",
    ["artifactLocation"],
    {
        "artifactLocation": a("object", ["uri"], {"uri": {"pattern": r"^[!#-;=?-\[\]_a-z~]+$"}}),
        "region": a("object", ["startLine"], {"startLine": {"type": "integer", "minimum": 1}}),
    },
)
RESULT = a(
    "object",
    ["message", "ruleId"],
    {
        "ruleId": {"enum": NAMES},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": LEVEL,
        "message": TEXT,
        "suppressions": {
            "type": "array",
            "items": a("object", ["kind"], {"kind": {"enum": ["inSource", "external"]}}),
        },
        "locations": {
            "type": "array",
            "minItems": 1,
            "items": a("object", ["physicalLocation"], {"physicalLocation": PHYSICAL}),
        },
        "properties": BAG,
    },
)
DRIVER = a(
    "object",
    ["name", "rules"],
    {
        "name": {"const": "trainbugs watch"},
        "version": {"type": "string"},
        "rules": {"type": "array", "items": RULE, "uniqueItems": True},
    },
)
INVOCATION = a(
    "object",
    ["executionSuccessful"],
    {"executionSuccessful": {"type": "boolean"}, "exitCode": {"type": "integer"}},
)
RUN = a(
    "object",
    ["tool", "results"],
    {
        "tool": a("object", ["driver"], {"driver": DRIVER}),
        "invocations": {"type": "array", "items": INVOCATION},
        "results": {"type": "array", "items": RESULT},
        "properties": BAG,
    },
)
SARIF = a(
    "object",
    ["version", "runs"],
    {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": RUN, "minItems": 1, "maxItems": 1},
    },
)


def test_sarif(written):
    nowhere = ADVICE | {"file": None, "line": None}
    log = json.loads(written("sarif", alarms=[{}, nowhere]))
    jsonschema.validate(log, SARIF)
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    error, advice = log["runs"][0]["results"]
    assert [rule["id"] for rule in rules] == NAMES
    assert rules[error["ruleIndex"]]["id"] == error["ruleId"] == "stale-gradients"
    assert [error["level"], advice["level"]] == ["error", "note"]
    assert error["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "train.py"},
        "region": {"startLine": 7},
    }
    assert advice["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": "train.py"}}
    assert CURES["stale-gradients"] in error["message"]["text"]


def test_sarif_of_files_with_hard_names(written, tmp_path):
    folder = tmp_path.parent / f"{tmp_path.name} 100% ä"
    folder.mkdir()
    (folder / "train.py").write_text("")
    log = json.loads(written("sarif", alarms=[{}], script=str(folder / "train.py")))
    jsonschema.validate(log, SARIF)
    uri = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert uri["uri"].startswith("file:///")
    assert uri["uri"].endswith("%20100%25%20%C3%A4/train.py")


def cases(text):
    """The test cases of a JUnit file by name, and its only suite."""
    suites = ElementTree.fromstring(text)
    assert suites.tag == "testsuites"
    (suite,) = suites
    assert {case.tag for case in suite} == {"testcase"}
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(suite.get(attribute)) == len(suite.findall(f"testcase/{tag}"))
    assert int(suite.get("tests")) == len(suite)
    assert float(suite.get("time")) >= 0
    return {case.get("name"): case for case in suite}, suite


def test_junit(written):
    bad = {"message": "a <tag> & \x00 a \ud800"}
    by_name, suite = cases(written("junit", "--ignore", "clip", alarms=[bad, ADVICE]))
    assert list(by_name) == ["program", *NAMES]
    assert (suite.get("failures"), suite.get("skipped")) == ("1", "1")
    failure = by_name["stale-gradients"].find("failure")
    assert failure.get("message").startswith("train.py:7: a <tag> & \\x00 a \\ud800. What may mend")
    assert by_name["clip"].find("skipped") is not None
    assert by_name["zero-gradient"].find("failure") is None
    assert "train.py:7" in by_name["zero-gradient"].find("system-out").text


def test_junit_of_a_program_that_did_not_train(written, tmp_path):
    by_name, suite = cases(written("junit", steps=0))
    assert by_name["program"].find("error").get("message") == "nothing watched"
    assert int(suite.get("skipped")) == len(NAMES)
    (tmp_path / "train.py").write_text("import sys; sys.exit(7)")
    by_name, _ = cases(written("junit"))
    assert "status 7" in by_name["program"].find("error").get("message")


def test_each_invariant_has_a_cure():
    assert CURES.keys() == set(NAMES)
