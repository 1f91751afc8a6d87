"""Take the guard that a gradient is still None out of the torch that is imported here, then run a script.

    python3 fault.py complex_buggy.py config.json

The change lives in this process's memory alone. It undoes pull request 121291: Dynamo assumes again, without checking,
that a gradient which was None when the step was compiled stays None. A torch whose code does not hold that guard in
the known form is left alone: one line says so, and the exit status is 3.
"""

import inspect
import re
import runpy
import sys

import torch
from torch._dynamo.variables import optimizer

REFUSED = 3
GUARD = r"if p\.grad is not None:.*?else:\s+install_guard\(\s*grad_source\.make_guard\(GuardBuilder\.CONSTANT_MATCH\)"


def main():
    source = inspect.getsource(optimizer.OptimizerVariable.map_sources_and_install_guards)
    if len(re.findall(GUARD, source, re.DOTALL)) != 1:
        print(
            f"torch {torch.__version__} does not guard a None gradient in the known form (2.3.0 and newer do); "
            "nothing is taken out",
            file=sys.stderr,
        )
        sys.exit(REFUSED)

    install_guard = optimizer.install_guard

    def install_all_but_gradients(*guards, **options):
        install_guard(*[guard for guard in guards if not name(guard).endswith(".grad")], **options)

    optimizer.install_guard = install_all_but_gradients
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")


def name(guard):
    """What the guard is about; a method up to some release, an attribute from then on."""
    found = guard.originating_source.name
    return found() if callable(found) else found


if __name__ == "__main__":
    main()
