"""What does the linter of mldoct, its command `check`, say of the program's text?

The function behind the command is called. Its file is loaded alone: the package imports pandas, rich and others for its
other commands.
"""

import importlib.util
from pathlib import Path

from detector_kit import ToolError, alarm, main

SEVERITIES = {"INFO": "info", "WARNING": "warning", "CRITICAL": "error"}


def check(target, state):
    findings, visitor = linter().lint_script(str(Path(target.directory, target.script)))
    if visitor is None:
        raise ToolError(f"mldoct could not read the program: {findings}")
    return {"alarms": [to_alarm(found, target.script) for found in findings]}


def linter():
    """The module of the linter, without its package."""
    package = importlib.util.find_spec("mldoctor")
    path = Path(package.submodule_search_locations[0], "linter.py")
    specification = importlib.util.spec_from_file_location("mldoct_linter", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


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
