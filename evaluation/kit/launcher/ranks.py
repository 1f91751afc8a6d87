"""The ranks that torchrun, or what is like it, has started on this machine: each is watched by itself, and the first
one tells for all of them.

The others leave their reports in a folder that all of them find by the variables that they were given.
"""

import hashlib
import json
import os
import tempfile
import time
from pathlib import Path

# The process that has started the ranks, where that is not the parent of this one.
AGENT = "TRAINBUGS_AGENT"
VARIABLES = ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT")
# Seconds that the first rank waits for the reports of the others: all of them end at about the same time.
PATIENCE_S = 10.0
EVERY_S = 0.05


class Team:
    """The ranks of this machine: `number` counts them from 0, and the first one is the teller of all."""

    def __init__(self, number, size, folder):
        self.number, self.size, self.folder = number, size, folder

    @property
    def is_first(self):
        return self.number == 0

    def leave(self, recorder):
        """Leave the report of this rank for the first one; raises OSError."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        if self.folder.stat().st_uid == os.getuid():
            recorder.write(self._path(self.number))

    def collect(self):
        """The reports of the others; of one that has left none within PATIENCE_S there is none."""
        others = [self._path(number) for number in range(1, self.size)]
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and not all(path.exists() for path in others):
            time.sleep(EVERY_S)
        reports = [json.loads(path.read_text()) for path in others if path.exists()]
        self._clear()
        return reports

    def _clear(self):
        for path in self.folder.glob("*.json*"):
            path.unlink()
        if self.folder.is_dir():
            self.folder.rmdir()

    def _path(self, number):
        return self.folder / f"{number}.json"


def find_team(environment=os.environ):
    """The ranks of this machine, as the environment tells; None where there are not several."""
    try:
        number, size = int(environment["LOCAL_RANK"]), int(environment["LOCAL_WORLD_SIZE"])
    except (KeyError, ValueError):
        return None
    if size < 2:
        return None
    agent = environment.get(AGENT) or str(os.getppid())
    words = [agent, *(environment.get(name, "") for name in VARIABLES)]
    key = hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]
    return Team(number, size, Path(tempfile.gettempdir()) / f"trainbugs-{os.getuid()}-{key}")
