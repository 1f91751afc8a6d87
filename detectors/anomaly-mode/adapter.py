"""Does the program end with an error of autograd's anomaly mode?"""

from pathlib import Path

from detector_kit import ToolError, alarm, launch, main

SIGN = "returned nan values in its"


def check(target, state):
    try:
        return launch(target, Path(__file__).with_name("monitor.py"))
    except ToolError as error:
        if SIGN not in str(error):
            raise
        return {"alarms": [alarm("nan-gradient", str(error), severity="error")]}


if __name__ == "__main__":
    main(check)
