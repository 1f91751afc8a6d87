"""A place where programs under test and the test meet: they can write to shared memory,
and hardly anywhere else.
"""

import threading
from collections.abc import Callable
from pathlib import Path

from support.processes import wait_until

PAUSE = """\
__import__("pathlib").Path({begun!r}).write_text("")
while not __import__("pathlib").Path({done!r}).exists():
    __import__("time").sleep(0.01)
"""


def meanwhile(place: Path, act: Callable[[], object]) -> str:
    """Code for a script that waits in its middle until the test, in a thread of its own,
    has done `act`.
    """
    begun, done = place / "begun", place / "done"

    def wait_and_act() -> None:
        if wait_until(begun.exists, 20):
            act()
        done.write_text("")

    threading.Thread(target=wait_and_act, daemon=True).start()
    return PAUSE.format(begun=str(begun), done=str(done))
