"""Limits on what a program may use of the machine, and the command line of supervisor.py, which
enforces them.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from runner.files.trees import remove_own_tree
from runner.sandbox.access import Access

# Where a program in namespaces finds the link to its temporary folder.
SHORT = "/tmp"
SUPERVISOR = Path(__file__).with_name("supervisor.py")
CGROUPS = Path("/sys/fs/cgroup")
# The default limit, as a share of the machine's memory. Beyond it the kernel would soon choose a
# process to kill, which may belong to another user.
SHARE = 0.9
# A limit of no whole byte would be none.
LEAST_MB = 0.00001


@dataclass(frozen=True)
class Limits:
    """Limits of a program and all that it starts, in MB (10^6 bytes); None: no limit.

    `output_mb` is for its standard output and its standard error, each; `file_mb` for any other
    file. Without `network` there is nothing but localhost. `access`: what it may reach of the file
    system; None: all that the user may, with every privilege. `scratch` is a folder of the runner's
    own, in which the name of the program's temporary folder is noted. `room` is a folder that the
    program may write: in namespaces, its temporary folder is made in there. Without `temporary` it
    has none: HOME and TMPDIR stay what they are.
    """

    memory_mb: float | None = None
    network: bool = True
    output_mb: float = 256
    file_mb: float = 20_000
    access: Access | None = None
    scratch: Path | None = None
    room: Path | None = None
    temporary: bool = True

    @property
    def in_namespaces(self) -> bool:
        """Whether the program sees only the folders that it is shown."""
        return self.access is not None and "namespaces" in self.access.isolation

    @property
    def shows_short(self) -> bool:
        """Whether the program sees the machine's own folder SHORT: a link made there would stay."""
        if self.access is None:
            return True
        short = Path(SHORT).resolve()
        is_read = not {Path("/"), short}.isdisjoint(self.access.read)
        return is_read and short not in self.access.hidden

    def words(self) -> Iterator[str]:
        """The limits as arguments of supervisor.py, NAME=VALUE."""
        if self.memory_mb is not None:
            yield f"memory_mb={max(self.memory_mb, LEAST_MB)}"
        if not self.network:
            yield "network=no"
        yield f"output_mb={self.output_mb}"
        yield f"file_mb={self.file_mb}"
        if self.access is not None:
            yield from self.access.words()


@dataclass(frozen=True)
class OwnFolder:
    """The temporary folder of a program: where it lies, and the `name` by which the program knows
    it.
    """

    path: Path
    name: str

    def words(self) -> list[str]:
        """The folder as arguments of supervisor.py."""
        link = [] if self.name == str(self.path) else [f"link={self.name}"]
        return [f"folder={self.path}", *link]


def command(limits: Limits | None, folder: OwnFolder | None, report: int) -> list[str]:
    """The command line of the supervisor; the program and its arguments follow.

    The supervisor makes `folder` for the program and removes it; `report` is the file descriptor
    for its report.
    """
    words = [*(limits.words() if limits else ()), *(folder.words() if folder else ())]
    return [
        sys.executable,
        "-I",
        "-S",
        str(SUPERVISOR),
        f"runner={os.getpid()}",
        f"report={report}",
        *words,
        "--",
    ]


@contextmanager
def own_folder(
    env: Mapping[str, str], limits: Limits | None
) -> Iterator[tuple[OwnFolder | None, Mapping[str, str]]]:
    """A temporary folder for a program with limits, and its environment variables, with HOME and
    TMPDIR in there.

    It is not in the working directory: the paths of sockets in TMPDIR (of torch.multiprocessing,
    say) have to be short. In namespaces a link makes them so, and the folder itself lies in the
    program's room: one mount holds both, so that files can be renamed from one into the other. A
    program that sees all temporary files knows the folder by its own name.

    supervisor.py makes it and removes it; it is removed here only if the supervisor was killed.
    Where this process was killed too, or the disk was read-only by then, the note tells the next
    command to remove it.
    """
    if limits is None or not limits.temporary:
        yield None, env
        return
    name = f"tb-{os.urandom(4).hex()}"
    inside = limits.room if limits.in_namespaces else None
    path = (inside or Path(tempfile.gettempdir())) / name
    is_short = inside is not None and not limits.shows_short
    folder = OwnFolder(path, f"{SHORT}/{name}" if is_short else str(path))
    note = limits.scratch / name if limits.scratch and not inside else None
    if note:
        note.touch()
    try:
        yield folder, {**env, "HOME": f"{folder.name}/home", "TMPDIR": folder.name}
    finally:
        remove_own_tree(path)
        if note and not path.exists():
            note.unlink(missing_ok=True)


def default_memory_mb() -> float:
    """The default memory limit of a run in MB (10^6 bytes): a share of what this machine or cgroup
    has.
    """
    return round(SHARE * machine_memory_mb())


def machine_memory_mb() -> float:
    """The machine's memory in MB (10^6 bytes), or the limit of this cgroup (of a container, of a
    batch job).
    """
    sizes = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for line in _read(Path("/proc/self/cgroup")).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "memory"):
            root, name = (
                (CGROUPS / controllers, "memory.limit_in_bytes")
                if controllers
                else (CGROUPS, "memory.max")
            )
            sizes += _sizes(root, path, name)
    return min(sizes) / 1e6


def _sizes(root: Path, path: str, name: str) -> list[int]:
    """The limits of a cgroup and its parents, in bytes.

    In a container its own may be mounted as the root.
    """
    inner = PurePosixPath(path.lstrip("/"))
    texts = [
        _read(root / folder / name).strip() for folder in {inner, *inner.parents, PurePosixPath()}
    ]
    return [int(text) for text in texts if text.isdigit()]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
