"""What does a Python interpreter bring: which versions, and which accelerator does its torch see?"""

import json
from dataclasses import dataclass
from pathlib import Path

from runner import process
from runner.errors import EnvironmentBuildError, ProcessError

# Where there is none of these, no CUDA (or ROCm) device can be seen, and torch need not be imported to find out.
DEVICE_NODES = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/dev/kfd")
PROBE = """
import importlib.metadata, json, platform
found = {"python": platform.python_version(), "torch": None, "devices": [], "driver": None}
try:
    import torch
    found["torch"] = torch.__version__
    if torch.cuda.is_available():
        found["devices"] = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
if found["devices"]:
    try:
        found["driver"] = open("/sys/module/nvidia/version").read().strip()
    except OSError:
        pass
found["packages"] = {d.metadata["Name"]: d.version for d in importlib.metadata.distributions()}
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Interpreter:
    """A Python and what it sees; `torch` is None where it is missing, `devices` are the names of cuda:0, cuda:1 …"""

    path: Path
    python: str
    torch: str | None
    devices: tuple[str, ...]
    driver: str | None
    packages: dict[str, str]


def probe(path: Path) -> Interpreter:
    """Ask the interpreter at `path`, importing torch; raises EnvironmentBuildError where it or the import fails."""
    try:
        answer = process.output([str(path), "-c", PROBE], env=process.clean_environment(1, {}))
        found = json.loads(answer.splitlines()[-1])
        return Interpreter(path=path, **{**found, "devices": tuple(found["devices"])})
    except (ProcessError, IndexError, ValueError, TypeError, KeyError) as error:
        raise EnvironmentBuildError(f"{path}: not a usable Python: {error}") from error


def machine_has_accelerator() -> bool:
    """Whether the kernel shows a device that torch could use as `cuda`."""
    return any(Path(node).exists() for node in DEVICE_NODES)
