"""What does losslint say of the metrics that a program records, and of its loss of each step?

Both are written as lines of JSON, which it reads; its command `check` is run on each file.
"""

import json
import sys
from pathlib import Path

from detector_kit import ToolError, UnsupportedError, alarm, error_line, main, run

# The prefix of the codes, and the key that counts the iterations of the program, if there is one.
LOGS = {"metrics": None, "losses": "iteration"}


def check(target, state):
    alarms, logs = [], []
    for name, counter in LOGS.items():
        path = getattr(target, name)
        records = json.loads(Path(path).read_text()) if path else []
        if records:
            logs.append(f"{name}.jsonl")
            Path(logs[-1]).write_text("".join(json.dumps(record) + "\n" for record in records))
            alarms += [to_alarm(found, name, counter) for found in lint(logs[-1], target)]
    if not logs:
        raise UnsupportedError("the program recorded nothing")
    return {"alarms": alarms, "artefacts": logs}


def lint(log, target):
    """The findings of its command on a log."""
    command = [Path(sys.executable).with_name("losslint"), "check", log, "--format", "json"]
    status, _, stderr = run(command, ".", target.timeout_s, log=f"losslint-{log}")
    if status not in (0, 1):
        raise ToolError(f"losslint ended with {status}: {error_line(stderr)}")
    return json.loads(Path(f"losslint-{log}.out").read_text())["findings"]


def to_alarm(found, name, counter):
    steps = found["details"].get("steps") or [None]
    iteration = steps[0] if counter else None
    return alarm(f"{name} {found['check']}", found["message"], severity=found["severity"], iteration=iteration)


if __name__ == "__main__":
    main(check)
