"""The revision of a bug or a detector: the commit of its directory, or the version of the
package.
"""

from collections.abc import Sequence
from pathlib import Path

from runner.bugs.catalog import installed_root
from runner.errors import ProcessError
from runner.files.untrusted import UnsafeError
from runner.results.git_checkout import UnreadableError, find_checkout

# What no run reads of a bug or a detector.
NOT_RUN = ("expected", "README.md")
NOT_RUN_OF_BUGS = (*NOT_RUN, "studies")


def find_revision(directory: Path, not_run: Sequence[str] = NOT_RUN) -> str | None:
    """The state of a bug's or a detector's `directory`: the package's version, where it is part of
    an installed one.

    Elsewhere the commit, with `-dirty` where what is run differs from it; None outside of git, and
    where a repository is not readable. `not_run` are patterns of files that count for nothing.
    """
    root = installed_root()
    if root is not None and directory.is_relative_to(root):
        from importlib.metadata import version

        # The package may be installed within a repository, of which it is no part.
        return f"trainbugs-{version('trainbugs')}"
    return _git_revision(directory, not_run)


def _git_revision(directory: Path, not_run: Sequence[str]) -> str | None:
    directory = directory.resolve()
    try:
        checkout = find_checkout(directory)
        commit = checkout.commit() if checkout else None
        if checkout is None or commit is None:
            return None
        return commit + ("-dirty" if checkout.differs(commit, directory, not_run) else "")
    except (UnreadableError, UnsafeError, ProcessError, OSError):
        return None
