"""How does a user see that work goes on? One line that is rewritten on a terminal, plain lines elsewhere."""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

EVERY_S = 0.2


@dataclass
class Progress:
    """Writes to standard error by default, so that standard output holds results only."""

    stream: TextIO
    width: int = 0
    shown: float = 0.0

    def line(self, text: str) -> None:
        """A line that stays."""
        self._write(self._wipe() + text + "\n")

    def status(self, text: Callable[[], str]) -> None:
        """What goes on right now, until the next text; `text` is asked only when it is shown, on a terminal."""
        if not self.stream.isatty() or time.monotonic() < self.shown + EVERY_S:
            return
        self.shown = time.monotonic()
        words, wipe = text(), self._wipe()
        self.width = len(words)
        self._write(wipe + words)

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except OSError:
            discard(self.stream)

    def _wipe(self) -> str:
        wipe = "\r" + " " * self.width + "\r" if self.width else ""
        self.width = 0
        return wipe


def discard(stream: TextIO) -> None:
    """Send what is written from now on nowhere: its reader has gone, which is no reason to stop what is running.

    What is still in the stream's buffer goes there too; else Python would change the exit status at the end.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def on_stderr() -> Progress:
    return Progress(sys.stderr)
