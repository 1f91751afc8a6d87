"""Namespaces: this process, and whatever it starts, sees only the paths that are named, no other
process, and memory and terminals of its own.

supervisor.py imports this file; it imports no module of the project. Needs no privileges where
users may make user namespaces; see user_namespaces(7) and pivot_root(2).
"""

import ctypes
import errno
import os
import signal

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID = 0x20000, 0x8000000, 0x10000000, 0x20000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 0x20, 0x1000, 0x4000, 0x40000
# Flags that a mount has to keep in a user namespace, by their names in /proc/self/mountinfo.
KEPT_OPTIONS = {"nosuid": MS_NOSUID, "noexec": MS_NOEXEC}
MNT_DETACH, PIVOT_ROOT = 2, {"x86_64": 155}.get(os.uname().machine, 41)
KEYCTL, JOIN_SESSION_KEYRING = {"x86_64": 250}.get(os.uname().machine, 219), 1
PR_SET_PDEATHSIG = 1
OUTSIDE = "/.outside"
# Each program has its own: shared memory in which the next one finds nothing, and terminals that
# are nobody's.
SHARED_MEMORY, TERMINALS, MULTIPLEXER = "/dev/shm", "/dev/pts", "/dev/ptmx"
OWN = (SHARED_MEMORY, TERMINALS)
PROCESSES, DEVICES = "/proc", "/dev/"
LIBC = ctypes.CDLL(None, use_errno=True)
# How the kernel writes what would end a field.
ESCAPES = ((b"\\040", b" "), (b"\\011", b"\t"), (b"\\012", b"\n"), (b"\\134", b"\\"))


def restrict(
    readable: list[str],
    writable: list[str],
    hidden: list[str],
    links: dict[str, str],
    shared: int = 0,
) -> int | None:
    """Go on in a new process that can read below `readable`, write below `writable`, and nothing
    else.

    Below `hidden` there is nothing but deeper paths of the two. `links` are names of links, and
    what they lead to. `shared` is the size of its shared memory in bytes; 0: half of the memory.

    Returns None in the new process, and in this one, when that has ended, its status as wait()
    gives it. A path that is missing is left out. The new process sees and signals only what it
    starts: /proc is one of its own. Raises OSError.
    """
    folder = os.getcwd()  # noqa: PTH109
    writable_paths = {os.path.realpath(path) for path in writable if path}
    shown = {os.path.realpath(path) for path in readable if path} - writable_paths
    empty = {os.path.realpath(path) for path in hidden if path}
    _unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC)
    _leave_session_keyring()
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    ours, theirs = os.pipe()
    # The kernel treats the first process specially: most signals do not reach it, and with it all
    # others end.
    if first := os.fork():
        os.close(theirs)
        _, status = os.waitpid(first, 0)
        return int(os.read(ours, 16) or status)
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    _enter_root(shown, writable_paths - {os.path.realpath(SHARED_MEMORY)}, empty, links, shared)
    os.chdir(folder)
    if program := os.fork():
        # Python would end by it, and all others with this process.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        ended, status = 0, 0
        while ended != program:
            ended, status = os.wait()
        os.write(theirs, str(status).encode())
        os._exit(0)
    os.setsid()
    return None


def _unshare(flags: int) -> None:
    """Enter new namespaces, as the same user in a new user namespace."""
    user, group = os.geteuid(), os.getegid()
    _check(LIBC.unshare(flags))
    maps = {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
    for name, text in maps.items():
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
            file.write(text)


def _leave_session_keyring() -> None:
    """Take a new session keyring: no namespace parts from the old one, in which secrets of the user
    lie, and a program could leave a key for the next one.

    A kernel without keys, or that refuses these calls, gives the program none either.
    """
    LIBC.syscall(KEYCTL, JOIN_SESSION_KEYRING, None)


def _enter_root(
    readable: set[str], writable: set[str], hidden: set[str], links: dict[str, str], shared: int
) -> None:
    """Enter a root of nothing but these paths, /proc, and a /dev of its own."""
    _mount(None, "/", None, MS_REC | MS_PRIVATE)
    _mount("tmpfs", "/tmp", "tmpfs", 0)
    os.mkdir("/tmp" + OUTSIDE)  # noqa: PTH102
    _check(LIBC.syscall(PIVOT_ROOT, b"/tmp", b"/tmp" + OUTSIDE.encode()))
    os.chdir("/")
    _copy_links("")
    os.mkdir(PROCESSES)  # noqa: PTH102
    _mount("proc", PROCESSES, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    _forbid_namespaces()
    _part_from_processes()
    _show_all(readable, hidden)
    _make_devices(shared)
    for path in _outermost(writable):
        _show(path)
    for name, target in links.items():
        if not os.path.lexists(name):
            _make(os.path.dirname(name))  # noqa: PTH120
            os.symlink(target, name)  # noqa: PTH211
    _check(LIBC.umount2(OUTSIDE.encode(), MNT_DETACH))
    os.rmdir(OUTSIDE)  # noqa: PTH106
    _protect({*writable, SHARED_MEMORY, TERMINALS})


def _show_all(readable: set[str], hidden: set[str]) -> None:
    """Show what may be read, and empty folders in the place of what is hidden."""
    if "/" in readable:
        entries = [entry for entry in os.scandir(OUTSIDE) if not entry.is_symlink()]
        readable = readable | {entry.path.removeprefix(OUTSIDE) for entry in entries}
    # A folder comes before what is in it.
    for path in sorted((readable | hidden) - {"/", "/proc"}):
        if path in hidden:
            if os.path.isdir(path):  # noqa: PTH112
                _mount("tmpfs", path, "tmpfs", 0, "mode=755")
        elif not os.path.lexists(path):
            _show(path)


def _outermost(paths: set[str]) -> list[str]:
    """The paths that lie in no other one: what lies in one mount can be renamed from folder to
    folder.
    """
    outermost: list[str] = []
    for path in sorted(paths, key=len):
        if not any(path.startswith(f"{folder}/") for folder in outermost):
            outermost.append(path)
    return outermost


def _forbid_namespaces() -> None:
    """Let no user namespace be made in this one: whoever makes one has all privileges in there."""
    try:
        with open("/proc/sys/user/max_user_namespaces", "w") as file:  # noqa: PTH123
            file.write("0")
    except OSError:
        return


def _part_from_processes() -> None:
    """Make a mount of everything in /proc that is about the system, so that it can be protected.

    What is about processes stays as it is: CUDA does not start where it cannot write the names of
    its threads to /proc/self/task.
    """
    for entry in os.scandir(PROCESSES):
        if not entry.name.isdigit() and not entry.is_symlink():
            _mount(entry.path, entry.path, None, MS_BIND)


def _make_devices(shared: int) -> None:
    """Make a /dev with shared memory and terminals of its own; the kernel may not give the
    latter.
    """
    _make("/dev")
    _copy_links("/dev")
    for folder in (SHARED_MEMORY, TERMINALS):
        if not os.path.isdir(folder):  # noqa: PTH112
            os.mkdir(folder)  # noqa: PTH102
    size = f",size={shared}" if shared else ""
    _mount("tmpfs", SHARED_MEMORY, "tmpfs", MS_NOSUID | MS_NODEV, f"mode=1777{size}")
    try:
        _mount("devpts", TERMINALS, "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666")
    except OSError:
        return
    if not os.path.lexists(MULTIPLEXER):
        os.symlink("pts/ptmx", MULTIPLEXER)  # noqa: PTH211


def _show(path: str) -> None:
    """Let a path lead to what it leads to outside; one that cannot be reached is left out."""
    try:
        if os.path.isdir(OUTSIDE + path):  # noqa: PTH112
            _make(path)
        elif os.path.exists(OUTSIDE + path) and not os.path.exists(path):  # noqa: PTH110
            _make(os.path.dirname(path))  # noqa: PTH120
            os.mknod(path)
        _mount(OUTSIDE + path, path, None, MS_BIND | MS_REC)
    except OSError:
        return


def _make(folder: str) -> None:
    """Make a folder and those above."""
    if not os.path.isdir(folder):  # noqa: PTH112
        _make(os.path.dirname(folder))  # noqa: PTH120
        os.mkdir(folder)  # noqa: PTH102


def _copy_links(folder: str) -> None:
    """Make the links that a folder has outside: /bin and /lib are some, and /dev/fd."""
    for link in os.scandir(OUTSIDE + folder):
        if not link.is_symlink():
            continue
        place = link.path.removeprefix(OUTSIDE)
        if not os.path.lexists(place):
            os.symlink(os.readlink(link.path), place)  # noqa: PTH115, PTH211


def _protect(write: set[str]) -> None:
    """Make everything read-only, and without devices, but what lies below `write`, and the folders
    of processes.

    Devices can be written in a read-only mount as well. Their modes and times cannot be changed
    there: these would stay for the next program, and for everybody.
    """
    with open("/proc/self/mountinfo", "rb") as file:  # noqa: PTH123
        mounts = [line.split()[4:6] for line in file]
    for escaped, options in mounts:
        for written, character in ESCAPES:
            escaped = escaped.replace(written, character)
        path = os.fsdecode(escaped)
        flags = sum(KEPT_OPTIONS.get(option, 0) for option in options.decode().split(","))
        is_written = any(_lies_in(path, folder) for folder in write)
        is_device = path.startswith(DEVICES) and not any(_lies_in(path, own) for own in OWN)
        if path != PROCESSES and (is_device or not is_written):
            flags |= 0 if is_written else MS_NODEV
            try:
                _mount(None, path, None, MS_REMOUNT | MS_BIND | MS_RDONLY | flags)
            except OSError as error:
                # What cannot be reached now will not be reached by the program either, which has
                # fewer rights.
                if error.errno not in (errno.EACCES, errno.ENOENT):
                    raise


def _lies_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _prctl(option: int, value: int) -> None:
    _check(LIBC.prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0))))


def _mount(
    source: str | None, target: str, kind: str | None, flags: int, data: str | None = None
) -> None:
    texts = [os.fsencode(text) if text else None for text in (source, target, kind)]
    _check(LIBC.mount(*texts, ctypes.c_ulong(flags), data.encode() if data else None))


def _check(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
