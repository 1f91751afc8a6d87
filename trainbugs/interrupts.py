"""Interrupts: signals that ask the program to end, each turned into one KeyboardInterrupt."""

import math
import signal
import time
from types import FrameType

# About as long as ending what runs may take; the same request again, meanwhile, must not break that
# off.
QUIET_S = 10.0
STATUS = 130  # the exit status of a program that was interrupted
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Interrupt:
    """A handler that raises KeyboardInterrupt, and then ignores signals for QUIET_S seconds."""

    def __init__(self) -> None:
        self.until = -math.inf

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now < self.until:
            return
        self.until = now + QUIET_S
        raise KeyboardInterrupt


def install() -> None:
    """Handle SIGNALS from now on, other than those that are ignored, as nohup sets it."""
    interrupt = _Interrupt()
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)


def ignore() -> None:
    """Ignore SIGNALS from now on: the program is about to end,
    and one that came now would change its exit status.
    """
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
