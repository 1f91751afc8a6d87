"""How does a user see that work goes on? One line that is rewritten on a terminal, plain lines elsewhere."""

import sys
from dataclasses import dataclass
from typing import TextIO


@dataclass
class Progress:
    """Writes to standard error, so that standard output holds results only."""

    stream: TextIO
    width: int = 0

    def line(self, text: str) -> None:
        """A line that stays. A text that begins with a carriage return is a status instead."""
        if text.startswith("\r"):
            self.status(text[1:])
            return
        self.stream.write(self._wipe() + text + "\n")
        self.stream.flush()

    def status(self, text: str) -> None:
        """What goes on right now; shown on a terminal only, where the next text replaces it."""
        if not self.stream.isatty():
            return
        wipe = self._wipe()
        self.width = len(text)
        self.stream.write(wipe + text)
        self.stream.flush()

    def _wipe(self) -> str:
        wipe = "\r" + " " * self.width + "\r" if self.width else ""
        self.width = 0
        return wipe


def on_stderr() -> Progress:
    return Progress(sys.stderr)
