"""The provenance of a run: the commit of the bug, and the machine."""

import platform
import re
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from runner.bugs.catalog import installed_root
from runner.errors import ProcessError
from runner.sandbox.env import inherited
from runner.sandbox.process import output

# What no run reads of a bug or a detector.
NOT_RUN = ("expected", "README.md")


def revision(directory: Path, not_run: Sequence[str] = NOT_RUN) -> str | None:
    """The state of a bug's or a detector's `directory`: the package's version, where it is part of an installed one.

    Elsewhere the commit, with `-dirty` where what is run differs from it; None outside of git. `not_run` are patterns
    of files that count for nothing.
    """
    root = installed_root()
    if root is not None and directory.is_relative_to(root):
        from importlib.metadata import version

        # The package may be installed within a repository, of which it is no part.
        return f"trainbugs-{version('trainbugs')}"
    return _git_revision(directory, not_run)


def _git_revision(directory: Path, not_run: Sequence[str]) -> str | None:
    git = shutil.which("git")
    if git is None:
        return None
    env = inherited(("PATH", "HOME"))
    try:
        revision = output([git, "-C", str(directory), "rev-parse", "HEAD"], env=env).strip()
        what = [".", *(f":!{name}" for name in not_run)]
        changed = output([git, "-C", str(directory), "status", "--porcelain", "--", *what], env=env).strip()
    except ProcessError:
        return None
    return revision + ("-dirty" if changed else "")


@cache
def machine() -> str:
    """System, architecture and, where Linux names it, the model of the processor."""
    try:
        model = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    except OSError:
        model = None
    return f"{platform.system()} {platform.machine()}" + (f", {model.group(1)}" if model else "")
