"""Progress output: status lines that are rewritten on a terminal, plain lines elsewhere."""

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TextIO

from runner.progress.streams import one_line, raw

EVERY_S = 0.2


@dataclass
class Progress:
    """Writes progress to a stream; `on_stderr` makes the usual one, so that standard output holds
    results only.

    If it is `quiet`, it writes notes only. What a script or a detector has said, which may be a
    part of them, moves no cursor: control characters are shown escaped.
    """

    stream: TextIO
    quiet: bool = False
    rows: int = 0
    shown: float = 0.0
    lock: threading.RLock = field(default_factory=threading.RLock)

    def line(self, text: str) -> None:
        """Write a line of progress, which stays."""
        if not self.quiet:
            self.note(text)

    def note(self, text: str) -> None:
        """Write a line that matters whoever reads it: what went wrong, what was left out."""
        with self.lock:
            self._write(self._wipe() + one_line(text) + "\n")

    def status(self, text: Callable[[], str]) -> None:
        """Show a text until the next one; `text` is called only when shown: on a terminal, every
        EVERY_S seconds.
        """
        if self.quiet or not self.stream.isatty() or time.monotonic() < self.shown + EVERY_S:
            return
        with self.lock:
            self.shown = time.monotonic()
            width = terminal_width(self.stream)
            lines = [one_line(line)[: width - 1] for line in text().split("\n")]
            wipe, self.rows = self._wipe(), len(lines)
            self._write(wipe + "\n".join(lines))

    def _write(self, text: str) -> None:
        try:
            raw(self.stream).write(text)
            self.stream.flush()
        except OSError:
            discard(self.stream)

    def _wipe(self) -> str:
        """The control sequence that erases the rows shown: it moves up to the first one, and clears
        all below.
        """
        up = f"\x1b[{self.rows - 1}A" if self.rows > 1 else ""
        wipe = f"\r{up}\x1b[J" if self.rows else ""
        self.rows = 0
        return wipe


def terminal_width(stream: TextIO) -> int:
    """The columns of the terminal behind a stream; COLUMNS takes precedence."""
    try:
        size = os.get_terminal_size(stream.fileno())
    except OSError:
        size = os.terminal_size((0, 0))
    # It asks standard output, which may be a file while the stream is a terminal.
    return shutil.get_terminal_size(size).columns or 80


def discard(stream: TextIO) -> None:
    """Discard all that is written from now on: the reader has gone, which is no reason to stop what
    is running.

    What is still in the stream's buffer is discarded too; otherwise Python would change the exit
    status at the end.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def on_stderr(quiet: bool = False) -> Progress:
    """Progress on standard error."""
    return Progress(sys.stderr, quiet)
