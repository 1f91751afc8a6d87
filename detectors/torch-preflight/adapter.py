"""What does torch-preflight say of the program's text? Its command `check`, over all files of the program."""

import json
import os
import sys
from pathlib import Path

from detector_kit import ToolError, alarm, error_line, main, run

SEVERITIES = {"error": "error", "warning": "warning", "note": "info"}


def check(target, state):
    command = [Path(sys.executable).with_name("torch-preflight"), "check", ".", "--format", "json", "--jobs", "1"]
    status, _, stderr = run(command, target.directory, target.timeout_s, log="torch-preflight")
    if status not in (0, 1):
        raise ToolError(f"torch-preflight ended with {status}: {error_line(stderr)}")
    report = json.loads(Path("torch-preflight.out").read_text())
    if report["failures"]:
        raise ToolError(f"torch-preflight could not read {report['failures'][0]}")
    return {"alarms": [to_alarm(found) for found in report["diagnostics"]], "artefacts": ["torch-preflight.out"]}


def to_alarm(found):
    return alarm(
        found["code"],
        found["message"],
        severity=SEVERITIES[found["severity"]],
        file=os.path.normpath(found["path"]),
        line=found["line"],
        api="torch.optim.Optimizer.zero_grad" if found["code"] == "TG003" else None,
    )


if __name__ == "__main__":
    main(check)
