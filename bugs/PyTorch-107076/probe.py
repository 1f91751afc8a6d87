"""How many graphs the compiler has been handed so far, and why it has compiled again: the guards that failed."""

import logging
import re

import torch
from torch._dynamo.utils import counters


class FailedGuards(logging.Handler):
    """Collects the guards that Dynamo names when it has to compile again."""

    def __init__(self):
        super().__init__()
        self.found = []

    def emit(self, record):
        self.found += re.findall(r"(?:- |: )(?:L\['self'\]|self)\.(\S+) == \S+", record.getMessage())


failed = FailedGuards()


def start():
    torch._logging.set_logs(recompiles=True)
    logging.getLogger("torch._dynamo").addHandler(failed)


def look(names):
    found, failed.found = failed.found, []
    return {
        "compilations": counters["stats"]["unique_graphs"],
        "failed_guard": found[0] if found else "",
        "failed_guards": len(found),
    }
