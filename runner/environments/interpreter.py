"""A Python interpreter: its version, its packages, and the accelerators that its torch sees."""

import json
from dataclasses import dataclass
from pathlib import Path

from runner.errors import EnvironmentBuildError, ProcessError
from runner.sandbox import env, process

# Without any of these there is no CUDA (or ROCm) device, and torch need not be imported to find out.
DEVICE_NODES = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/dev/kfd")
# The names of .dist-info and .egg-info folders say what is installed; reading their contents takes ten times as long.
PROBE = """
import json, os, platform, sys, urllib.parse
facts = {"python": platform.python_version(), "torch": None, "devices": [], "driver": None, "packages": {}}
facts["paths"] = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.executable, *filter(None, sys.path)]
try:
    import torch
    facts["torch"] = torch.__version__
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
if facts["torch"] and sys.argv[1] == "devices" and torch.cuda.is_available():
    facts["devices"] = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    try:
        facts["driver"] = open("/sys/module/nvidia/version").read().strip()
    except OSError:
        pass
for folder in filter(os.path.isdir, sys.path):
    for name in os.listdir(folder):
        stem, dot, kind = name.rpartition(".")
        if kind in ("dist-info", "egg-info") and "-" in stem:
            facts["packages"].setdefault(*stem.split("-py3")[0].split("-", 1))
            origin = os.path.join(folder, name, "direct_url.json")
            if os.path.exists(origin):
                url = urllib.parse.urlsplit(json.load(open(origin))["url"])
                facts["paths"] += [urllib.parse.unquote(url.path)] if url.scheme == "file" else []
print(json.dumps(facts))
"""


@dataclass(frozen=True)
class Interpreter:
    """A Python interpreter; `torch` is None where it is missing, `devices` are the names of cuda:0, cuda:1 …

    `paths` are the files and folders that it reads, those of packages installed in place (editable) among them.
    """

    path: Path
    python: str
    torch: str | None
    devices: tuple[str, ...]
    driver: str | None
    packages: dict[str, str]
    paths: tuple[str, ...] = ()


def probe(path: Path) -> Interpreter:
    """Run the interpreter at `path`, importing torch; raises EnvironmentBuildError where it or the import fails."""
    try:
        what = "devices" if machine_has_accelerator() else "none"
        answer = process.output([str(path), "-c", PROBE, what], env=env.clean_environment(1, {}))
        facts = json.loads(answer.splitlines()[-1])
        return Interpreter(path=path, **{**facts, "devices": tuple(facts["devices"]), "paths": tuple(facts["paths"])})
    except (ProcessError, IndexError, ValueError, TypeError, KeyError) as error:
        raise EnvironmentBuildError(f"{path}: not a usable Python: {error}") from error


def version(path: Path) -> str:
    """The full version of the interpreter at `path`, as in 3.11.7; raises ProcessError where it cannot be started."""
    return process.output([str(path), "-V"], env=env.clean_environment(1, {})).strip().removeprefix("Python ")


def machine_has_accelerator() -> bool:
    """Whether the kernel shows a device that torch could use as `cuda`."""
    return any(Path(node).exists() for node in DEVICE_NODES)
