"""Where the launcher and the sanitizer lie: in a checkout, in an installed trainbugs,
or beside this file in the small wheel.
"""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = HERE.parents[2]
LAUNCHERS = (HERE.parent / "launcher", PACKAGES / "evaluation" / "kit" / "launcher")
SANITIZERS = (
    HERE.parent / "sanitizer",
    PACKAGES / "detectors" / "sanitizer",
    PACKAGES / "trainbugs" / "detectors" / "sanitizer",
)


def launcher() -> Path:
    """The folder of the launcher."""
    return _first(LAUNCHERS)


def sanitizer() -> Path:
    """The folder of the sanitizer."""
    return _first(SANITIZERS)


def _first(folders: tuple[Path, ...]) -> Path:
    """The first folder that is there; raises FileNotFoundError where none is."""
    for folder in folders:
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"{folders[0]}: no such folder; install trainbugs anew")
