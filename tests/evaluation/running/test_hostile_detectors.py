"""Detectors that would hang, crash or spoil an evaluation: each gets its status,
and the others their scores.
"""

import json
import os
import signal
import subprocess
import sys

import pytest
from msgspec.structs import replace
from support.detectors import write_detector
from support.processes import called, wait_until

from evaluation.catalog import detectors
from evaluation.running import adapter, answers, campaign
from evaluation.running.answers import read_answer
from evaluation.running.options import CampaignOptions
from evaluation.scoring.outcomes import outcomes
from evaluation.scoring.scores import scores
from evaluation.store.results import CheckStore
from runner.errors import ResultsError
from runner.files.untrusted import UNPRINTABLE

NEVER = "main(lambda target, state: {})"
ALWAYS = "main(lambda target, state: {'alarms': [alarm('c', 'm')]})"
FOUND = '{"code": "c", "message": "m", "severity": "error"'
# What an adapter leaves behind, and what is said of it.
ANSWERS = {
    "a pipe": ("os.mkfifo('verdict.json')", "verdict.json: is no plain file"),
    "a device": (
        "os.symlink('/dev/zero', 'verdict.json')",
        "leads out of its directory, to /dev/zero",
    ),
    "a link": (
        "os.symlink('/etc/passwd', 'verdict.json')",
        "leads out of its directory, to /etc/passwd",
    ),
    "nothing": ("os.symlink('nothing', 'verdict.json')", "the detector wrote no verdict.json"),
    "a folder": ("os.mkdir('verdict.json')", "is no plain file"),
    "a large iteration": (
        {"alarms": f'[{FOUND}, "iteration": 1{"0" * 30}}}]'},
        "alarms[0].iteration: is 1000",
    ),
    "a large line": ({"alarms": f'[{FOUND}, "line": 1{"0" * 300}}}]'}, "alarms[0].line: is 1000"),
    "a line of many digits": (
        {"alarms": f'[{FOUND}, "line": 1{"0" * 5000}}}]'},
        "is too large a number",
    ),
    "many violated": (
        {"invariants": f'{{"checked": 1, "violated": 1{"0" * 25}}}'},
        "invariants.violated: is 1000",
    ),
    "many dropped": ({"dropped": f"1{'0' * 25}"}, "dropped: is 1000"),
    "half a character": (
        {"alarms": r'[{"code": "\ud800", "message": "m", "severity": "error"}]'},
        "half a character",
    ),
    "a long API": ({"alarms": f'[{FOUND}, "api": "{"a" * 3000}"}}]'}, "alarms[0].api: is 'aaa"),
    "no time": (
        {"training": '{"seconds": 1e-9, "of": "loop"}'},
        "training.seconds: is 1e-09, expected",
    ),
    "a name with a zero": ({"artefacts": r'["a\u0000b"]'}, r"artefacts[0]: is 'a\x00b', expected"),
    "a long name": ({"artefacts": json.dumps(["a" * 3000])}, "artefacts[0]: is 'aaa"),
    "what no JSON is": (
        "Path('verdict.json').write_bytes(b'\\xff')",
        "not JSON: invalid start byte",
    ),
    "a message that clears the screen": (
        r"Path('verdict.json').write_text(json.dumps({'status': 'tool_error', 'reason': '\x1b[2J\nspoilt'}))",
        "\x1b[2J\nspoilt",
    ),
    "an error that clears the screen": (
        r"sys.exit('\x1b[2Jspoilt')",
        r"ended with 1: \x1b[2Jspoilt",
    ),
}
# What a detector that has looked at the catalogue does to the note of that, or to what writes it.
NOTE = 'Path(os.environ["TRAINBUGS_PEEKED"])'
COVERS = {
    "nothing": "pass",
    "removes": f"{NOTE}.unlink()",
    "empties": f"{NOTE}.write_text(''); os.utime({NOTE}, (1, 1))",
    "a folder": f"{NOTE}.unlink(); {NOTE}.mkdir()",
    "a pipe": f"{NOTE}.unlink(); os.mkfifo({NOTE})",
    "a device": f"{NOTE}.unlink(); {NOTE}.symlink_to('/dev/zero')",
    "a lost link": f"{NOTE}.unlink(); {NOTE}.symlink_to('nothing')",
    "bytes": f"{NOTE}.write_bytes(b'\\xff\\x00')",
    "much": f"{NOTE}.write_text('x' * 10_000_000)",
}
# What one does before it looks.
BEFORE = {
    "another note": f"os.environ['TRAINBUGS_PEEKED'] = {NOTE}.with_name('other').as_posix()",
    "no guard": (
        "sys.modules['catalogue_guard'].__dict__.update(GUARDED=(), EVENTS=(), paths=lambda *_: [])"
    ),
    "a removed note": f"{NOTE}.unlink()",
}
# What lies beside an answer that is well.
ODD = """
os.mkfifo("p"); os.symlink("/dev/zero", "z"); os.symlink("/etc/passwd", "l"); os.symlink("x", "x")
os.symlink("/etc", "d"); os.mkdir("f"); Path("report").write_text("kept")
names = ["p", "z", "l", "x", "d/passwd", "f", ".", "..", "/etc/passwd", "../report", "a" * 300, "a/" * 400, "report"]
main(lambda target, state: {"artefacts": names})
"""
STREAMS = """
for name in ("stdout", "stderr"):
    Path(name).unlink(missing_ok=True)
os.mkfifo("stdout"); os.symlink("/etc/passwd", "stderr")
print("said", flush=True); sys.exit("why")
"""
LEARNS = """
def deep(folder):
    os.chdir(folder)
    for _ in range(1100):
        os.mkdir("d")
        os.chdir("d")

def prepare(references, state):
    (state / "learnt").write_text("1")
    LEARNING

main(lambda target, state: {"alarms": [alarm("has", str((state / "learnt").is_file()))]}, prepare)
"""
# What it does with its state while it learns, and what becomes of its checks.
STATES = {
    "a pipe": ("os.mkfifo(state / 'pipe')", None),
    "a device": ("os.symlink('/dev/zero', state / 'zero')", None),
    "a link": ("os.symlink('learnt', state / 'link')", None),
    "many folders": ("deep(state)", "RecursionError: "),
    "linked": ("state.rename('old'); state.symlink_to('/')", "a link in the place of its state"),
    "moved": ("state.rename('old')", "FileNotFoundError: "),
    "a pipe itself": ("state.rename('old'); os.mkfifo(state)", "NotADirectoryError: "),
}


@pytest.fixture(autouse=True)
def in_time():
    """Nothing waits for ever: a pipe that nobody writes to would be waited for."""

    def late(number, frame):
        raise TimeoutError("the program waits for something that never comes")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(300)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def evaluate(toy, tmp_path):
    """Evaluate detectors, and one that never alarms;
    returns the records of each by its adapter's name in `texts`.

    Asserts that the last one is as good as alone, and that all can be scored from the results.
    """

    def call(texts, **changes):
        selected = [detectors.read(write_detector(tmp_path / "own" / "never", NEVER))]
        for name, text in texts.items():
            selected.append(
                detectors.read(write_detector(tmp_path / "own" / slug(name), text, **changes))
            )
        texts = {"never": NEVER} | texts
        result = campaign.run(
            CampaignOptions(selected, controls="none", overhead_on=None),
            toy.session(seeds=(0,), jobs=2),
        )
        stored = CheckStore(toy.results / "detectors").read()
        assert not stored.problems
        assert sorted(stored.checks, key=by_key) == sorted(result.checks, key=by_key)
        assert set(scores(outcomes(stored.checks, stored.rules)).detector) == {
            slug(name) for name in texts
        }
        records = {name: _checks_by(slug(name), result) for name in texts}
        assert {len(checks) for checks in records.values()} == {2}
        assert [record.status for record in records.pop("never")] == ["ok", "ok"]
        return records

    return call


def _checks_by(detector, result):
    return [check for check in result.checks if check.detector == detector]


def slug(name):
    return name.replace(" ", "-").lower()


def by_key(record):
    return record.detector, record.kind


def answering(answer):
    """An adapter that leaves such an answer: a program, or the members of a JSON object."""
    if isinstance(answer, str):
        return answer
    members = "".join(f', "{key}": {value}' for key, value in answer.items())
    text = f'{{"status": "ok"{members}}}'
    return f"Path('verdict.json').write_text({text!r})"


def test_answers_that_are_none(evaluate, capsys):
    results = evaluate({name: answering(answer) for name, (answer, _) in ANSWERS.items()})
    for name, (_, words) in ANSWERS.items():
        assert [record.status for record in results[name]] == ["tool_error"] * 2, name
        assert all(
            words in record.reason and len(record.reason) <= 2000 for record in results[name]
        ), results[name]
        assert not any(record.alarms for record in results[name])
    messages = capsys.readouterr().err
    assert not UNPRINTABLE.search(messages.replace("\n", ""))
    assert messages.count("\n") == 2 + 2 * (len(ANSWERS) + 1)
    assert messages.count(r"tool_error: \x1b[2J\nspoilt, ") == 2
    assert messages.count(r"1: \x1b[2Jspoilt, ") == 2


def test_a_detector_that_has_looked_cannot_cover_it(evaluate, toy, unkept):
    looks = f"try:\n    os.listdir({str(toy.root / 'bugs')!r})\nexcept OSError:\n    pass\n"
    texts = {name: f"{looks}{text}\n{NEVER}" for name, text in COVERS.items()}
    texts |= {name: f"{text}\n{looks}{NEVER}" for name, text in BEFORE.items()}
    for name, records in evaluate(texts).items():
        assert [record.status for record in records] == ["peeked"] * 2, name
        assert all(
            record.reason.startswith("looked at ") and len(record.reason) <= 500
            for record in records
        ), name


@pytest.mark.parametrize("isolated", [True, False])
def test_a_file_of_that_name_says_nothing(evaluate, isolated, request):
    if not isolated:
        request.getfixturevalue("unkept")
    texts = {
        "a file": f"Path('peeked').write_text('x')\n{NEVER}",
        "a pipe": f"os.mkfifo('peeked')\n{NEVER}",
    }
    for name, records in evaluate(texts).items():
        assert [record.status for record in records] == ["ok"] * 2, name


def test_only_plain_files_of_its_own_are_kept(evaluate, toy):
    odd, streams = evaluate({"odd": ODD, "streams": STREAMS}).values()
    artefacts = CheckStore(toy.results / "detectors").artefacts(odd[0])
    assert [record.status for record in odd] == ["ok"] * 2
    assert sorted(path.name for path in artefacts.iterdir()) == [
        "report",
        "stderr",
        "stdout",
        "verdict.json",
    ]
    assert (artefacts / "report").read_text() == "kept"
    artefacts = CheckStore(toy.results / "detectors").artefacts(streams[0])
    assert {record.reason for record in streams} == {"the adapter ended with 1: why"}
    assert sorted(path.name for path in artefacts.iterdir()) == ["stderr", "stdout"]
    assert (artefacts / "stdout").read_text() == "said\n"
    assert (artefacts / "stderr").read_text() == "why\n"
    assert not (artefacts / "stderr").is_symlink()


def test_states_that_cannot_be_copied(evaluate, unkept):
    texts = {name: LEARNS.replace("LEARNING", learning) for name, (learning, _) in STATES.items()}
    results = evaluate(texts, needs=["reference_runs"], references=["same"])
    for name, (_, words) in STATES.items():
        for record in results[name]:
            text = record.reason if words else record.alarms[0].message
            assert record.status == ("tool_error" if words else "ok"), (name, text)
            assert (words or "True") in text, (name, text)
            assert len(text) <= 500


def test_what_is_no_plain_file_in_the_folder_of_a_detector(evaluate, tmp_path):
    for name, make in (("piped", os.mkfifo), ("linked", lambda path: path.symlink_to("nothing"))):
        (tmp_path / "own" / name).mkdir(parents=True)
        make(tmp_path / "own" / name / "odd")
    results = evaluate({"piped": NEVER, "linked": NEVER})
    assert {record.status for records in results.values() for record in records} == {"ok"}


def test_a_place_that_is_taken_makes_the_check_an_error(evaluate, toy):
    occupied = toy.results / "detectors" / "always" / "none" / "Toy-1" / "only" / "buggy-0"
    occupied.parent.mkdir(parents=True)
    occupied.write_text("a file")
    buggy, fixed = sorted(evaluate({"always": ALWAYS})["always"], key=by_key)
    assert buggy.status == "tool_error"
    assert len(buggy.alarms) == 0
    assert buggy.reason.startswith("FileExistsError: ")
    assert fixed.status == "ok"
    assert len(fixed.alarms) == 1


def too_much(*_):
    raise MemoryError("too much")


@pytest.mark.parametrize(
    "where, replacement, reason",
    [
        ("thin", lambda alarms: ((), 0 if not alarms else too_much()), "MemoryError: too much"),
        # It must not be saved: the others could not be scored beside it.
        (
            "thin",
            lambda alarms: (tuple(replace(alarm, iteration=10**30) for alarm in alarms), 0),
            "alarms[0].iteration: is 1000",
        ),
    ],
)
def test_an_error_in_a_check_is_one_of_that_check(
    evaluate, monkeypatch, where, replacement, reason
):
    monkeypatch.setattr(answers, where, replacement)
    for record in evaluate({"always": ALWAYS})["always"]:
        assert record.status == "tool_error"
        assert reason in record.reason
        assert not record.alarms


def test_a_full_disk_says_nothing_of_a_detector(evaluate, toy, monkeypatch):
    def full(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(adapter, "read_answer", full)
    with pytest.raises(OSError, match="No space left"):
        evaluate({})
    monkeypatch.setattr(adapter, "read_answer", read_answer)

    def unwritable(store, record):
        raise ResultsError("no room")

    monkeypatch.setattr(CheckStore, "save", unwritable)
    with pytest.raises(ResultsError, match="no room"):
        evaluate({})
    assert not list((toy.results / "detectors").glob("*/*/*/*/*.json"))


def test_an_evaluation_is_ended_though_its_answer_is_a_pipe(toy, tmp_path):
    mark = f"sleeper {tmp_path}"
    text = f"os.mkfifo('verdict.json')\nos.execlp('sleep', {mark!r}, '60')"
    directory = write_detector(tmp_path / "own" / "hostile", text)
    code = (
        "import sys; from runner.bugs.catalog import Catalog; from trainbugs import api; from "
        "pathlib import Path\nfrom trainbugs.cli.main import main; api.load = lambda: "
        f"Catalog(Path({str(toy.root)!r})); sys.exit(main())"
    )
    options = [
        "--detector",
        directory,
        "--python",
        sys.executable,
        "--overhead",
        "none",
        "--results",
        toy.results,
    ]
    command = [sys.executable, "-c", code, "evaluate", *map(str, options)]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as program:
        assert wait_until(lambda: called(mark), 40)
        program.send_signal(signal.SIGTERM)
        _, err = program.communicate(timeout=15)
    assert program.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
    assert wait_until(lambda: not called(mark))
