"""What does dslinter, a plugin of pylint, say of the program's text?"""

import json
import re
import sys
from pathlib import Path

from detector_kit import ToolError, alarm, error_line, main, run

SEVERITIES = {"convention": "info", "refactor": "info", "warning": "warning", "error": "error"}
PYLINT = [sys.executable, "-m", "pylint", "--load-plugins=dslinter"]


def rules(target):
    """The plugin's rules about PyTorch; some of the others crash on programs that have nothing to do with them.

    Where one of its dependencies is missing, pylint goes on without the plugin and finds nothing.
    """
    status, _, stderr = run([*PYLINT, "--list-msgs"], target.directory, target.timeout_s, log="rules")
    codes = re.findall(r"^:\S+-pytorch \((\w+)\)", Path("rules.out").read_text(), re.MULTILINE)
    if "W5517" not in codes:
        raise ToolError(f"dslinter was not loaded (pylint ended with {status}): {error_line(stderr)}")
    return codes


def check(target, state):
    options = ["--disable=all", f"--enable={','.join(rules(target))}", "-f", "json", target.script]
    status, _, stderr = run([*PYLINT, *options], target.directory, target.timeout_s, log="pylint")
    if status & 33:  # fatal messages, wrong usage; the other bits only tell which kinds of messages there are
        raise ToolError(f"pylint ended with {status}: {error_line(stderr)}")
    found = json.loads(Path("pylint.out").read_text() or "[]")
    return {"alarms": [to_alarm(message) for message in found], "artefacts": ["pylint.out"]}


def to_alarm(message):
    return alarm(
        message["message-id"],
        f"{message['symbol']}: {message['message']}",
        severity=SEVERITIES[message["type"]],
        file=message["path"],
        line=message["line"],
        api="torch.optim.Optimizer.zero_grad" if message["message-id"] == "W5517" else None,
    )


if __name__ == "__main__":
    main(check)
