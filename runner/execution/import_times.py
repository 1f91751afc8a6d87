"""How long a program imported modules, as Python says if it is asked to."""

import re
from pathlib import Path

# Python then writes a line to standard error for each module that it has imported.
VARIABLES = {"PYTHONPROFILEIMPORTTIME": "1"}
# Microseconds of the module alone, and with all that it imported. A module that another one
# imported is indented.
LINE = re.compile(rb"^import time: +\d+ \| +(\d+) \| (?! )", re.MULTILINE)


def import_seconds(log: Path) -> float:
    """The seconds in which the processes of a program imported modules, from what it wrote to
    standard error; 0 where it wrote nothing.
    """
    if not log.is_file():
        return 0.0
    return sum(map(int, LINE.findall(log.read_bytes()))) / 1e6
