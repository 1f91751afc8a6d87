"""Scripts that put something else in the place of their streams: nothing waits for it, nothing is
read from it.
"""

import os
import pty
import re
import subprocess
import sys

import pytest
from support.toy import SCRIPT

# As far as they have a name and can be found.
REPLACE = """
import os, sys, time
for number, name in ((1, "stdout"), (2, "stderr")):
    for path in (name, os.readlink(f"/proc/self/fd/{number}").removesuffix(" (deleted)")):
        try:
            os.remove(path)
        except OSError:
            pass
        try:
            MAKE
        except OSError:
            pass
"""


def test_a_pipe_in_the_place_of_standard_output_stops_nobody_on_a_terminal(toy):
    toy.write(
        "buggy.py",
        REPLACE.replace("MAKE", "os.mkfifo(path)") + "print(1, flush=True); time.sleep(60)",
    )
    leader, follower = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "runner",
        "run",
        toy.directory,
        "--seeds",
        "0",
        "--timeout",
        "2",
    ]
    command += ["--results", toy.results, "--python", sys.executable]
    with subprocess.Popen(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=follower, text=True
    ) as program:
        out = program.communicate(timeout=60)[0]
    os.close(follower)
    screen = os.read(leader, 100_000).decode()
    os.close(leader)
    assert program.returncode == 2
    assert "INVALID" in out
    assert "killed after 2 s" in out
    assert re.search(r"buggy seed 0  \d s  1 records", screen)
    assert next(toy.results.rglob("buggy-*.stdout")).read_text() == "1\n"


@pytest.mark.parametrize("keeps_logs", [True, False])
def test_a_link_in_the_place_of_standard_error_is_neither_kept_nor_read(
    toy, tmp_path, keeps_logs, request
):
    if not keeps_logs:
        request.getfixturevalue("unkept")
    secret = tmp_path / "secret"
    secret.write_text("password\n")
    make = f"os.symlink({str(secret)!r}, path)"
    toy.write(
        "buggy.py", REPLACE.replace("MAKE", make) + "print('why', file=sys.stderr); sys.exit(3)"
    )
    toy.write("fixed.py", REPLACE.replace("MAKE", make) + SCRIPT.replace("VALUE", "2"))
    buggy, fixed = toy.run(seeds=(0,)).records
    assert (buggy.status, buggy.reason, fixed.status) == ("crashed", "exit status 3: why", "ok")
    logs = sorted(toy.results.rglob("*.std*"))
    assert len(logs) == 4
    assert not any(path.is_symlink() for path in logs)
    assert not any("password" in path.read_text() for path in logs)
    assert secret.read_text() == "password\n"


def test_streams_lie_outside_the_working_directory(toy):
    toy.write(
        "buggy.py",
        "import os\nprint(sorted(os.listdir('.')), flush=True)\n" + SCRIPT.replace("VALUE", "1"),
    )
    assert toy.run(seeds=(0,)).verdict.outcome == "REPRODUCED"
    assert (
        next(toy.results.rglob("buggy-*.stdout")).read_text().splitlines()[0]
        == "['buggy.py', 'config.json']"
    )


def test_what_a_script_says_moves_no_cursor(toy, cli):
    toy.write("buggy.py", r"import sys; sys.exit('\x1b[2J\u202espoilt')")
    status, out, err = cli("run", "Toy-1", "--seeds", "0", "--python", sys.executable)
    assert status == 2
    assert all(r"exit status 1: \x1b[2J\u202espoilt" in text for text in (out, err))
    assert "\x1b" not in out + err
    assert "\u202e" not in out + err
