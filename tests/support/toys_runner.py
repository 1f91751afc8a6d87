"""Runs many small programs under the launcher,
each in a copy of one process that has imported torch already.

python toys_runner.py KIT MONITOR FOLDER: each FOLDER/NAME/program.py is run in its folder, and
leaves out.json there.
"""

import os
import runpy
import sys
import traceback
from pathlib import Path


def run(kit, monitor, folder):
    """In a copy of the process: never returns."""
    status = 1
    os.chdir(folder)
    output = os.open("output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    try:
        launcher = Path(kit, "launcher")
        command = runpy.run_path(str(launcher / "__main__.py"))["load"]("command")
        sys.argv = [str(launcher), "out.json", "--monitor", monitor, "program.py"]
        command.main()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def main():
    kit, monitor, folder = sys.argv[1:]
    sys.path.insert(0, kit)
    import torch._dynamo
    import torch.distributed  # noqa: F401

    for program in sorted(Path(folder).glob("*/program.py")):
        child = os.fork()
        if child == 0:
            run(kit, monitor, program.parent)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
