"""A git checkout: its commit, and whether a folder of it holds what the commit has.

The configuration of a checkout may come from anyone, and git executes what it names in more than a
dozen places. So git is asked by a git directory of our own, which borrows the objects of the
checkout, and nothing else of it.
"""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runner.errors import TrainbugsError
from runner.files import untrusted
from runner.files.locks import working_folder
from runner.sandbox.env import inherited
from runner.sandbox.process import output

GIT, LINK = ".git", "gitdir: "
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
REFERENCE = re.compile(r"refs/(?!.*\.\.)[\w./@+-]+")
# The one setting that is looked up, as text: file systems that know no executable bits have it.
NO_EXECUTABLES = re.compile(
    r"^\s*filemode\s*=\s*(false|no|off|0)\s*$", re.MULTILINE | re.IGNORECASE
)
MAX_BYTES, MAX_REFERENCES_BYTES = 1_000_000, 64_000_000
# Within a submodule there may be others.
MAX_SUBMODULES = 5
MODULES, SUBMODULE = ".gitmodules", "160000"
# Seconds that git may take: a hostile repository may let it wait for ever.
PATIENCE_S = 5
# The configuration of our git directory: the names of objects are as long as in the checkout.
CONFIGURATION = """\
[core]
repositoryformatversion = {version}
bare = false
fileMode = {executables}
fsmonitor = false
hooksPath = /dev/null
[extensions]
objectFormat = {algorithm}
"""


class UnreadableError(TrainbugsError):
    """A repository has something that this module does not read."""


@dataclass(frozen=True)
class Checkout:
    """A work tree `root`; `private` is its git directory, `common` the one that all work trees of
    it share.
    """

    root: Path
    private: Path
    common: Path

    def commit(self) -> str | None:
        """The commit that is checked out; None where there is none yet, or references are kept in
        an unknown way.
        """
        head = untrusted.read_text(self.private / "HEAD", MAX_BYTES).strip()
        if COMMIT.fullmatch(head):
            return head
        name = head.removeprefix("ref: ")
        if name == head or not REFERENCE.fullmatch(name):
            return None
        loose = self.common / name
        if loose.is_file():
            text: str | None = untrusted.read_text(loose, MAX_BYTES).strip()
        else:
            text = self._packed(name)
        return text if text and COMMIT.fullmatch(text) else None

    def _packed(self, name: str) -> str | None:
        path = self.common / "packed-refs"
        if not os.path.lexists(path):
            return None
        for line in untrusted.read_text(path, MAX_REFERENCES_BYTES).splitlines():
            commit, _, reference = line.partition(" ")
            if reference == name:
                return commit
        return None

    def differs(self, commit: str, directory: Path, not_run: Sequence[str], depth: int = 0) -> bool:
        """Whether the commit has other files in `directory`, but for `not_run` (patterns), and for
        ignored ones.

        Raises UnreadableError, UnsafeError, OSError or ProcessError where that cannot be told.
        """
        if depth > MAX_SUBMODULES:
            raise UnreadableError(f"{directory}: submodules {MAX_SUBMODULES} deep")
        patterns = [".", *(f":!{name}" for name in not_run)]
        with self._own_directory(commit) as ask:
            ask(["read-tree", commit])
            # git would ask itself in a submodule, by the configuration there.
            if ask(
                ["status", "--porcelain", "--ignore-submodules=all", "--", *patterns], directory
            ):
                return True
            # Asking costs as much as the rest.
            if (
                not os.path.lexists(self.root / MODULES)
                and next(directory.rglob(GIT), None) is None
            ):
                return False
            tracked = ask(["ls-files", "--stage", "-z", "--", *patterns], directory).split("\0")
        modules = [line for line in tracked if line.startswith(SUBMODULE)]
        return any(_is_other_submodule(directory, line, depth) for line in modules)

    @contextmanager
    def _own_directory(self, commit: str) -> Iterator["Ask"]:
        """What asks git about this work tree, by a git directory of our own."""
        git = shutil.which("git")
        if git is None:
            raise UnreadableError("there is no git")
        with working_folder() as folder:
            self._lay_out(folder, commit)
            yield Ask(git, self.root, folder)

    def _lay_out(self, folder: Path, commit: str) -> None:
        """Make a git directory at that commit, with the objects of this one, which ignores what
        this one ignores.
        """
        for name in ("objects/info", "refs", "info"):
            (folder / name).mkdir(parents=True)
        (folder / "HEAD").write_text(f"{commit}\n", encoding="ascii")
        (folder / "objects" / "info" / "alternates").write_bytes(
            os.fsencode(self.common.resolve() / "objects") + b"\n"
        )
        is_long, settings = len(commit) > 40, self.common / "config"
        plain = settings.exists() and NO_EXECUTABLES.search(
            untrusted.read_text(settings, MAX_BYTES)
        )
        text = CONFIGURATION.format(
            version=1,
            executables="false" if plain else "true",
            algorithm="sha256" if is_long else "sha1",
        )
        (folder / "config").write_text(text, encoding="ascii")
        ignored = self.common / "info" / "exclude"
        if ignored.exists():
            (folder / "info" / "exclude").write_bytes(untrusted.read_bytes(ignored, MAX_BYTES))
        shallow = self.common / "shallow"
        if shallow.exists():
            (folder / "shallow").write_bytes(untrusted.read_bytes(shallow, MAX_BYTES))


@dataclass(frozen=True)
class Ask:
    """A question to git about a work tree, in which `git_directory` stands for the one of
    the checkout.
    """

    git: str
    root: Path
    git_directory: Path

    def __call__(self, words: Sequence[str], folder: Path | None = None) -> str:
        """What git prints; raises ProcessError where it fails, or takes too long."""
        # Not the user's own settings: they may name filters, which would run on a stranger's files.
        env = inherited(("PATH", "HOME")) | {
            "GIT_DIR": str(self.git_directory),
            "GIT_WORK_TREE": str(self.root),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_LAZY_FETCH": "1",
        }
        command = [self.git, "-C", str(folder or self.root), "-c", "core.quotePath=false", *words]
        return output(command, env=env, timeout_s=PATIENCE_S)


def find_checkout(directory: Path) -> Checkout | None:
    """The checkout that a folder belongs to, None where it is in none.

    It has a `.git`: a folder that merely looks like a git directory is none. Raises
    UnreadableError, UnsafeError or OSError for a `.git` that leads nowhere.
    """
    device = directory.stat().st_dev
    for folder in (directory, *directory.parents):
        # As git does: what is mounted into a checkout is no part of it.
        if folder.stat().st_dev != device:
            return None
        path = folder / GIT
        if os.path.lexists(path):
            private = path if path.is_dir() else _linked(path)
            return Checkout(folder, private, _common(private))
    return None


def _linked(path: Path) -> Path:
    """The git directory that a file `.git` names: the one of a submodule, or of a further work
    tree.
    """
    text = untrusted.read_text(path, MAX_BYTES).rstrip("\n")
    if not text.startswith(LINK):
        raise UnreadableError(f"{path} names no git directory")
    return path.parent / text.removeprefix(LINK)


def _common(private: Path) -> Path:
    path = private / "commondir"
    return (
        private / untrusted.read_text(path, MAX_BYTES).strip() if os.path.lexists(path) else private
    )


def _is_other_submodule(directory: Path, line: str, depth: int) -> bool:
    """Whether the submodule of a line of `ls-files` is at another commit, or was changed.

    An empty folder has not been set up.
    """
    about, _, name = line.partition("\t")
    path, commit = directory / name, about.split()[1]
    if not path.is_dir() or not os.listdir(path):  # noqa: PTH208
        return not path.is_dir()
    checkout = find_checkout(path)
    if checkout is None or checkout.root != path or checkout.commit() != commit:
        return True
    return checkout.differs(commit, path, (), depth + 1)
