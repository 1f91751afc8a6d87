"""`run --profile`: where the seconds of a command went."""

import pytest
from support.toy import OWN_PYTHON, SCRIPT

from runner.errors import UsageError
from runner.execution.import_times import import_seconds
from runner.progress.stopwatch import Stopwatch
from runner.session.options import Options
from trainbugs.cli.main import main

LOG = b"""\
import time: self [us] | cumulative | imported package
import time:       100 |        100 |   inner
import time:      2000 |       2100 | outer
a line of the program
import time:   1000000 |    1000000 | late
import time:        50 |         50 |     deep
"""


def test_only_whole_imports_are_summed(tmp_path):
    log = tmp_path / "stderr"
    assert import_seconds(log) == 0
    log.write_bytes(LOG)
    assert import_seconds(log) == pytest.approx(1.0021)
    log.write_bytes(b"Traceback\n")
    assert import_seconds(log) == 0


def test_phases_are_summed_in_the_order_in_which_they_began():
    stopwatch = Stopwatch()
    stopwatch.add("second", 1.0)
    stopwatch.add("first", 2.0)
    stopwatch.add("second", 0.5)
    assert list(stopwatch.seconds.items()) == [("second", 1.5), ("first", 2.0)]
    with pytest.raises(ValueError, match="stop"), stopwatch.phase("third"):
        raise ValueError("stop")
    assert stopwatch.seconds["third"] >= 0


def run(toy, *words):
    where = [*OWN_PYTHON, "--results", str(toy.results)]
    return main(["run", str(toy.directory), *where, *words])


def test_the_command_runs_all_again_and_tells_the_phases(toy, capsys):
    assert run(toy) == 0
    capsys.readouterr()
    assert run(toy, "--profile", "--seeds", "0") == 0
    output = capsys.readouterr()
    assert "done before" not in output.err
    lines = output.out.partition("SECONDS  WHERE\n")[2].splitlines()
    phases = {}
    for line in lines[:6]:
        seconds, name = line.split(None, 1)
        phases[name] = float(seconds)
    assert list(phases) == [
        "environments",
        "imports of programs",
        "rest of programs",
        "around programs",
        "judging",
        "all of it, by the clock",
    ]
    assert phases["imports of programs"] > 0
    *parts, whole = phases.values()
    assert sum(parts) <= whole + 0.05


def test_a_slow_import_is_seen_as_one(toy, capsys):
    """The same two programs, where the module takes its time."""
    toy.write("slow.py", "import time\ntime.sleep(0.3)\n")
    for name, value in (("buggy", "1"), ("fixed", "2")):
        toy.write(f"{name}.py", "import slow\n" + SCRIPT.replace("VALUE", value))
    assert run(toy, "--profile", "--seeds", "0") == 0
    (line,) = (row for row in capsys.readouterr().out.splitlines() if "imports of" in row)
    assert float(line.split()[0]) >= 0.6


def test_what_has_no_profile_is_refused(toy, capsys):
    assert run(toy, "--profile", "--record-only") == 2
    assert "leave out --record-only" in capsys.readouterr().err
    with pytest.raises(UsageError, match="leave out --executor"):
        Options(profile=True, executor="slurm")
