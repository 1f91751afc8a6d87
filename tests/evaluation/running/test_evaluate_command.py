"""The command evaluate, and scores after it, on the toy bug."""

import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.evaluating import KINDS

from evaluation.running import campaign
from trainbugs import api
from trainbugs.cli.main import main


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
    status, _, err = cli(
        "evaluate", "--detector", make("crashes"), *python, "--bugs", "Toy-1/only", "-q"
    )
    assert status == 1
    assert "crashes on Toy-1/only/buggy seed 0: done before, tool_error: " in err
    toy.write("fixed.py", "raise SystemExit('no')")
    status, _, err = cli("evaluate", "--detector", make("always"), *python, "--quiet")
    assert status == 2
    assert "Toy-1/only/fixed seed 0: does not run by itself" in err
    assert "always on" not in err


def test_a_folder_that_cannot_be_written_is_said_before_any_check(cli, make, tmp_path):
    (tmp_path / "file").write_text("")
    python = ("--python", sys.executable)
    out = ("--out", tmp_path / "file" / "scores")
    status, _, err = cli("evaluate", "--detector", make("always"), *python, *out)
    assert status == 2
    assert "cannot be written: Not a directory; name another folder, by --out" in err
    assert not list(Path("results").rglob("*.json"))


def test_the_rule_called_default_is_chosen_whatever_it_finds(cli, toy, make):
    counts = """
        def check(target, state):
            marks = Path(target.directory, target.script).read_text().count("# mark")
            return {"alarms": [alarm("mark", str(mark)) for mark in range(marks)]}
        main(check)
    """
    text = toy.directory.joinpath("buggy.py").read_text().split("# mark")[0]
    toy.write("buggy.py", text + "# mark\n")
    detector = make("counts", counts, alarm_rules={"default": {"at_least": 2}, "any": {}})
    arguments = ("--detector", detector, "--bugs", "Toy-1", "--python", sys.executable, "-q")
    status, out, _ = cli("evaluate", *arguments, "--json")
    assert status == 0
    answers = {row["rule"]: (row["detected"], row["chosen"]) for row in json.loads(out)}
    assert answers == {"any": (1, False), "default": (0, True)}


@pytest.mark.parametrize("code, is_said", [("other", True), ("mark", False)])
def test_a_line_says_that_no_rule_is_about_the_alarms_of_a_detector(cli, make, code, is_said):
    marks = """
        main(lambda target, state: {"alarms": [alarm("mark", "a mark")]})
    """
    detector = make("marks", marks, alarm_rules={"default": {"codes": [code]}})
    arguments = ("--detector", detector, "--bugs", "Toy-1", "--python", sys.executable)
    status, _, err = cli("evaluate", *arguments, "--controls", "none", "--overhead", "none")
    assert status == 0
    line = "marks: none of its alarms counts, because no rule in detector.json is about them"
    assert (line in err) == is_said
    assert ("their codes are mark" in err) == is_said


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["evaluate"], "--detector"),
        (["evaluate", "--detector", "nothing"], "there is no detector 'nothing'"),
        (
            ["evaluate", "--detector", "alway"],
            "there is no detector 'alway' (did you mean always?); expected one of (none)",
        ),
        (["evaluate", "--detector", "always", "--bugs", "Toy-2"], "there is no bug 'Toy-2'"),
        (
            ["evaluate", "--detector", "always", "--bugs", "Toy-1/only/buggy"],
            "scored on both variants",
        ),
        (["evaluate", "--detector", "always", "--repeats", "0"], "expected a number of at least 1"),
        (["evaluate", "--detector", "always", "--repeats", "1001"], "expected 1 to 1000"),
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
    # Nothing has run, and there is no score.
    assert "DETECTOR" not in out


def test_an_environment_that_is_not_whole_is_named_before_any_program_runs(cli, make, tmp_path):
    directory = make("always")
    (directory / "environment.json").write_text('{"disk_gb": 1}')
    (directory / "requirements.txt").write_text("one==1\n")
    status, out, err = cli("evaluate", "--detector", directory, "--python", sys.executable)
    line = (
        f"trainbugs: {directory}: lacks .python-version; docs/contributing-bugs.md shows how to make "
        "the files of an environment\n"
    )
    assert status == 2
    assert out == ""
    assert err == line
    assert not list(tmp_path.rglob("metrics.json"))


def unbuildable(directory):
    """Give a detector an environment that cannot be built."""
    (directory / "environment.json").write_text('{"disk_gb": 0.1}')
    (directory / ".python-version").write_text("3.11\n")
    (directory / "requirements.txt").write_text(f"one==1 --hash=sha256:{64 * '0'}\n")
    return directory


def test_an_environment_that_cannot_be_built_is_named_before_any_program_runs(
    cli, make, tmp_path, monkeypatch
):
    monkeypatch.setenv("UV_DEFAULT_INDEX", str(tmp_path))
    directory = unbuildable(make("always"))
    status, out, err = cli("evaluate", "--detector", directory, "--python", sys.executable)
    assert (status, out) == (2, "")
    assert "environment detector-always could not be built: " in err.splitlines()[-1]
    assert "bare: " not in err


@pytest.mark.parametrize("torch, is_made", [("1.13.1", False), ("2.2.2", True)])
def test_an_environment_that_no_check_needs_is_not_built(torch, is_made):
    made = []

    class Run:
        detector = SimpleNamespace(supports=lambda version: version == "2.2.2")

        @property
        def adapter(self):
            made.append(self)

    class Check:
        detector_run = Run()
        program = SimpleNamespace(torch=torch)

    campaign._make_ready([Check()], {})  # type: ignore[list-item]
    assert bool(made) == is_made


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


def test_a_program_runs_bare_only_where_somebody_has_still_to_look_at_it(cli, make):
    python = ("--python", sys.executable, "--overhead", "none")
    cli("evaluate", "--detector", make("always"), *python)
    # As on another machine, to which the answers alone were brought.
    shutil.rmtree("results/Toy-1")
    status, out, err = cli("evaluate", "--detector", make("always"), *python)
    assert status == 0
    assert "bare: " not in err
    assert out.splitlines()[1].startswith("always")
    Path("results/detectors/always/none/Toy-1/only/buggy-0.json").unlink()
    _, _, err = cli("evaluate", "--detector", make("always"), *python)
    assert err.count("bare: ") == 1
    assert "bare: Toy-1/only/buggy" in err
