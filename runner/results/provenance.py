"""The provenance of a run: the commit of the bug, and the machine."""

import platform
import re
import shutil
from functools import cache
from pathlib import Path

from runner.errors import ProcessError
from runner.sandbox.env import inherited
from runner.sandbox.process import output


def git_revision(directory: Path) -> str | None:
    """The commit of a bug's `directory`, with `-dirty` where what is run differs from it; None outside of git."""
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
