"""The monitor's answer. A program that offered the tool nothing is one that it cannot look at.

The files of this name in several detectors are the same.
"""

from pathlib import Path

from detector_kit import UnsupportedError, launch, main

NOTHING = "nothing-handed-over"


def check(target, state):
    verdict = launch(target, Path(__file__).with_name("monitor.py"))
    alarms = verdict["alarms"]
    reasons = [alarm["message"] for alarm in alarms if alarm["code"] == NOTHING]
    if reasons and all(alarm["severity"] == "info" for alarm in alarms):
        raise UnsupportedError(reasons[0])
    return verdict


if __name__ == "__main__":
    main(check)
