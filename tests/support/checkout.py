"""What this checkout holds, without copies of bytecode and results."""

import shutil
import subprocess
from pathlib import Path

from support.paths import ROOT


def tracked(*folders: str) -> set[str]:
    """The names of what git has of the folders, and of what it does not ignore."""
    names = subprocess.check_output(
        ["git", "ls-files", "-z", "-co", "--exclude-standard", *folders], cwd=ROOT, text=True
    )
    return {name for name in names.split("\0") if name and (ROOT / name).exists()}


def copy_tracked(folder: Path) -> None:
    """Copy the checkout to a folder, which is made."""
    for name in tracked("."):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
