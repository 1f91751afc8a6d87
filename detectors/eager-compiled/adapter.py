"""The monitor's answer. A program that offered the tool nothing is one that it cannot look at.

The files of this name in several detectors are the same.
"""

from pathlib import Path

from detector_kit import UnsupportedError, launch, main

NOTHING = "nothing-handed-over"


def check(target, state):
    verdict = launch(target, Path(__file__).with_name("monitor.py"))
    for alarm in verdict["alarms"]:
        if alarm["code"] == NOTHING:
            raise UnsupportedError(alarm["message"])
    return verdict


if __name__ == "__main__":
    main(check)
