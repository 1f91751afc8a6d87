"""`trainbugs watch`, with an interpreter that only seems to have torch: what is run, what is said,
the exit status.
"""

import json
import os
import signal
import subprocess
import sys
import time
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

import pytest
from support.paths import ROOT
from support.processes import wait_until
from support.watching import Fake

SILENT = "trainbugs watch: no invariant was broken in 40 steps of 1 optimizer\n"
MISSING = "nothing is known of what was seen"


def test_what_was_seen_is_a_table(watch, fake):
    fake.leaves(
        [{"iteration": 12, "code": "other", "line": None, "file": None, "parameter": None}, {}]
    )
    status, out, err = watch("train.py")
    assert (status, out) == (1, "")
    assert [line.rstrip() for line in err.splitlines()] == [
        "trainbugs watch: 2 invariants were broken in 40 steps of 1 optimizer",
        "WHAT             SEVERITY  WHERE       SINCE         TO SILENCE IT",
        "stale-gradients  error     train.py:7  iteration 2   --ignore stale-gradients",
        "    they were not cleared (parameter 0.weight). What may mend it: call zero_grad() of the "
        "optimizer before each backward pass of a new step",
        "other            error     -           iteration 12  --ignore other",
        "    they were not cleared",
    ]


def test_files_are_told_from_the_working_directory(watch, fake, tmp_path):
    fake.leaves([{}])
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "train.py").write_text("")
    assert "  a/train.py:7  " in watch("a/train.py")[2]
    outside = tmp_path.parent / f"{tmp_path.name}.py"
    outside.write_text("")
    assert f"  {tmp_path.parent}/train.py:7  " in watch(outside)[2]


def test_nothing_was_seen(watch, fake):
    assert watch("train.py") == (0, "", SILENT)
    fake.leaves(optimizers=2, steps=1)
    assert (
        watch("train.py")[2]
        == "trainbugs watch: no invariant was broken in 1 step of 2 optimizers\n"
    )


def test_one_place_is_named_once(watch, fake):
    fake.leaves([{"iteration": 9}, {"iteration": 3}, {"iteration": 4, "line": 8}])
    lines = watch("train.py")[2].splitlines()
    assert [line.split()[2:5] for line in lines if "--ignore" in line] == [
        ["train.py:7", "iteration", "3"],
        ["train.py:8", "iteration", "4"],
    ]
    assert lines[0] == "trainbugs watch: 1 invariant was broken in 40 steps of 1 optimizer"


@pytest.mark.parametrize(
    "optimizers, ending",
    [(0, "no optimizer made a step"), (1, "1 optimizer, and no step")],
)
def test_nothing_was_watched(watch, fake, tmp_path, optimizers, ending):
    fake.leaves(optimizers=optimizers, steps=0)
    status, _, err = watch("train.py")
    assert status == 3
    lines = err.splitlines()
    assert lines[0] == f"trainbugs watch: nothing was watched: {ending}"
    assert "under torchrun watch each of them" in lines[1]
    (tmp_path / "train.py").write_text("import sys; sys.exit(7)")
    status, _, err = watch("train.py")
    assert status == 7
    # What ended by an error has said why.
    assert "torchrun" not in err


def test_an_error_without_a_step_is_no_silence(watch, fake):
    fake.leaves([{}], steps=0)
    status, _, err = watch("train.py")
    assert status == 1
    assert "nothing was watched" not in err


def test_a_notebook_is_no_script(watch, fake, tmp_path):
    (tmp_path / "train.ipynb").write_text("{}")
    status, _, err = watch("train.ipynb")
    assert status == 3
    assert "nothing was watched: train.ipynb is a notebook; " in err
    assert not (fake.path.parent / "called.json").exists()


def test_advice_never_counts_and_is_told_apart(watch, fake):
    advice = {"severity": "info", "code": "other"}
    fake.leaves([advice])
    status, _, err = watch("train.py")
    assert status == 0
    assert [line.split("  ")[0] for line in err.splitlines()] == [
        "trainbugs watch: no error was seen in 40 steps of 1 optimizer, but there is advice on 1 "
        "invariant",
        "trainbugs watch: advice, for what it names may be meant:",
        "WHAT",
        "other",
        "",
    ]
    hidden = watch("--no-info", "train.py")[2]
    assert hidden == err.splitlines(keepends=True)[0]
    fake.leaves([advice, {}])
    status, _, err = watch("train.py")
    assert status == 1
    assert err.startswith(
        "trainbugs watch: 1 invariant was broken in 40 steps of 1 optimizer, and there is advice "
        "on 1 other\n"
    )
    assert err.index("stale-gradients") < err.index("advice, for") < err.index("\nother ")


def test_a_warning_is_shown_and_is_no_error(watch, fake):
    fake.leaves([{"severity": "warning"}])
    status, _, err = watch("train.py")
    assert status == 0
    assert "stale-gradients  warning" in err


def test_faults_of_the_sanitizer_are_said(watch, fake):
    fake.leaves(
        [{"code": "failed", "severity": "info", "message": "one is off: Trace\nback"}], dropped=3
    )
    assert watch("train.py")[2].splitlines()[1:] == [
        "trainbugs watch: 3 more alarms were not kept",
        "trainbugs watch: a fault of the sanitizer: one is off: Trace\\nback",
    ]
    fake.leaves(error="KeyError: 1", traceback="...")
    assert watch("train.py")[2].splitlines() == [
        "trainbugs watch: no invariant was broken in 40 steps of 1 optimizer, until the sanitizer "
        "failed",
        "trainbugs watch: a fault of the sanitizer: KeyError: 1",
    ]


@pytest.mark.parametrize("alarms", [[], [{}]])
def test_the_status_of_the_script_comes_first(watch, fake, tmp_path, alarms):
    fake.leaves(alarms)
    (tmp_path / "train.py").write_text("import sys; sys.exit(7)")
    status, _, err = watch("train.py")
    assert status == 7
    assert ("--ignore" in err) == bool(alarms)
    assert MISSING not in err


@pytest.mark.parametrize(
    "ends, status, ending",
    [
        (
            "os.kill(os.getpid(), signal.SIGKILL)",
            137,
            "the program was ended by SIGKILL, without a report",
        ),
        (
            "os.kill(os.getpid(), signal.SIGRTMIN + 6)",
            128 + signal.SIGRTMIN + 6,
            f"the program was ended by signal {signal.SIGRTMIN + 6}, without a report",
        ),
        ("os._exit(5)", 5, "the program ended with status 5, without a report"),
        ("os._exit(0)", 3, "the program ended before the report (os._exit?)"),
    ],
)
def test_a_report_that_is_missing(watch, fake, tmp_path, ends, status, ending):
    fake.leaves([{}])
    (tmp_path / "train.py").write_text(f"import os, signal; {ends}")
    assert watch("--json", "o.json", "train.py") == (
        status,
        "",
        f"trainbugs watch: {ending}: {MISSING}\ntrainbugs watch: the report is in o.json\n",
    )
    written = json.loads((tmp_path / "o.json").read_text())
    assert written["status"] == (0 if status == 3 else status)
    assert written["answer"] == "unknown"
    assert written["report"] is None


@pytest.mark.parametrize("local_rank, status", [("0", 3), ("1", 0)])
def test_a_rank_without_a_report_does_not_end_the_first_one(
    watch, fake, tmp_path, monkeypatch, local_rank, status
):
    """torchrun would: the first rank tells of the others."""
    monkeypatch.setenv("LOCAL_RANK", local_rank)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    (tmp_path / "train.py").write_text("import os; os._exit(0)")
    assert watch("--json", "o.json", "train.py")[0] == status
    assert (tmp_path / "o.json").exists() == (local_rank == "0")


def test_the_first_rank_of_each_machine_writes_the_files(watch, fake, tmp_path, monkeypatch):
    """Not the first one of all: it knows nothing of the other machines."""
    monkeypatch.setenv("RANK", "2")
    monkeypatch.setenv("LOCAL_RANK", "0")
    fake.leaves([{}], ranks=2)
    assert watch("--json", "o.json", "train.py")[0] == 1
    assert (tmp_path / "o.json").exists()


def test_half_a_report_is_none(watch, fake):
    (fake.path.parent / "report.json").write_text('{"alarms": [')
    assert MISSING in watch("train.py")[2]


@pytest.mark.parametrize(
    "text", ["{}", "[]", "null", '{"alarms": 5}', "[" * 100_000, '{"alarms": [{"severity": "x"}]}']
)
def test_what_is_no_report_is_none(watch, fake, text):
    """The program may write there itself."""
    (fake.path.parent / "report.json").write_text(text)
    status, _, err = watch("train.py")
    assert (status, err.count("\n")) == (3, 1)
    assert MISSING in err


def test_an_alarm_of_no_known_severity_makes_no_report(watch, fake):
    fake.leaves([{"severity": "fatal"}])
    assert MISSING in watch("--json", "o.json", "train.py")[2]


def test_a_null_in_a_name_of_a_file_names_no_line(watch, fake):
    fake.leaves([{"file": "a\0b"}])
    status, _, err = watch("train.py")
    assert status == 1
    assert r"a\x00b:7" in err


@pytest.mark.parametrize("name", ["tr\udcffain.py", "a\uffffb.py"])
def test_a_script_of_any_name_has_its_files_and_its_baseline(watch, fake, tmp_path, name):
    (tmp_path / name).write_text("")
    fake.leaves([{"file": name, "message": f"in {name}"}])
    outputs = ["--json", "o.json", "--sarif", "o.sarif", "--junit", "o.xml"]
    assert watch(*outputs, name)[0] == 1
    assert json.loads((tmp_path / "o.json").read_text())["findings"][0]["file"] == name
    (result,) = json.loads((tmp_path / "o.sarif").read_text())["runs"][0]["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert os.fsdecode(unquote_to_bytes(uri)) == name
    (failure,) = ElementTree.parse(tmp_path / "o.xml").iter("failure")
    assert failure.get("message", "").count(repr(name)[2:-4]) == 2
    assert watch("--baseline", "b.json", "--write-baseline", name)[0] == 0
    assert watch("--baseline", "b.json", name)[0] == 0


def test_what_stands_behind_the_script_is_the_scripts(watch, fake):
    words = ["train.py", "--json", "--li", "--", "-m", "--help", "--ignore", "x", ""]
    assert watch("--light", "--ignore", "stale-gradients", *words)[0] == 0
    called = fake.called()
    assert called["words"] == words
    assert "--module" not in called["launcher"]
    assert called["settings"] == {"ignore": ["stale-gradients"], "light": True}
    assert watch("--", *words)[0] == 0
    assert fake.called()["words"] == words
    assert fake.called()["settings"] == {"ignore": [], "light": False}


def test_what_is_silenced_is_said(watch, fake):
    err = watch("--ignore", "stale-gradients", "train.py")[2]
    assert err == SILENT.strip() + "; ignored: stale-gradients\n"


def test_a_module(watch, fake):
    """The launcher finds it; the toy takes its name for a file."""
    fake.leaves([{"file": "package/train.py"}])
    err = watch("-m", "train.py", "-m")[2]
    assert fake.called()["words"] == ["train.py", "-m"]
    assert "--module" in fake.called()["launcher"]
    assert "  package/train.py:7  " in err


def test_list(watch):
    status, out, err = watch("--list")
    lines = out.splitlines()
    assert (status, err) == (0, "")
    assert lines[0].split() == ["INVARIANT", "SEVERITY", "LIGHT"]
    at = next(number for number, line in enumerate(lines) if line.startswith("stale-gradients "))
    assert lines[at].split()[1:] == ["error", "yes"]
    assert "was cleared" in lines[at + 1]


@pytest.mark.parametrize(
    "words, problem",
    [
        ([], "name the script to run"),
        (["--"], "name the script to run"),
        (["nowhere.py"], "nowhere.py: there is no such script"),
        (
            ["--ignore", "stale-gradient", "train.py"],
            "'stale-gradient' (did you mean stale-gradients or ",
        ),
        (["--json", "no/o.json", "train.py"], "--json no/o.json: expected the name of a file"),
        (["--sarif", "no/o.sarif", "train.py"], "--sarif no/o.sarif: expected the name of a file"),
        (["--json", "bin", "train.py"], "--json bin: expected the name of a file"),
        (["--json", "-", "train.py"], "--json -: expected the name of a file; standard output is"),
        (["--json", "o", "--sarif", "./o", "train.py"], "--json and --sarif name one file, o"),
        (["--json", "train.py", "train.py"], "--json names the script, train.py"),
        (["--python", "nowhere", "train.py"], "nowhere: cannot be started"),
        (
            ["--python", "/bin/ls", "train.py"],
            "/bin/ls: not a usable Python; name an interpreter that has torch, --python\n",
        ),
        (["--nonsense", "train.py"], "unrecognized"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_runs(watch, fake, words, problem):
    status, out, err = watch(*words)
    assert (status, out) == (2, "")
    assert problem in err
    assert err.count("\n") == 1
    assert not (fake.path.parent / "called.json").exists()


def test_a_pipe_is_replaced_by_no_report(watch, fake, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    status, _, err = watch("--junit", "pipe", "train.py")
    assert status == 2
    assert "--junit pipe: expected the name of a file" in err
    assert not (fake.path.parent / "called.json").exists()


def test_the_interpreter(watch, fake, tmp_path, monkeypatch):
    """python3 of PATH if it has torch, else the one that runs trainbugs; or the named one."""
    running, none, old = (
        Fake(tmp_path / f"with {torch}", torch) for torch in ("2.0.0a0+git1", "", "1.13.1+cpu")
    )
    monkeypatch.setattr(sys, "executable", str(running.path))
    assert watch("train.py")[0] == 0
    assert fake.called()
    assert not (running.path.parent / "called.json").exists()
    monkeypatch.setenv("PATH", str(none.path.parent))
    assert watch("train.py")[0] == 0
    assert running.called()
    monkeypatch.setattr(sys, "executable", str(none.path))
    status, _, err = watch("train.py")
    assert (status, err.count("\n")) == (
        2,
        1,
    )
    assert f"torch is installed for none of {none.path};" in err
    assert watch("--python", none.path, "train.py")[2] == (
        f"trainbugs: {none.path}: torch is not installed for it; name another interpreter by "
        "--python\n"
    )
    monkeypatch.setenv("PATH", str(old.path.parent))
    status, _, err = watch("train.py")
    assert status == 2
    assert (
        err
        == f"trainbugs: {old.path}: its torch is 1.13.1+cpu; trainbugs watch needs 2.0 or newer\n"
    )
    assert watch("--python", fake.path, "train.py")[0] == 0


def test_an_interpreter_that_does_not_start_is_no_choice(watch, fake, tmp_path, monkeypatch):
    broken = tmp_path / "broken" / "python3"
    broken.parent.mkdir()
    broken.write_text("#!/nowhere\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(broken.parent))
    monkeypatch.setattr(sys, "executable", str(fake.path))
    assert watch("train.py")[0] == 0
    assert fake.called()


STREAMS = """
import os, sys
print(sys.stdin.read(), os.environ["MINE"], os.getcwd(), flush=True)
print("mine", file=sys.stderr)
"""
# Says when it is there, waits, and says which signals came. Two that follow at once are one call of
# a handler, but two bytes.
WAITS = """
import os, select, signal, sys, time
read, write = os.pipe()
os.set_blocking(write, False)
signal.set_wakeup_fd(write)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
    signal.signal(number, lambda *what: None)
print("there", flush=True)
select.select([read], [], [], 20)
time.sleep(0.3)
print(list(os.read(read, 100)), flush=True)
sys.exit(5)
"""


def begin(fake, tmp_path, script, **options):
    (tmp_path / "train.py").write_text(script)
    command = [sys.executable, "-m", "trainbugs", "watch", "--python", str(fake.path), "train.py"]
    variables = os.environ | {"PYTHONPATH": str(ROOT), "MINE": "set"}
    return subprocess.Popen(command, cwd=tmp_path, env=variables, **options)


def test_streams_folder_and_variables_are_the_users(fake, tmp_path):
    pipe = subprocess.PIPE
    with begin(fake, tmp_path, STREAMS, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as program:
        out, err = program.communicate("typed")
    assert (program.returncode, out, err) == (0, f"typed set {tmp_path}\n", f"mine\n{SILENT}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1])
def test_a_signal_reaches_the_script_once(fake, tmp_path, number):
    fake.leaves([{}])
    pipe = subprocess.PIPE
    with begin(fake, tmp_path, WAITS, stdout=pipe, stderr=pipe, text=True) as program:
        assert program.stdout.readline() == "there\n"
        program.send_signal(number)
        out, err = program.communicate()
    assert (program.returncode, out) == (
        5,
        f"[{int(number)}]\n",
    )
    assert "--ignore stale-gradients" in err


def test_ctrl_c_on_a_terminal_reaches_the_script_once(fake, tmp_path):
    """The terminal sends it to both programs."""
    fake.leaves([{}])
    leader, follower = os.openpty()
    output = tmp_path / "told"
    with output.open("w") as out:
        # In a session of its own, whose terminal that is.
        imports = "import fcntl, os, sys, termios"
        takes = "fcntl.ioctl(0, termios.TIOCSCTTY, 0)"
        setting = f"{imports}; {takes}; os.execv(sys.argv[1], sys.argv[1:])"
        (tmp_path / "train.py").write_text(WAITS)
        words = [sys.executable, "-m", "trainbugs", "watch", "--python", str(fake.path), "train.py"]
        program = subprocess.Popen(
            [sys.executable, "-c", setting, *words],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdin=follower,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert wait_until(lambda: "there" in output.read_text(), 20)
        os.write(leader, b"\x03")
        assert program.wait(20) == 5
    os.close(leader)
    os.close(follower)
    printed = output.read_text()
    assert f"[{int(signal.SIGINT)}]" in printed
    assert "--ignore stale-gradients" in printed


def test_an_interrupt_that_ends_the_script(fake, tmp_path):
    """As a shell has it: 130, and the table is there."""
    fake.leaves([{}])
    pipe = subprocess.PIPE
    script = "import time; print('there', flush=True); time.sleep(20)"
    with begin(fake, tmp_path, script, stdout=pipe, stderr=pipe, text=True) as program:
        assert program.stdout.readline() == "there\n"
        began = time.monotonic()
        program.send_signal(signal.SIGINT)
        _, err = program.communicate()
    assert program.returncode == 130
    assert time.monotonic() - began < 10
    assert "KeyboardInterrupt" in err
    assert "--ignore stale-gradients" in err
    assert "interrupted" not in err


@pytest.mark.parametrize("own_status", [0, 7])
def test_files_that_cannot_be_written_keep_neither_the_report_nor_the_others(
    watch, fake, tmp_path, own_status
):
    fake.leaves([{}])
    (tmp_path / "train.py").write_text(f"import sys; sys.exit({own_status})")
    nowhere = ["--baseline", "/proc/b.json", "--write-baseline", "--json", "/proc/o.json"]
    status, _, err = watch(*nowhere, "--junit", "o.xml", "train.py")
    assert status == (own_status or 2)
    # What is in no baseline is told, in the table and in the files.
    assert "silenced by the baseline" not in err
    assert "stale-gradients" in err
    assert "stale-gradients" in (tmp_path / "o.xml").read_text()
    assert "trainbugs watch: the report is in o.xml" in err
    assert "trainbugs watch: /proc/b.json: cannot be written: " in err
    assert "trainbugs watch: /proc/o.json: cannot be written: " in err
    assert (tmp_path / "o.xml").exists()


def test_one_environment_is_named_once(watch, tmp_path, monkeypatch):
    """Its python3 and its python3.11 lead to one file; so does the python3 of another one."""
    (tmp_path / "no_torch").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "no_torch").chmod(0o755)
    for name in ("one/python3", "one/python3.11", "other/python3"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(tmp_path / "no_torch")
    monkeypatch.setenv("PATH", f"{tmp_path / 'one'}:/usr/bin:/bin")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "one" / "python3.11"))
    assert f"for none of {tmp_path}/one/python3;" in watch("train.py")[2]
    monkeypatch.setattr(sys, "executable", str(tmp_path / "other" / "python3"))
    names = f"{tmp_path}/one/python3, {tmp_path}/other/python3;"
    assert f"for none of {names}" in watch("train.py")[2]
