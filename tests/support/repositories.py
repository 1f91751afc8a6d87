"""Git repositories for tests, made by git itself."""

import os
import subprocess
from pathlib import Path

# Nothing of the settings of whoever runs the tests.
PLAIN = {
    "PATH": os.environ["PATH"], "HOME": "/", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
}  # fmt: skip


def git(folder: Path, *arguments: str) -> str:
    """What git prints, without the line's end."""
    command = ["git", "-C", str(folder), "-c", "protocol.file.allow=always", *arguments]
    return subprocess.run(
        command, env=PLAIN, check=True, capture_output=True, text=True
    ).stdout.strip()


def commit(folder: Path, message: str = "all") -> str:
    """Commit whatever is there, and return the commit."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def repository(folder: Path, *options: str) -> Path:
    """A repository with one commit, and in it a folder `bug` that is returned."""
    bug = folder / "bug"
    bug.mkdir(parents=True)
    (bug / "buggy.py").write_text("print(1)\n")
    (bug / "notes").mkdir()
    (bug / "notes" / "deep.py").write_text("print(2)\n")
    (folder / ".gitignore").write_text("__pycache__/\n*.tmp\n")
    (folder / "beside.py").write_text("print(3)\n")
    git(folder, "init", "-q", *options)
    commit(folder)
    return bug
