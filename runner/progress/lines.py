"""How does a user see that work goes on? Lines that are rewritten on a terminal, plain lines elsewhere."""

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TextIO

EVERY_S = 0.2


@dataclass
class Progress:
    """Writes to standard error by default, so that standard output holds results only."""

    stream: TextIO
    rows: int = 0
    shown: float = 0.0
    lock: threading.RLock = field(default_factory=threading.RLock)

    def line(self, text: str) -> None:
        """A line that stays."""
        with self.lock:
            self._write(self._wipe() + text + "\n")

    def status(self, text: Callable[[], str]) -> None:
        """What goes on right now, until the next text; `text` is asked only when it is shown, on a terminal."""
        if not self.stream.isatty() or time.monotonic() < self.shown + EVERY_S:
            return
        with self.lock:
            self.shown = time.monotonic()
            width = shutil.get_terminal_size().columns
            lines = [line[: width - 1] for line in text().splitlines()]
            wipe, self.rows = self._wipe(), len(lines)
            self._write(wipe + "\n".join(lines))

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except OSError:
            discard(self.stream)

    def _wipe(self) -> str:
        """What takes away the rows that are shown: up to the first of them, and all below it."""
        up = f"\x1b[{self.rows - 1}A" if self.rows > 1 else ""
        wipe = f"\r{up}\x1b[J" if self.rows else ""
        self.rows = 0
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
