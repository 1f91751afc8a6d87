"""Modules of somebody else that hide the packages of this one,
such as a `runner.py` beside a notebook.
"""

from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("runner", "evaluation", "plots")


def shadowed() -> str | None:
    """One line about the first package that `import` would take from elsewhere;
    None where all are ours.
    """
    home = Path(__file__).resolve().parents[1]
    for name in PACKAGES:
        file = _file(name)
        if file is None or Path(file).resolve().parent != home / name:
            where = file or "a module without a file"
            return (
                f"{where} hides the package {name!r} of trainbugs: rename it, or start Python in "
                "another folder"
            )
    return None


def _file(name: str) -> str | None:
    """The file that `import name` loads, or has loaded."""
    try:
        spec = find_spec(name)
    except ValueError:  # in sys.modules, and made by hand
        return None
    return spec.origin if spec else None
