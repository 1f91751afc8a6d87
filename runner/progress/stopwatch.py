"""Where the seconds of a command went, phase by phase."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


class Stopwatch:
    """Seconds by phase. Threads may add to it at the same time; then phases overlap."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._lock = threading.Lock()

    @property
    def seconds(self) -> Mapping[str, float]:
        """The seconds of each phase, in the order in which phases began."""
        return dict(self._seconds)

    def add(self, phase: str, seconds: float) -> None:
        """Add seconds to a phase."""
        with self._lock:
            self._seconds[phase] = self._seconds.get(phase, 0.0) + seconds

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """A context whose seconds by the clock are added to a phase."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - start)
