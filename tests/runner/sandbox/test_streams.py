"""Streams of programs: what a program says is read from files that it cannot replace, and kept in a
plain file.
"""

import os
import sys
from pathlib import Path

import pytest
from support.processes import run

from runner.sandbox import process, streams
from runner.sandbox.streams import count_lines, end_of, keep, open_streams

# Puts something else in the place of its own streams, as far as it can find them.
REPLACE = """
import os, sys
for number, name in ((1, "stdout"), (2, "stderr")):
    for path in (name, os.readlink(f"/proc/self/fd/{number}").removesuffix(" (deleted)")):
        try:
            os.remove(path)
        except OSError:
            pass
        os.mkfifo(path)
print("said", flush=True)
sys.exit("ValueError: why")
"""


def test_a_program_cannot_replace_its_streams(tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    with open_streams(tmp_path) as both:
        assert [path.name for path in tmp_path.iterdir()] == ["work"], "the files have no name"
        done = run(work, REPLACE, stdout=both.stdout, stderr=both.stderr)
        assert done.returncode == 1
        assert end_of(both.stdout, 100) == b"said\n"
        assert count_lines(both.stdout) == 1
        assert process.error_in(both.stderr) == "ValueError: why"


def test_what_is_read_meanwhile_leaves_no_gap(tmp_path):
    counts = []
    with open_streams(tmp_path) as both:
        code = "import time\nfor number in range(5): print(number, flush=True); time.sleep(0.1)"
        run(
            tmp_path,
            code,
            **both._asdict(),
            on_wait=lambda elapsed: counts.append(count_lines(both.stdout)),
        )
        assert end_of(both.stdout, 4) == b"3\n4\n"
        assert end_of(both.stdout, 1000) == b"0\n1\n2\n3\n4\n"
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert len(set(counts)) > 2


@pytest.mark.parametrize("present", [None, "file", "link", "pipe"])
def test_what_was_said_takes_the_place_of_whatever_is_there(tmp_path, present):
    secret, log = tmp_path / "secret", tmp_path / "logs" / "run.stdout"
    secret.write_text("secret")
    if present:
        log.parent.mkdir()
        {"file": Path.touch, "link": lambda path: path.symlink_to(secret), "pipe": os.mkfifo}[
            present
        ](log)
    with open_streams(tmp_path) as both:
        both.stdout.write(b"said")
        keep(both.stdout, log, tmp_path)
    assert not log.is_symlink()
    assert log.read_text() == "said"
    assert secret.read_text() == "secret"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["logs", "secret"]


def test_a_stream_that_looks_long_is_not_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "MAX_BYTES", 3_000_000)
    with open_streams(tmp_path) as both:
        both.stdout.write(b"\n\n")
        os.ftruncate(both.stdout.fileno(), 20_000_000_000)
        assert count_lines(both.stdout) == 2
        assert end_of(both.stdout, 3) == bytes(3)
        keep(both.stdout, tmp_path / "kept", tmp_path)
    assert (tmp_path / "kept").stat().st_size == 3_000_000


def test_a_message_of_a_program_is_one_line_that_moves_no_cursor(tmp_path):
    with open_streams(tmp_path) as both:
        run(
            tmp_path, r"import sys; sys.exit('\x1b[2Jgone\u202e \x00 é \udcff')", stderr=both.stderr
        )
        message = process.error_in(both.stderr)
    assert message.isprintable()
    assert message.startswith(r"\x1b[2Jgone\u202e \x00 é ")
    with pytest.raises(process.ProcessError) as error:
        process.output([sys.executable, "-c", r"import sys; sys.exit('\x1b[2J')"], env={})
    assert str(error.value).endswith(r": \x1b[2J")
    assert (
        process.output([sys.executable, "-c", r"import os; os.write(1, b'\xff')"], env={})
        == "\ufffd"
    )
