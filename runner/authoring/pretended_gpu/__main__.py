"""A program that runs a bug's script as if the machine had a GPU, and says where it mixes devices.

It is called as `python -m pretended_gpu SCRIPT CONFIG SECONDS`, by the interpreter of the bug. All
is computed on the CPU. Each tensor's memory has a label, CPU or GPU: what the script moves to
`cuda` or makes there has the label GPU, and so has what is computed of it. An operation on tensors
of both kinds raises the error that CUDA raises, and so does `numpy()` of a tensor with the label
GPU. Compilation is left out.

It writes `device.json`: `status` is `passed`, `device error`, `not checkable` or `crashed`, with a
`reason`, the number of optimizer steps, and whether the script came to its end within the SECONDS.
It imports nothing of the project.
"""

import json
import re
import runpy
import signal
import sys
import traceback
from pathlib import Path

from pretended_gpu.functions import NO_ARRAY, Functions
from pretended_gpu.operations import MIXED, Operations
from pretended_gpu.surroundings import Compilation, pretend
from torch.optim.optimizer import register_optimizer_step_post_hook

# What is wrong here, and not in the script: there is no driver, or the CPU lacks what a GPU has.
NOT_HERE = re.compile(
    r"NVIDIA driver|Torch not compiled with CUDA|CUDA error|no CUDA|cuda runtime"
    r"|from the 'CPU' backend|not implemented for 'Half'|_C\._cuda|has no attribute '_cuda"
    r"|CUDAGuardImpl|cudaGetDevice"
)


class TimeUpError(BaseException):
    """The script has run for long enough."""


class Steps:
    """How many steps optimizers have made."""

    def __init__(self):
        self.number = 0

    def count(self, *_):
        self.number += 1


def time_up(*_):
    raise TimeUpError


def judge(script):
    """The status of a script, and the reason."""
    try:
        operations = Operations()
        with operations, Functions(operations):
            runpy.run_path(script, run_name="__main__")
    except TimeUpError:
        return "passed", "stopped by the clock"
    except SystemExit as end:
        return ("passed", "") if not end.code else ("crashed", f"exit status {end.code}")
    except BaseException as error:
        traceback.print_exc()
        text = f"{type(error).__name__}: {error}".split("\n")[0][:300]
        is_device = MIXED in str(error) or NO_ARRAY in str(error)
        if is_device:
            return "device error", text
        if Compilation.is_left_out:
            return "not checkable", f"it is run uncompiled, and then ends with {text}"[:300]
        return ("not checkable" if NOT_HERE.search(str(error)) else "crashed"), text
    return "passed", ""


def main():
    script, config, seconds = sys.argv[1:4]
    sys.argv = [script, config]
    sys.path.insert(0, str(Path(script).resolve().parent))
    steps = Steps()
    register_optimizer_step_post_hook(steps.count)
    pretend()
    signal.signal(signal.SIGALRM, time_up)
    signal.alarm(int(seconds))
    status, reason = judge(script)
    signal.alarm(0)
    is_whole = not reason
    if status == "passed" and not steps.number:
        status, reason = "not checkable", "no step of an optimizer of torch was seen"
    answer_file = {"status": status, "reason": reason, "steps": steps.number, "whole": is_whole}
    Path("device.json").write_text(json.dumps(answer_file))


if __name__ == "__main__":
    main()
