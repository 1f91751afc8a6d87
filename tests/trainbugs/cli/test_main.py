"""The command line as a user types it: output, exit status, one line for every mistake,
and Ctrl-C.
"""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from support.meeting import meanwhile
from support.processes import is_alive, wait_until
from support.records import as_pinned
from support.repositories import commit, git
from support.toy import OWN_PYTHON, PYTHON, SCRIPT, alone, toy_config

from runner.files.locks import CLAIMS
from runner.results.folder_index import INDEX
from runner.results.store import OWNER
from runner.session.promote import promote_runs
from trainbugs import interrupts


def test_list_and_info(cli):
    status, out, _ = cli("list")
    assert status == 0
    assert " ".join(out.splitlines()[1].split()) == "Toy-1/only - The one case user code toy -"
    status, out, _ = cli("info", "Toy-1")
    assert status == 0
    assert "expected of buggy: buggy stays low" in out
    assert "buggy.py:9, print" in out


def test_titles_in_the_list_begin_with_a_capital(cli, toy):
    cases = toy_config()["cases"]
    cases["only"]["title"] = "two Heads, one of them late"
    toy.configure(cases=cases)
    assert "Two Heads, one of them late" in cli("list")[1]


def test_info_of_one_case(cli, toy):
    cases = toy_config()["cases"]
    toy.configure(cases=cases | {"other": cases["only"] | {"title": "The other case"}})
    all_cases, single = cli("info", "Toy-1")[1], cli("info", "Toy-1/other")[1]
    assert "Toy-1/only: " in all_cases
    assert "Toy-1/other: The other case" in all_cases
    assert single.startswith("Toy-1: ")
    assert "Toy-1/only" not in single
    assert "Toy-1/other: The other case" in single
    shown = json.loads(cli("info", "Toy-1/other", "--json")[1])
    assert [case["id"] for case in shown["cases"]] == ["Toy-1/other"]
    assert cli("info", "Toy-1/otter")[0] == 2


def test_info_says_what_the_scripts_are_derived_from(cli, toy):
    out = cli("info", "Toy-1")[1]
    assert "classes      cause: wrong logic, effect: poor model, stage: data\n" in out
    assert "realism      original: Nothing differs.\n" in out
    assert out.count("realism") == 1
    assert "derived from https://example.org/toy (a child; licence: MIT)\n" in out
    cases = toy_config()["cases"]
    cases["only"]["provenance"] = toy_config()["provenance"] | {"realism": "adapted"}
    labels = {"location": "user code", "root_cause": "a factor", "symptom": "low values"}
    toy.configure(cases=cases, labels=labels, provenance=None)
    out = cli("info", "Toy-1")[1]
    assert "classes      -\n" in out
    assert "\nrealism      -\n" in out
    assert "\n  realism      adapted: Nothing" in out


def test_the_page_of_bugs_says_how_near_each_program_is(cli, toy):
    cases = toy_config()["cases"]
    cases["other"] = cases["only"] | {
        "provenance": toy_config()["provenance"] | {"realism": "our own"}
    }
    toy.configure(cases=cases)
    assert (
        "| user code | re-created | reported | original, our own | toy |"
        in cli("list", "--markdown")[1]
    )
    toy.configure(provenance=None)
    assert "| user code | re-created | reported | - | toy |" in cli("list", "--markdown")[1]


def test_a_title_is_no_html_on_the_page_of_bugs(cli, toy):
    toy.configure(title="<img src=x onerror=alert(1)> a | b & c")
    page = cli("list", "--markdown")[1]
    assert "&lt;img src=x onerror=alert(1)&gt; a \\| b &amp; c |" in page
    assert "<img" not in page


def test_bugs_are_counted(cli, toy, tmp_path):
    status, out, err = cli("list", "--stats")
    assert (status, err) == (
        0,
        "",
    )
    assert "wrong logic           1          .          .         .        .         1" in out
    assert [
        line.split()[0] for line in out.splitlines() if line.isupper() or line[:1].isupper()
    ] == [
        "CODE",
        *("CAUSE", "EFFECT", "STAGE", "REALISM"),
        *("HARM", "CODE", "STATE", "SOURCE", "SPLIT"),
    ]
    assert out.count("\nall ") == 10
    status, out, _ = cli("list", "--stats", "--out", tmp_path / "new" / "a.svg")
    assert status == 0
    assert out.endswith("a.svg\n")
    assert (tmp_path / "new" / "a.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--out", "a.png"], "--out needs --stats or --markdown"),
        (["--stats", "--out", "a.txt"], "--out a.txt: expected a .png, .pdf or .svg with --stats"),
        (["--markdown", "--out", "a.png"], "--out a.png: expected a .md with --markdown"),
        (["--stats", "--markdown"], "--stats and --markdown exclude each other"),
    ],
)
def test_bugs_are_not_counted(cli, arguments, words):
    status, out, err = cli("list", *arguments)
    assert (status, out) == (2, "")
    assert words in err


def test_the_page_of_bugs_is_written_to_a_file(cli, tmp_path):
    status, out, _ = cli("list", "--markdown", "--out", "bugs.md")
    assert (status, out) == (0, "written: bugs.md\n")
    assert (tmp_path / "bugs.md").read_text() == cli("list", "--markdown")[1]


@pytest.mark.parametrize(
    "words, status",
    [(["--nonsense"], 2), (["--family", "none"], 2), (["Toy-1", "broken"], 2)],
)
def test_a_page_of_bugs_that_fails_leaves_the_file(cli, tmp_path, words, status):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("[]")
    (tmp_path / "bugs.md").write_text("as it was")
    assert cli("list", "--markdown", "--out", "bugs.md", *words)[0] == status
    assert (tmp_path / "bugs.md").read_text() == "as it was"


def test_bugs_outside_of_the_catalogue(cli, toy, tmp_path):
    outside = tmp_path / "mine"
    shutil.copytree(toy.directory, outside)
    (outside / "config.json").write_text(json.dumps(toy_config(id="Mine-1")))
    listed = [
        line.split()[0] for line in cli("list", outside, "Toy-1", outside)[1].splitlines()[1:]
    ]
    assert listed == ["Mine-1/only", "Toy-1/only"]
    assert cli("run", outside, "Toy-1", "--seeds", "0", *OWN_PYTHON)[0] == 0
    shown = cli("results", "mine")[1]
    assert shown == cli("results", outside)[1] == cli("results", "Mine-1")[1]
    assert [line.split()[0] for line in shown.splitlines()[1:]] == [
        "Mine-1/only/buggy",
        "Mine-1/only/fixed",
    ]
    assert "there is no bug 'Mine-1'" in cli("list", "Mine-1")[2]
    (outside / "config.json").write_text("{")
    status, out, err = cli("results", outside)
    assert (status, out) == (2, "")
    assert "mine/config.json: not JSON" in err


def test_version_and_no_arguments(cli):
    assert cli("--version") == cli("-V") == (0, "trainbugs 1.0.0\n", "")
    status, out, err = cli()
    assert (status, err) == (0, "")
    assert out == cli("--help")[1]
    assert "examples:" in out


def test_the_version_of_what_is_not_installed(cli, monkeypatch):
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: next(missing(name)))
    status, out, err = cli("--version")
    assert (status, out) == (2, "")
    assert "only an installed package has a version" in err


def missing(name):
    raise PackageNotFoundError(name)
    yield


@pytest.mark.parametrize("command", ["run", "versions", "why"])
def test_quiet(cli, toy, command):
    alone(toy)
    toy.write("why.py", "print('because')")
    words = {"run": ["Toy-1"], "versions": ["Toy-1", "--environments", "*"], "why": ["Toy-1"]}[
        command
    ]
    environment = toy.root / "environments" / "toy"
    environment.mkdir(parents=True)
    (environment / "requirements.txt").write_text("")
    (environment / ".python-version").write_text(PYTHON + "\n")
    (environment / "environment.json").write_text('{"disk_gb": 0.01}')
    status, out, err = cli(command, *words, "--quiet")
    assert (status, err) == (0, "")
    assert out
    assert cli("env", "remove", "toy")[0] == 0
    _, loud, err = cli(command, *words)
    assert "environment toy: built in" in err
    assert loud.splitlines()[0] == out.splitlines()[0]


def test_quiet_is_silent_about_progress_only(cli, toy):
    toy.write("buggy.py", "raise RuntimeError('late')")
    status, out, err = cli("run", "Toy-1", "-q", "--seeds", "0", *OWN_PYTHON)
    assert status == 2
    assert "INVALID" in out
    assert err.startswith("[1/2] Toy-1/only/buggy seed 0: exit status 1: RuntimeError: late")
    assert "logs:" in err
    assert len(err.splitlines()) == 1


def test_what_is_left_out_is_said_though_quiet(cli, toy):
    cases = toy_config()["cases"]
    toy.configure(cases=cases | {"large": cases["only"] | {"data": ["MNIST/raw"]}})
    status, out, err = cli("run", "--all", "-q", *OWN_PYTHON)
    assert status == 0
    assert err == "Toy-1/large: left out, it needs --data; name it to let it download\n"


def test_list_shows_the_good_bugs_and_names_the_broken_one(cli, toy):
    broken = toy.root / "bugs" / "Broken-1"
    broken.mkdir()
    (broken / "config.json").write_text("{")
    status, out, err = cli("list")
    assert status == 2
    assert "Toy-1/only" in out
    assert "Broken-1/config.json: not JSON" in err


def test_run_and_its_exit_statuses(cli, toy, tmp_path):
    status, out, err = cli("run", "Toy-1", *OWN_PYTHON)
    assert status == 0
    assert out.splitlines()[1].split()[:3] == ["Toy-1/only", "REPRODUCED", "4"]
    assert f"records, logs and verdicts: {tmp_path / 'results'}" in out
    assert "[4/4] Toy-1/only/fixed seed 1: ok" in err
    again = cli("run", "Toy-1", *OWN_PYTHON, "--results", "results/../results")
    assert "[4/4] Toy-1/only/fixed seed 1: done before" in again[2]
    assert f"records, logs and verdicts: {tmp_path / 'results'}\n" in again[1]
    toy.write("buggy.py", (toy.directory / "fixed.py").read_text())
    status, out, _ = cli("run", "Toy-1", *OWN_PYTHON)
    assert status == 1
    assert "NOT REPRODUCED" in out
    toy.write("buggy.py", "raise RuntimeError('late')")
    status, out, err = cli("run", "Toy-1", *OWN_PYTHON)
    assert status == 2
    assert "INVALID" in out
    assert "RuntimeError: late" in out
    assert "logs:" in err


def test_invalid_wins_over_not_reproduced(cli, toy, tmp_path):
    other = tmp_path / "Toy-2"
    shutil.copytree(toy.directory, other)
    (other / "config.json").write_text(json.dumps(toy_config(id="Toy-2")))
    shutil.copy(other / "fixed.py", other / "buggy.py")
    toy.write("buggy.py", "raise RuntimeError('late')")
    assert cli("run", other, *OWN_PYTHON)[0] == 1
    assert cli("run", other, "Toy-1", *OWN_PYTHON)[0] == 2


def test_variants_that_are_named_one_by_one_get_the_verdict_of_their_case(cli):
    status, out, _ = cli("run", "Toy-1/only/fixed", "Toy-1/only/buggy", *OWN_PYTHON)
    assert status == 0
    assert [line.split()[:3] for line in out.splitlines()[1:2]] == [
        ["Toy-1/only", "REPRODUCED", "4"]
    ]


def test_run_one_variant_gives_no_verdict(cli, toy):
    status, out, _ = cli("run", "Toy-1/only/fixed", *OWN_PYTHON)
    assert status == 0
    assert "no verdict: both variants are needed" in out
    status, out, _ = cli("run", "Toy-1/only/buggy", *OWN_PYTHON)
    assert status == 0
    assert out.splitlines()[1].split()[:2] == ["Toy-1/only", "-"]
    toy.write("buggy.py", SCRIPT.replace("VALUE", "9"))
    status, out, _ = cli("run", "Toy-1/only/buggy", *OWN_PYTHON)
    assert status == 1
    assert "last 27, expected <= 5" in out


def test_a_benign_case_says_so(cli, toy):
    config = toy_config()
    config["cases"]["only"]["benign"] = True
    toy.configure(cases=config["cases"])
    assert "benign: 4 checks hold" in cli("run", "Toy-1", *OWN_PYTHON)[1]
    assert '"benign": true' in next(Path("results").rglob("buggy-seed0-*.json")).read_text()


def test_options_of_run_reach_the_run(cli, toy, tmp_path):
    cli(
        "run",
        "Toy-1/only/buggy",
        "--seeds",
        "5,7",
        "--results",
        "elsewhere",
        "--data",
        tmp_path,
        *OWN_PYTHON,
    )
    names = sorted(path.name.split("-")[1] for path in Path("elsewhere").rglob("*-seed*.json"))
    assert names == ["seed5", "seed7"]
    toy.write("buggy.py", "import time; time.sleep(60)")
    assert (
        "killed after 0.5 s"
        in cli("run", "Toy-1/only/buggy", "--timeout", "0.5", "--seeds", "0", *OWN_PYTHON)[1]
    )


def test_figures_results_and_expected(cli, toy):
    assert "no expected records of Toy-1 to draw" in cli("figures")[2]
    assert cli("figures", "--from", "results", "--results", "nowhere")[::2] == (
        2,
        "trainbugs: nowhere: no such folder; name yours by --results\n",
    )
    assert cli("run", "Toy-1", "--figures", *OWN_PYTHON)[0] == 0
    assert Path("figures/Toy-1/compare_only.png").exists()
    assert Path("figures/summary.png").exists()
    status, out, _ = cli("figures", "Toy-1", "--from", "results", "--format", "svg", "--out", "f")
    assert status == 0
    assert out == "figures: 3 files in f/Toy-1\nfigure: f/summary.svg\n"
    assert {path.name for path in Path("f/Toy-1").iterdir()} >= {
        "fix_only.svg",
        "origin_only.svg",
        "compare_only.svg",
    }
    assert len(cli("results")[1].splitlines()) == 5
    assert len(cli("results", "--csv", "-")[1].splitlines()) == 13
    status, _, err = cli("run", "Toy-1", "--update-expected", *OWN_PYTHON)
    assert status == 2
    assert "not REPRODUCED as reported, in a pinned environment" in err


def test_run_in_a_pinned_environment_and_update_expected(cli, toy, toy_environment):
    status, out, err = cli("run", "Toy-1", "--update-expected")
    assert status == 0
    assert "environment toy: built in" in err
    assert "expected records: 4 written" in out
    assert (toy.bug.expected / "compare_only.png").exists()
    assert cli("validate")[:2] == (0, "Toy-1: well formed\n")
    assert "figures: 3 files in figures/Toy-1\n" in cli("figures")[1]
    (toy.directory / "README.md").unlink()
    status, out, _ = cli("validate", "Toy-1")
    assert status == 1
    assert out == "Toy-1: 1 problem\n  there is no README.md\n"
    assert cli("validate", toy.directory)[0] == 1


def test_what_is_not_committed_cannot_become_expected_and_is_not_run(cli, toy, toy_environment):
    git(toy.root, "init", "-q")
    commit(toy.root)
    with (toy.directory / "buggy.py").open("a") as file:
        file.write("# not committed\n")
    status, out, err = cli("run", "Toy-1", "--force", "--update-expected")
    assert (status, out) == (2, "")
    assert err == (
        "trainbugs: Toy-1: files of the bug are not committed, and expected records are made of "
        "committed ones; commit, and run it again\n"
    )
    commit(toy.root)
    assert "expected records: 4 written" in cli("run", "Toy-1", "--force", "--update-expected")[1]


def test_env(cli, toy, toy_environment):
    assert "no; `trainbugs env build toy`" in cli("env", "list")[1]
    status, out, _ = cli("env", "check")
    assert status == 2
    assert "toy: not built" in out
    assert cli("env", "build", "toy", "-q")[::2] == (0, "")
    assert cli("env", "check", "toy")[:2] == (0, "toy: as its lock says\n")
    assert (
        "are for env build, not for env remove"
        in cli("env", "remove", "toy", "--torch-backend", "cpu")[2]
    )
    assert "--json is for env list and env check" in cli("env", "remove", "toy", "--json")[2]
    status, out, _ = cli("env", "remove", "toy")
    assert status == 0
    assert "GB freed" in out
    assert "uv cache clean" in out
    assert cli("env", "remove", "toy")[:2] == (0, "toy: was not built\n")


def test_checkout(cli, toy_environment):
    status, out, error = cli("checkout", "Toy-1", "copy", "--blind")
    assert status == 0
    assert "Toy-1/only/buggy: cd copy && python3 program" in out
    assert (
        error
        == "toy is not built here (`trainbugs env build toy`): python3 has to have its packages\n"
    )
    assert cli("env", "build", "toy")[0] == 0
    status, out, error = cli("checkout", "Toy-1", "other")
    assert (status, error) == (0, "")
    assert re.search(r"cd other && /\S+/toy-\S+/bin/python buggy.py only.json", out)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["run", "Toi-1"], "no bug 'Toi-1' (did you mean Toy-1?); `trainbugs list` shows all"),
        (["run", "Toy-1/x"], "no case 'x'; expected one of only"),
        (["run"], "name the bugs to run, or all of them by --all"),
        (["run", "Toy-1", "--seeds", "0,x"], "expected different numbers >= 0"),
        (["run", "Toy-1", "--seeds", "1,1"], "expected different numbers >= 0"),
        (
            ["run", "Toy-1", "--device", "x"],
            "'x': expected auto, cpu, cuda or cuda:N; `trainbugs run --help` shows",
        ),
        (
            ["versions", "x", "--executor", "slurm"],
            "--executor slurm; `trainbugs versions --help` shows",
        ),
        (["env", "list", "--bogus"], "--bogus; `trainbugs env --help` shows"),
        (["run", "Toy-1", "--runs-per-gpu", "2"], "--runs-per-gpu is 2 and no GPUs are named"),
        (["info", "nope"], "there is no bug 'nope'; `trainbugs list` shows all"),
        (["run", "Toy-1", "--timeout", "0"], "expected a number above 0"),
        (["run", "Toy-1", "--data", "/no/such/folder"], "no such folder; expected one that holds"),
        (
            ["run", "Toy-1", "--python", "/no/python"],
            "/no/python: not a usable Python: /no/python: cannot be started",
        ),
        (["run", "Toy-1", "--environment", "x"], "no environment 'x'; expected one of"),
        (["run", "Toy-1", "--environment", "x", *OWN_PYTHON], "exclude each other"),
        (
            ["env", "remove", "toy", "--torch-backend", "cpu"],
            "are for env build, not for env remove",
        ),
        (["run", "Toy-1"], "no environment 'toy'; expected one of (none)"),
        (["run", "Toy-1", "--device", "cuda", *OWN_PYTHON], "has no torch; try --device cpu"),
        (["figures", "--format", "gif"], "invalid choice: 'gif'"),
        (["figures", "Nothing"], "no bug 'Nothing'"),
        (["results", "Toy-1"], "no records of Toy-1 in results"),
        (["info", "nothing"], "no bug 'nothing'"),
        (["validate", "nothing"], "no bug 'nothing'"),
        (["env", "build", "torch-0"], "no environment 'torch-0'"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
        (["results", "--csv", "-", "--json"], "--json: not allowed with argument --csv"),
        (["env", "remove", "toy", "--json"], "--json is for env list and env check"),
        (["completion", "fish"], "invalid choice: 'fish'"),
    ],
)
def test_mistakes_are_one_line_and_status_2(cli, arguments, words):
    status, out, err = cli(*arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert len(err.splitlines()) == 1
    assert err.startswith("trainbugs: ")


def test_data_folder_from_the_environment_variable(cli, monkeypatch):
    monkeypatch.setenv("TRAINBUGS_DATA", "/no/such/folder")
    assert (
        "TRAINBUGS_DATA is '/no/such/folder': no such folder" in cli("run", "Toy-1", *OWN_PYTHON)[2]
    )


def test_a_results_folder_that_cannot_be_made(cli, tmp_path):
    (tmp_path / "file").write_text("")
    status, _, err = cli("run", "Toy-1", "--results", tmp_path / "file" / "results", *OWN_PYTHON)
    assert status == 2
    assert "cannot be written: Not a directory; name another folder, by --out or --results" in err


def test_what_was_computed_before_an_error_is_kept(cli, toy, shared):
    """The results folder is moved away, and a file is put in its place:
    the second record cannot be written.
    """

    def spoil():
        Path("results").rename("moved")
        Path("results").write_text("")

    toy.write("fixed.py", meanwhile(shared, spoil))
    status, out, err = cli("run", "Toy-1", "--seeds", "0", *OWN_PYTHON)
    assert (status, out) == (2, "")
    assert "cannot be written" in err.splitlines()[-1]
    stored = list(Path("moved").rglob("buggy-seed0-*.json"))
    assert len(stored) == 1
    assert json.loads(stored[0].read_text())["status"] == "ok"


def test_progress_is_a_line_that_is_rewritten_on_a_terminal(toy):
    toy.write(
        "fixed.py",
        SCRIPT.replace("VALUE", "2").replace(
            "records.append", "__import__('time').sleep(0.2)\n    records.append"
        ),
    )
    leader, follower = pty.openpty()
    arguments = [
        "run",
        str(toy.directory),
        "--seeds",
        "0",
        "--results",
        str(toy.results),
        *OWN_PYTHON,
    ]
    subprocess.run(
        [sys.executable, "-m", "runner", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=follower,
        check=True,
    )
    os.close(follower)
    printed = os.read(leader, 10_000).decode()
    os.close(leader)
    assert re.search(
        r"1 of 2 done, 1 running, about \d+ s left\r\n  Toy-1/only/fixed seed 0  0 s  \d records\r",
        printed,
    )
    assert "[2/2] Toy-1/only/fixed seed 0: ok, " in printed
    assert printed.rstrip().endswith("s")


@pytest.mark.parametrize(
    "command",
    ["", "list", "info", "run", "figures", "results", "checkout", "validate", "env", "completion"],
)
def test_help_has_examples(cli, command):
    status, out, _ = cli(*([command] if command else []), "--help")
    assert status == 0
    assert "examples:\n  trainbugs " in out


def test_the_module_is_the_same_program():
    done = subprocess.run(
        [sys.executable, "-m", "runner", "list"], capture_output=True, text=True, check=True
    )
    assert "PyTorch-115607/complex" in done.stdout


def test_a_reader_that_goes_away_is_no_error():
    program = [
        sys.executable,
        "-c",
        "import sys; from trainbugs.cli.main import main; sys.exit(main())",
        "list",
    ]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdout.close()
        assert child.stderr.read() == b""
        assert child.wait() == 0


def test_the_verdict_is_the_exit_status_though_the_reader_goes_away(toy):
    toy.write("buggy.py", "raise RuntimeError('late')")
    arguments = [
        "run",
        str(toy.directory),
        "--seeds",
        "0",
        "--results",
        str(toy.results),
        *OWN_PYTHON,
    ]
    reader, writer = os.pipe()
    os.close(reader)
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        [sys.executable, "-m", "runner", *arguments], stdout=writer, stderr=writer, env=buffered
    )
    os.close(writer)
    assert done.returncode == 2
    assert Path(toy.results, "Toy-1", "only", "verdict.json").exists()


@pytest.mark.parametrize(
    "redirection, status",
    [("2>&1 | cat", 0), (">&-", 0), ("2>&-", 0), ("> /dev/full", 2), ("--help > /dev/full", 2)],
)
def test_streams_of_any_kind(toy, redirection, status):
    command = f"set -o pipefail; {sys.executable} -m runner list {redirection}"
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        env=plain | {"PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_a_terminal_that_knows_ascii_only(toy):
    config = toy_config()
    config["cases"]["only"]["expectations"][0] |= {"op": "close", "value": 99, "tolerance": 1}
    toy.configure(cases=config["cases"])
    arguments = [
        "run",
        str(toy.directory),
        "--seeds",
        "0",
        "--results",
        str(toy.results),
        *OWN_PYTHON,
    ]
    plain = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-m", "runner", *arguments], capture_output=True, text=True, env=plain
    )
    assert done.returncode == 1
    assert "NOT REPRODUCED" in done.stdout
    assert "Traceback" not in done.stderr


def test_figures_that_cannot_be_written_change_no_verdict(cli, tmp_path):
    (tmp_path / "file").write_text("")
    status, out, err = cli(
        "run", "Toy-1", "--figures", "--out", tmp_path / "file" / "f", *OWN_PYTHON
    )
    assert status == 0
    assert "REPRODUCED" in out
    assert "cannot be written" in err


def test_nohup_is_respected(toy, shared):
    ignore = "import signal, sys; signal.signal(1, signal.SIG_IGN); "
    ignore += "from trainbugs.cli.main import main; sys.exit(main())"
    parent = shared / "parent"
    tell = (
        "import os\nfrom pathlib import "
        f"Path\nPath({str(parent)!r}).write_text(str(os.getppid()))\n"
    )
    hang_up = meanwhile(shared, lambda: os.kill(int(parent.read_text()), signal.SIGHUP))
    toy.write("fixed.py", tell + hang_up + SCRIPT.replace("VALUE", "2"))
    arguments = [
        "run",
        str(toy.directory),
        "--seeds",
        "0",
        "--results",
        str(toy.results),
        *OWN_PYTHON,
    ]
    subprocess.run([sys.executable, "-c", ignore, *arguments], check=True, capture_output=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing_half_done(toy, shared, number):
    ready = shared / "pids"
    toy.write(
        "fixed.py",
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"with open({str(ready)!r}, 'w') as file: file.write(f'{{os.getpid()}} {{child.pid}}\\n')\n"
        "time.sleep(60)\n",
    )
    arguments = [
        "run",
        str(toy.directory),
        "--seeds",
        "0",
        "--results",
        str(toy.results),
        *OWN_PYTHON,
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "runner", *arguments], stderr=subprocess.PIPE, text=True
    ) as program:
        assert wait_until(lambda: ready.exists() and ready.read_text().endswith("\n"), 20)
        start = time.monotonic()
        program.send_signal(number)
        _, err = program.communicate(timeout=10)
    assert program.returncode == 130
    assert time.monotonic() - start < 5
    assert "interrupted; finished runs are kept" in err
    assert "Traceback" not in err
    assert not [pid for pid in map(int, ready.read_text().split()) if is_alive(pid)]
    files = [
        path
        for path in toy.results.rglob("*")
        if path.is_file() and path.name not in (CLAIMS, INDEX, OWNER)
    ]
    assert sorted(path.suffix for path in files) == [".json", ".stderr", ".stdout"]
    assert json.loads(next(toy.results.rglob("buggy-seed0-*.json")).read_text())["status"] == "ok"
    assert {path.name for path in toy.results.rglob(".*")} == {CLAIMS, INDEX, OWNER}


def test_more_interrupts_do_not_break_off_what_the_first_one_began(toy, shared):
    """Whoever presses Ctrl-C again and again, gets the same."""
    ready = shared / "pid"
    toy.write(
        "buggy.py",
        f"import os, time\nopen({str(ready)!r}, "
        "'w').write(f'{os.getpid()}\\n')\ntime.sleep(60)\n",
    )
    arguments = [
        "run",
        str(toy.directory),
        "--seeds",
        "0",
        "--results",
        str(toy.results),
        *OWN_PYTHON,
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "runner", *arguments], stderr=subprocess.PIPE, text=True
    ) as program:
        assert wait_until(lambda: ready.exists() and ready.read_text().endswith("\n"), 60)
        for number in (signal.SIGINT, signal.SIGTERM) * 20:
            program.send_signal(number)
            time.sleep(0.01)
        _, err = program.communicate(timeout=30)
    assert program.returncode == 130
    assert err.count("interrupted; finished runs are kept") == 1
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    assert not is_alive(int(ready.read_text()))


def heard(number):
    try:
        signal.raise_signal(number)
    except KeyboardInterrupt:
        return True
    return False


def test_a_request_to_end_is_heard_again_after_a_while(monkeypatch):
    interrupts.install()
    try:
        assert heard(signal.SIGTERM)
        assert not heard(signal.SIGINT)
        later = time.monotonic() + interrupts.QUIET_S
        monkeypatch.setattr(time, "monotonic", lambda: later)
        assert heard(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_a_working_directory_that_was_removed(toy, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    arguments = ["run", str(toy.directory), *OWN_PYTHON]
    program = (
        "import os, sys; os.rmdir(os.getcwd()); from trainbugs.cli.main import main; "
        "sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        cwd=gone,
        check=False,
    )
    message = "trainbugs: the working directory is not there any more; change to another one\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


@pytest.mark.parametrize(
    "words",
    [["export", "--out"], ["site", "--out"], ["submit", "--check"], ["review", "import"]],
)
def test_links_that_lead_in_a_circle_are_one_line(tmp_path, words):
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    key = ["--key", str(circle)] if words[0] == "review" else []
    program = "import sys; from trainbugs.cli.main import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", program, *words, str(circle), *key],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert str(circle) in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "error, words",
    [
        (
            PermissionError(13, "Permission denied", "/data/x"),
            "/data/x: Permission denied; expected what you may read and write, see its permissions",
        ),
        (NotADirectoryError(20, "Not a directory", "/data/x/y"), "/data/x/y: Not a directory"),
        (IsADirectoryError(21, "Is a directory", "a\nb"), "'a\\nb': Is a directory"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (
            MemoryError(),
            "there is not enough memory; see `ulimit -v`, and the limit of the batch job",
        ),
        (RuntimeError("can't start new thread"), "there is not enough memory;"),
        (
            ImportError("libstdc++.so.6: failed to map segment from shared object"),
            "there is not enough memory;",
        ),
    ],
)
def test_what_the_system_refuses_is_one_line(cli, monkeypatch, error, words):
    def refuse():
        raise error

    monkeypatch.setattr("trainbugs.cli.main.discard", lambda stream: None)
    monkeypatch.setattr("trainbugs.api.load", refuse)
    status, out, err = cli("list")
    assert (status, out) == (2, "")
    assert err.startswith(f"trainbugs: {words}")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "error", [RuntimeError("a mistake of ours"), ImportError("cannot import name 'x'")]
)
def test_a_mistake_of_ours_is_not_called_a_lack_of_memory(cli, monkeypatch, error):
    def fail():
        raise error

    monkeypatch.setattr("trainbugs.api.load", fail)
    with pytest.raises(type(error), match=str(error)):
        cli("list")


def test_little_memory_is_enough_for_small_files(cli, toy):
    """Reading takes memory for what there is, not for the largest file that is allowed."""
    toy.run(seeds=(0,))
    (toy.results / INDEX).unlink()
    arguments = f"{sys.executable} -m runner results --results {toy.results}"
    done = subprocess.run(
        ["bash", "-c", f"ulimit -v 100000; {arguments}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", 3)


def test_scores_are_written_though_the_reader_goes_away(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "runner", "scores", "api-sequence", "--out", str(tmp_path)]
    done = subprocess.run(
        command, stdout=writer, stderr=subprocess.PIPE, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    )
    os.close(writer)
    # Nothing but the lines about records that count in no score, and stale ones.
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert done.stderr.count(b"\n") <= 3
    assert (tmp_path / "scores.json").exists()
    assert (tmp_path / "matrix.png").exists()


def test_drift_is_shown(cli, toy):
    promote_runs([as_pinned(toy.run())])
    toy.write(
        "fixed.py", SCRIPT.replace("VALUE", "2.5").replace('config["seed"]', 'config["seed"] - 1.5')
    )
    out = cli("run", "Toy-1", *OWN_PYTHON)[1]
    assert out.splitlines()[1].split()[:5][1] == "REPRODUCED"
    assert out.splitlines()[1].split()[4] == "1"


def test_a_folder_of_data_that_is_not_there_stops_only_what_needs_data(cli, toy, monkeypatch):
    toy.run()
    monkeypatch.setenv("TRAINBUGS_DATA", "/no/such/folder")
    assert cli("results", "--results", toy.results)[0] == 0
    assert cli("list")[0] == 0
    status, _, err = cli("run", "Toy-1", *OWN_PYTHON)
    assert status == 2
    assert "TRAINBUGS_DATA is '/no/such/folder': no such folder" in err
