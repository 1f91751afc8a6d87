"""The small wheel: what watches a training, for a user's own environment.

It holds the launcher, the sanitizer and what runs in the user's process; it needs nothing but the
torch that is there. The package in it is called trainbugs_watch.
"""

import base64
import hashlib
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from runner.files.atomic import replacing

NAME = "trainbugs_watch"
WATCHING = Path(__file__).parent
LAUNCHER = WATCHING.parent / "kit" / "launcher"
# Of this folder; the others serve the command line of trainbugs.
MODULES = ("report.py", "silencing.py", "wording.py", "cures.py")
# The first time that a zip file can tell: the same source gives the same bytes.
EPOCH = (1980, 1, 1, 0, 0, 0)
INIT = '''"""Watch a training in PyTorch for silent bugs: `with trainbugs_watch.watching(): ...`"""

from trainbugs_watch.in_process.watching import BrokenInvariantError, Watching, watch, watching

__all__ = ["BrokenInvariantError", "Watching", "watch", "watching"]
__version__ = "{version}"
'''
CALLBACK = '''"""The callback for {library}."""

from trainbugs_watch.in_process.{module} import WatchCallback

__all__ = ["WatchCallback"]
'''
MAIN = '''"""`python -m trainbugs_watch SCRIPT.py [ARGUMENT ...]`"""

from trainbugs_watch.in_process.command import main

if __name__ == "__main__":
    main()
'''
METADATA = """Metadata-Version: 2.1
Name: trainbugs-watch
Version: {version}
Summary: Watches a training in PyTorch for silent bugs
License: MIT
Requires-Python: >=3.10

`with trainbugs_watch.watching():` around a training says which invariants it breaks. torch is not
installed with it: it watches the torch that is there, 2.0 or newer.
"""
WHEEL = """Wheel-Version: 1.0
Generator: trainbugs
Root-Is-Purelib: true
Tag: py3-none-any
"""
ENTRY_POINTS = f"""[pytest11]
trainbugs = {NAME}.in_process.pytest_plugin
"""


def build(folder: Path, sanitizer: Path) -> Path:
    """Write the wheel into a folder, which is made where it is missing; returns its path.

    Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    release = version("trainbugs")
    information = f"{NAME}-{release}.dist-info"
    path = folder / f"{NAME}-{release}-py3-none-any.whl"
    files = dict(_package(release, sanitizer))
    files[f"{information}/METADATA"] = METADATA.format(version=release)
    files[f"{information}/WHEEL"] = WHEEL
    files[f"{information}/entry_points.txt"] = ENTRY_POINTS
    record = [_record_line(name, text) for name, text in files.items()]
    files[f"{information}/RECORD"] = "".join([*record, f"{information}/RECORD,,\n"])
    with (
        replacing(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), text, zipfile.ZIP_DEFLATED)
    return path


def _package(release: str, sanitizer: Path) -> Iterator[tuple[str, str]]:
    """The files of the package, with their text."""
    yield f"{NAME}/__init__.py", INIT.format(version=release)
    yield f"{NAME}/__main__.py", MAIN
    yield f"{NAME}/lightning.py", CALLBACK.format(library="Lightning", module="lightning_callback")
    yield (
        f"{NAME}/transformers.py",
        CALLBACK.format(library="the Trainer of transformers", module="trainer_callback"),
    )
    for name in MODULES:
        yield f"{NAME}/{name}", _renamed(WATCHING / name)
    for path in sorted((WATCHING / "in_process").glob("*.py")):
        yield f"{NAME}/in_process/{path.name}", _renamed(path)
    for path in sorted(LAUNCHER.glob("*.py")):
        yield f"{NAME}/launcher/{path.name}", path.read_text(encoding="utf-8")
    for path in sorted(sanitizer.rglob("*.py")):
        place = path.relative_to(sanitizer).as_posix()
        yield f"{NAME}/sanitizer/{place}", path.read_text(encoding="utf-8")


def _renamed(path: Path) -> str:
    """The text of a module of this package, which imports from the package of the wheel."""
    return path.read_text(encoding="utf-8").replace("evaluation.watching", NAME)


def _record_line(name: str, text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    encoded = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return f"{name},sha256={encoded},{len(text.encode())}\n"
