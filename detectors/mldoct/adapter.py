"""What does the linter of mldoct, its command `check`, say of the program's text?

The function behind the command is called: the command itself imports torch, pandas and scikit-learn for other commands.
"""

from pathlib import Path

from detector_kit import ToolError, alarm, main
from mldoctor.linter import lint_script

SEVERITIES = {"INFO": "info", "WARNING": "warning", "CRITICAL": "error"}


def check(target, state):
    findings, visitor = lint_script(str(Path(target.directory, target.script)))
    if visitor is None:
        raise ToolError(f"mldoct could not read the program: {findings}")
    return {"alarms": [to_alarm(found, target.script) for found in findings]}


def to_alarm(found, file):
    return alarm(
        found["type"],
        found["message"],
        severity=SEVERITIES[found["severity"]],
        file=file if found["line"] else None,
        line=found["line"],
        api="torch.optim.Optimizer.zero_grad" if found["type"] == "missing_zero_grad" else None,
    )


if __name__ == "__main__":
    main(check)
