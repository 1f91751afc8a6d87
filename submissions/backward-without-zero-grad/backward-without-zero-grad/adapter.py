"""Does a program that calls backward call zero_grad?"""

from pathlib import Path

from detector_kit import alarm, main


def check(target, state):
    lines = Path(target.directory, target.script).read_text().splitlines()
    calls = [number for number, line in enumerate(lines, 1) if ".backward()" in line]
    if not calls or any(".zero_grad(" in line for line in lines):
        return {"alarms": []}
    return {
        "alarms": [
            alarm("no-zero-grad", "backward without zero_grad", file=target.script, line=calls[0])
        ]
    }


main(check)
