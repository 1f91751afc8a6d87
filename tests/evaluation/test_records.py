"""Records of evaluations: what they may hold, how they are kept,
and the keys that the committed ones have.
"""

import json
import shutil

import pytest
from msgspec import to_builtins
from msgspec.structs import replace
from support.checks import HIT, overhead, record
from support.paths import ROOT

from evaluation import keys
from evaluation.catalog import detectors
from evaluation.keys import (
    KIT,
    check_key,
    detector_digest,
    kit_digest,
    overhead_key,
    rules_digest,
)
from evaluation.model import Alarm, Rule
from evaluation.reading.load import load_results
from evaluation.records import OLDER_CODE, CheckRecord, OverheadRecord, dump_record
from evaluation.store.committed import CommittedChecks
from evaluation.store.results import CheckStore
from runner.bugs.catalog import load_bug
from runner.errors import ResultsError
from runner.execution.key import read_scripts, run_key
from runner.results.expected import expected_records

BARE = ROOT / "evaluation" / "bare"


@pytest.fixture
def detector(tmp_path):
    """A detector named d, as the records of test_scores have it."""
    directory = tmp_path / "d"
    directory.mkdir()
    described = {
        "schema": 1, "name": "d", "version": "1", "title": "t", "source": "s", "needs": ["source"],
        "adapter": "adapter.py", "alarm_rules": {"default": {}, "strict": {"at_least": 2}},
    }  # fmt: skip
    (directory / "adapter.py").write_text("")
    (directory / "detector.json").write_text(json.dumps(described))
    return detectors.read(directory)


@pytest.fixture
def expected(tmp_path, detector):
    """The committed records of it: four checks and a timing."""
    folder = CommittedChecks(tmp_path / "expected")
    checks = [
        record(),
        record("fixed"),
        record(case="another", alarms=[HIT]),
        record(references="cross"),
    ]
    folder.replace(detector, checks, [overhead((1.0,), (2.0,))])
    return folder


def test_both_folders_give_the_same_in_the_same_order(tmp_path, detector, expected):
    evaluated, store = expected.read(), CheckStore(tmp_path / "results")
    store.save_detector(detector)
    for entry in (*evaluated.checks, *evaluated.overheads):
        store.save(entry)
    assert store.read() == evaluated
    assert store.read(["d"]) == evaluated
    assert expected.read(["d"]) == evaluated
    assert [(entry.references, entry.case, entry.kind) for entry in evaluated.checks] == [
        ("cross", "one", "buggy"), ("none", "another", "buggy"), ("none", "one", "buggy"), ("none", "one", "fixed"),
    ]  # fmt: skip
    assert evaluated.rules == {"d": {"default": Rule(), "strict": Rule(at_least=2)}}
    assert not store.read(["e"]).checks


def test_a_record_that_is_made_again_changes_its_own_line_only(detector, expected):
    path = expected.root / "d.jsonl"
    before, evaluated = path.read_text().splitlines(), expected.read()
    checks = [replace(evaluated.checks[2], key="k2"), *evaluated.checks[:2], evaluated.checks[3]]
    expected.replace(detector, checks, evaluated.overheads)
    after = path.read_text().splitlines()
    assert [number for number, line in enumerate(after) if line != before[number]] == [3]


def test_records_that_are_too_much_for_one_file_go_on_in_the_next(detector, expected, monkeypatch):
    whole, evaluated = (expected.root / "d.jsonl").read_text(), expected.read()
    other = expected.root / "d-x.2.jsonl"
    other.write_text("of another detector")
    head, *lines = whole.splitlines(keepends=True)
    monkeypatch.setattr(
        "evaluation.store.committed.MAX_BYTES", len(head) + len(lines[0]) + len(lines[1])
    )
    expected.replace(detector, evaluated.checks, evaluated.overheads)
    parts = [path for path in sorted(expected.root.iterdir()) if path != other]
    assert [path.name for path in parts] == ["d.2.jsonl", "d.3.jsonl", "d.jsonl"]
    assert (expected.root / "d.jsonl").read_text() == "".join([head, *lines[:2]])
    assert expected.read(["d"]) == evaluated
    (expected.root / "d.x.jsonl").write_text(whole)
    with pytest.raises(
        ResultsError, match=r"d\.x\.jsonl, line 1: is of detector 'd', expected 'd.x'"
    ):
        expected.read(["d.x"])
    (expected.root / "d.x.jsonl").unlink()
    second = (expected.root / "d.2.jsonl").read_text()
    (expected.root / "d.2.jsonl").write_text(second.replace('"title":"t"', '"title":"other"'))
    with pytest.raises(ResultsError, match="the files of d describe it in two ways"):
        expected.read(["d"])
    (expected.root / "d.2.jsonl").unlink()
    with pytest.raises(
        ResultsError, match=r"d\.3\.jsonl: goes on from file 2 of d, which is not there"
    ):
        expected.read(["d"])
    (expected.root / "d.2.jsonl").write_text(second)
    with (expected.root / "d.2.jsonl").open("a") as file:
        file.write(lines[0])
    with pytest.raises(
        ResultsError, match=r"d\.2\.jsonl, line 4: is of the same program as d\.jsonl, line 2"
    ):
        expected.read(["d"])
    monkeypatch.undo()
    expected.replace(detector, evaluated.checks, evaluated.overheads)
    assert {path.name for path in expected.root.iterdir()} == {"d.jsonl", other.name}
    assert (expected.root / "d.jsonl").read_text() == whole


@pytest.mark.parametrize(
    "labels", [{}, {"kit": "0" * 64, "rules": "1" * 64}, {"isolated": False}, {"code": "0" * 64}]
)
def test_labels_that_are_not_known_are_left_out(labels):
    written = dump_record(record(**labels))
    assert {
        name: written[name] for name in ("kit", "rules", "isolated", "code") if name in written
    } == labels


def test_what_an_alarm_does_not_say_is_left_out():
    assert to_builtins(Alarm("c", "m", "error", iteration=3)) == {
        "code": "c", "message": "m", "severity": "error", "iteration": 3,
    }  # fmt: skip


OLD, NEW = "0" * 64, "1" * 64


@pytest.mark.parametrize(
    "older, newer",
    [
        ({"code": OLD}, {"code": NEW}),
        ({}, {"code": NEW}),
        # Records from before their code was noted.
        ({}, {"version": "2"}),
        ({"kit": OLD}, {"kit": NEW}),
    ],
)
def test_of_a_results_folder_the_newest_code_counts(tmp_path, detector, older, newer):
    store = CheckStore(tmp_path / "results")
    store.save_detector(detector)
    counted = [record(case="a", started="3", **newer), record(case="b", started="1", **newer)]
    counted.append(
        replace(overhead((1.0,), (2.0,)), **{name: value for name, value in newer.items()})
    )
    outdated = [
        record(case="c", started="2", **older),
        replace(overhead((1.0,), (2.0,)), case="c", **older),
    ]
    for entry in (*counted, *outdated):
        store.save(entry)
    loaded = load_results(store.root)
    assert [*loaded.checks, *loaded.overheads] == counted
    assert loaded.excluded_count(OLDER_CODE) == 2
    store.save(replace(outdated[0], started="4"))
    assert [entry.case for entry in load_results(store.root).checks] == ["c"]
    assert load_results(store.root).excluded_count(OLDER_CODE) == 3


def test_the_same_code_at_another_commit_is_no_other_code(tmp_path, detector):
    store = CheckStore(tmp_path / "results")
    store.save_detector(detector)
    store.save(record(case="a", started="1", code=OLD, revision="a", rules=OLD))
    store.save(record(case="b", started="2", code=OLD, revision="b", rules=NEW))
    assert len(load_results(store.root).checks) == 2
    assert load_results(store.root).excluded_count(OLDER_CODE) == 0


def test_what_could_not_be_read_again_is_not_written(tmp_path):
    store = CheckStore(tmp_path / "results")
    for bad in (
        record(trigger=10**30),
        record(reason="\ud800"),
        overhead((0.0,), (1.0,)),
        overhead((), (1.0,)),
    ):
        with pytest.raises(ResultsError, match="not a record of an evaluation"):
            store.save(bad)
    with pytest.raises(ValueError, match="not JSON compliant"):
        store.save(overhead((float("nan"),), (1.0,)))
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    "spoil, words",
    [
        (lambda lines: lines[1:], "line 1: the first line, and no other, describes the detector"),
        (
            lambda lines: [lines[0], *lines],
            "line 2: the first line, and no other, describes the detector",
        ),
        (lambda lines: [*lines, lines[1]], r"line 7: is of the same program as d\.jsonl, line 2"),
        (lambda lines: [*lines, lines[-1]], r"line 7: is of the same program as d\.jsonl, line 6"),
        (lambda lines: [*lines, "{"], "line 7: not a record of an evaluation: not JSON"),
        (
            lambda lines: [*lines, "{}"],
            "line 7: .*expected one of the keys detector, check, overhead",
        ),
        (
            lambda lines: [*lines, '{"chek": {}}'],
            r"line 7: .*there is no key 'chek' \(did you mean check\?\)",
        ),
        (
            lambda lines: [lines[0], lines[1].replace('"seed":0', '"seed":-1')],
            "check.seed: is -1, expected a whole number >= 0",
        ),
        (
            lambda lines: [lines[0], lines[1].replace('"seed":0', '"seed":0,"seed":1')],
            "the key 'seed' is there twice",
        ),
        (
            lambda lines: [lines[0], lines[1].replace('"check":1.0', '"check":NaN')],
            "NaN is no number",
        ),
        (
            lambda lines: [lines[0], lines[1].replace('"schema":1', '"schema":2')],
            "check.schema: is 2, expected 1",
        ),
        (
            lambda lines: [lines[0], lines[1].replace('"key":"k"', '"key":"k","kit":"x"')],
            "check.kit: is 'x', expected",
        ),
        (
            lambda lines: [lines[0].replace("default", "De fault"), *lines[1:]],
            "line 1: .*a key is 'De fault'",
        ),
        (
            lambda lines: [lines[0].replace('"d"', '"e"'), *lines[1:]],
            "line 1: is of detector 'e', expected 'd'",
        ),
        (
            lambda lines: [*lines[:5], lines[5].replace('"d"', '"e"')],
            "line 6: is of detector 'e', expected 'd'",
        ),
    ],
)
def test_what_is_wrong_in_committed_records_is_said_by_line(expected, spoil, words):
    path = expected.root / "d.jsonl"
    path.write_text("\n".join(spoil(path.read_text().splitlines())) + "\n")
    with pytest.raises(
        ResultsError, match=rf"d\.jsonl, {words}" if words.startswith("line") else words
    ) as error:
        expected.read()
    assert "\n" not in str(error.value)


def test_only_the_files_of_the_named_detectors_are_read(expected):
    (expected.root / "e.jsonl").write_text("{")
    assert len(expected.read(["d"]).checks) == 4
    assert not expected.read(["f"]).checks
    with pytest.raises(
        ResultsError, match=r"e\.jsonl, line 1: not a record of an evaluation: not JSON"
    ):
        expected.read()


def committed(kind, folder="expected"):
    """The committed record of api-sequence on a program of SO-60335387/digits,
    and the key of that program's run.
    """
    bug = load_bug(ROOT / "bugs" / "SO-60335387")
    evaluated = CommittedChecks(ROOT / "detectors" / folder).read(["api-sequence"])
    records = (
        evaluated.overheads
        if kind == "overhead"
        else [check for check in evaluated.checks if check.kind == kind]
    )
    program = ("SO-60335387", "digits")
    check = next(check for check in records if (check.bug, check.case) == program)
    variant = "fixed" if kind == "overhead" else kind
    run = next(
        record
        for record in expected_records(bug, "digits")
        if (record.variant, record.seed) == (variant, 0)
    )
    scripts = read_scripts(bug, bug.cases["digits"].program.variants[variant])
    assert bug.probe is None, "detectors meet a program without its probe"
    where = (
        run.runtime.environment,
        run.lock,
        str(run.runtime.pinned),
        run.python,
        run.runtime.torch,
    )
    return check, run_key(bug.cases["digits"], variant, scripts, 0, "cpu", where, None)


@pytest.fixture
def earlier_kit(monkeypatch):
    """The kit with which the records in detectors/earlier were made stands in for today's:
    names and hashes of its files.
    """
    files, kit = (
        keys._files,
        json.loads((ROOT / "tests" / "evaluation" / "earlier_kit.json").read_text()),
    )
    monkeypatch.setattr(keys, "_files", lambda folder: kit if folder == KIT else files(folder))
    keys.kit_digest.cache_clear()
    yield
    keys.kit_digest.cache_clear()


@pytest.mark.parametrize("kind", ["buggy", "fixed"])
def test_the_key_of_a_committed_check_comes_out_again(kind):
    check, run = committed(kind)
    digest = detector_digest(detectors.load(ROOT, "api-sequence"))
    assert check.key == check_key(digest, run, "none", [], None)
    assert check.kit == kit_digest()


@pytest.mark.usefixtures("earlier_kit")
def test_the_key_of_a_committed_timing_comes_out_again():
    timing, run = committed("overhead", "earlier")
    digest, bare = (
        detector_digest(detectors.load(ROOT, "api-sequence")),
        (BARE / "loop.py").read_text(),
    )
    assert timing.key == overhead_key(
        digest, bare, run, "none", len(timing.bare), "loop", timing.machine
    )
    assert timing.kit == kit_digest()


def test_what_linters_keep_in_a_detector_changes_no_digest(tmp_path):
    folder = tmp_path / "api-sequence"
    shutil.copytree(ROOT / "detectors" / "api-sequence", folder)
    before = detector_digest(detectors.read(folder))
    cached = folder / ".ruff_cache" / "0.1"
    cached.mkdir(parents=True)
    (cached / "17").write_text("seen")
    (folder / "module.pyc").write_text("seen")
    assert detector_digest(detectors.read(folder)) == before
    # A hidden file counts: it may choose the interpreter.
    (folder / ".python-version").write_text("3.11")
    assert detector_digest(detectors.read(folder)) != before


def test_the_digest_of_rules_covers_what_they_mean():
    digest = rules_digest({"a": Rule(), "b": Rule(at_least=2)})
    assert digest == rules_digest({"b": Rule(at_least=2), "a": Rule("warning")})
    another_bound = rules_digest({"a": Rule(), "b": Rule(at_least=3)})
    assert another_bound != digest
    another_name = rules_digest({"a": Rule(), "c": Rule()})
    assert another_name != another_bound


COMMITTED = sorted(
    {
        (part, path.name.split(".")[0])
        for part in ("expected", "earlier", "earlier/seeds")
        for path in (ROOT / "detectors" / part).glob("*.jsonl")
    }
)


@pytest.mark.parametrize("part, name", COMMITTED)
def test_committed_records_are_the_same_when_they_are_written_again(part, name, tmp_path):
    before, again = CommittedChecks(ROOT / "detectors" / part), CommittedChecks(tmp_path)
    records = before.read([name])
    assert records.checks
    again.replace(detectors.load(ROOT, name), records.checks, records.overheads)
    assert again.read() == records
    for path in [path for path in before.root.glob("*.jsonl") if path.name.split(".")[0] == name]:
        old, new = (file.read_text().splitlines() for file in (path, again.root / path.name))
        assert [without_null(json.loads(line)) for line in old] == [
            json.loads(line) for line in new
        ]
        assert name != "neuraldbg" or old == new, "its records are written without null"


def without_null(line):
    """A line in whose alarms nothing is null, which was written once."""
    for alarm in line.get("check", {}).get("alarms", []):
        for key in [key for key, value in alarm.items() if value is None]:
            del alarm[key]
    return line


@pytest.mark.parametrize("folder", ["expected", "earlier"])
def test_every_committed_record_says_by_which_kit_it_was_made(folder):
    evaluated = CommittedChecks(ROOT / "detectors" / folder).read()
    kits = [check.kit for check in evaluated.checks] + [
        timing.kit for timing in evaluated.overheads
    ]
    assert {len(kit or "") for kit in kits} == {64}
    assert len(set(kits)) == 1
    assert isinstance(evaluated.checks[0], CheckRecord)
    assert all(isinstance(timing, OverheadRecord) for timing in evaluated.overheads)
