"""The provenance of a run: the commit of the bug, and the machine."""

import platform
import re
import shutil
from functools import cache
from pathlib import Path

from runner.bugs.catalog import installed_root
from runner.errors import ProcessError
from runner.sandbox.env import inherited
from runner.sandbox.process import output


def revision(directory: Path) -> str | None:
    """The state of a bug's or a detector's `directory`: the package's version, where it is part of an installed one.

    Elsewhere the commit, with `-dirty` where what is run differs from it; None outside of git.
    """
    root = installed_root()
    if root is not None and directory.is_relative_to(root):
        from importlib.metadata import version

        # The package may be installed within a repository, of which it is no part.
        return f"trainbugs-{version('trainbugs')}"
    return _git_revision(directory)


def _git_revision(directory: Path) -> str | None:
    git = shutil.which("git")
    if git is None:
        return None
    env = inherited(("PATH", "HOME"))
    try:
        revision = output([git, "-C", str(directory), "rev-parse", "HEAD"], env=env).strip()
        what = [".", ":!expected", ":!README.md"]
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
