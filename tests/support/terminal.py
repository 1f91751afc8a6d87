"""The program on a terminal of some width."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def on_terminal(*arguments, width=80, stdout=None, **variables):
    """Call the program with its streams on a terminal (`stdout` elsewhere, if given);
    returns status and output.
    """
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    plain = dict(os.environ)
    plain.pop("COLUMNS", None)
    plain.pop("NO_COLOR", None)
    with subprocess.Popen(
        [sys.executable, "-m", "runner", *map(str, arguments)],
        stdout=stdout or follower,
        stderr=follower,
        env=plain | {"TERM": "xterm"} | variables,
    ) as program:
        os.close(follower)
        output = b""
        while part := _read(leader):
            output += part
    os.close(leader)
    return program.returncode, output.decode().replace("\r\n", "\n")


def _read(leader):
    try:
        return os.read(leader, 65536)
    except OSError:  # the last program that wrote to it has ended
        return b""
