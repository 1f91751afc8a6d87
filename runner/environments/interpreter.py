"""A Python interpreter: its version, its packages, and the accelerators that its torch sees."""

import json
import site
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from runner.errors import EnvironmentBuildError, ProcessError, UnusableError
from runner.files.locks import working_folder
from runner.sandbox import env, process
from runner.sandbox.access import open_access, our_folders, reading_access
from runner.sandbox.isolation import isolation
from runner.sandbox.limits import Limits
from runner.sandbox.streams import blocks, open_streams

TIMEOUT_S = 120

# Without any of these there is no CUDA (or ROCm) device, and torch need not be imported to find
# out.
DEVICE_NODES = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/dev/kfd")
# The names of .dist-info and .egg-info folders say what is installed; reading their contents takes
# ten times as long.
PROBE = """
import json, os, platform, sys, urllib.parse
facts = {"python": platform.python_version(), "torch": None, "devices": [], "driver": None}
facts["packages"] = {}
facts["paths"] = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.executable]
facts["paths"] += filter(None, sys.path)
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
def names(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []
for folder in sys.path:
    for name in names(folder):
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
    """A Python interpreter; `torch` is None where it is missing, `devices` are the names of cuda:0,
    cuda:1 …

    `paths` are the files and folders that it reads, those of packages installed in place (editable)
    among them.
    """

    path: Path
    python: str
    torch: str | None
    devices: tuple[str, ...]
    driver: str | None
    packages: dict[str, str]
    paths: tuple[str, ...] = ()


def probe(path: Path, readable: Sequence[Path] | None = None) -> Interpreter:
    """Run the interpreter at `path` in the sandbox, importing torch.

    `readable` are the folders that it reads. None stands for an interpreter that the user has
    named: it reads everything, since what it needs is not known yet, but writes nothing. Raises
    UnusableError where it or the import fails, EnvironmentBuildError where it would not find
    trainbugs itself.
    """
    if isolation() == "landlock" and _holds_trainbugs(path):
        raise EnvironmentBuildError(
            f"{path}: trainbugs is installed among this Python's own modules, and without user "
            "namespaces a program that may not read the one cannot find the others: install "
            "trainbugs into a virtual environment"
        )
    try:
        scope = "devices" if machine_has_accelerator() else "none"
        answer = _answer([str(path), "-c", PROBE, scope], readable)
        facts = json.loads(answer.splitlines()[-1])
        devices, paths = tuple(facts["devices"]), tuple(facts["paths"])
        return Interpreter(path=path, **{**facts, "devices": devices, "paths": paths})
    except (ProcessError, IndexError, ValueError, TypeError, KeyError) as error:
        raise UnusableError(f"{path}: not a usable Python: {error}") from error


def _holds_trainbugs(path: Path) -> bool:
    """Whether a folder of trainbugs lies below the library folder of an interpreter, or of the one
    that its virtual environment was made with.
    """
    library = path.resolve().parent.with_name("lib")
    return any(folder.is_relative_to(library) for folder in our_folders())


def version(path: Path, readable: Sequence[Path]) -> str:
    """The full version of the interpreter at `path`, as in 3.11.7, which may read these folders.

    It is run in the sandbox. Raises ProcessError where it cannot be started.
    """
    return _answer([str(path), "-V"], readable).strip().removeprefix("Python ")


def _answer(argv: Sequence[str], readable: Sequence[Path] | None) -> str:
    """What an interpreter prints; it may belong to a stranger, so it writes nothing."""
    with working_folder() as scratch:
        room = scratch / "room"
        room.mkdir()
        with open_streams(scratch) as (out, err):
            done = process.run(
                argv,
                cwd=room,
                env=_environment(readable),
                stdout=out,
                stderr=err,
                timeout_s=TIMEOUT_S,
                limits=replace(_limits(room, argv[0], readable), scratch=scratch, room=room),
            )
            if done.timed_out:
                raise ProcessError(f"{argv[0]}: no answer within {TIMEOUT_S} s")
            if done.returncode:
                reason = process.error_in(err) or f"exit status {done.returncode}"
                raise ProcessError(f"{argv[0]}: {reason}")
            return b"".join(blocks(out)).decode("utf-8", errors="replace")


def _environment(readable: Sequence[Path] | None) -> dict[str, str]:
    """The user's own interpreter has the packages of `pip install --user`, too."""
    user = {} if readable is not None else {"PYTHONUSERBASE": site.getuserbase()}
    return env.clean_environment(1, user)


def _limits(folder: Path, python: str, readable: Sequence[Path] | None) -> Limits:
    if readable is None:
        return Limits(access=reading_access([folder], isolation()))
    needed = [folder, Path(python), *readable]
    return Limits(access=open_access([folder], needed, isolation()))


def machine_has_accelerator() -> bool:
    """Whether the kernel shows a device that torch could use as `cuda`."""
    return any(Path(node).exists() for node in DEVICE_NODES)
