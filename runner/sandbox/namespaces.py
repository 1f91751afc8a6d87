"""Mount namespaces: this process, and whatever it starts, sees only the paths that are named, and no other process.

supervisor.py imports this file where the kernel has no Landlock; it imports no module of the project. Needs no
privileges where users may make user namespaces; see user_namespaces(7) and pivot_root(2).
"""

import ctypes
import errno
import os
import signal

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x20000, 0x10000000, 0x20000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 0x20, 0x1000, 0x4000, 0x40000
# Flags that a mount has to keep in a user namespace, by their names in /proc/self/mountinfo.
KEPT = {"nosuid": MS_NOSUID, "noexec": MS_NOEXEC}
MNT_DETACH, PIVOT_ROOT = 2, {"x86_64": 155}.get(os.uname().machine, 41)
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, CAPABILITIES_3 = 1, 24, 38, 0x20080522
OUTSIDE = "/.outside"
LIBC = ctypes.CDLL(None, use_errno=True)


def restrict(read: list[str], write: list[str]) -> int | None:
    """Go on in a new process that can read below `read`, write below `write`, and nothing else; raises OSError.

    Returns None in that process, and in this one, when that has ended, its status as wait() gives it. A path that is
    missing is left out. The new process sees and signals only what it starts: /proc is one of its own.
    """
    folder = os.getcwd()  # noqa: PTH109
    wanted = {os.path.realpath(path) for path in write}
    _unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID)
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    ours, theirs = os.pipe()
    # The kernel treats the first process specially: most signals do not reach it, and with it all others end.
    if first := os.fork():
        os.close(theirs)
        _, status = os.waitpid(first, 0)
        return int(os.read(ours, 16) or status)
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    _enter_root({os.path.realpath(path) for path in read} - wanted, wanted)
    os.chdir(folder)
    if program := os.fork():
        ended, status = 0, 0
        while ended != program:
            ended, status = os.wait()
        os.write(theirs, str(status).encode())
        os._exit(0)
    os.setsid()
    _drop_capabilities()
    return None


def _unshare(flags: int) -> None:
    """Enter new namespaces, as the same user in a new user namespace."""
    user, group = os.geteuid(), os.getegid()
    _check(LIBC.unshare(flags))
    for name, text in {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}.items():
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
            file.write(text)


def _enter_root(read: set[str], write: set[str]) -> None:
    """Enter a root of nothing but these paths, and /proc."""
    _mount(None, "/", None, MS_REC | MS_PRIVATE)
    _mount("tmpfs", "/tmp", "tmpfs", 0)
    os.mkdir("/tmp" + OUTSIDE)  # noqa: PTH102
    _check(LIBC.syscall(PIVOT_ROOT, b"/tmp", b"/tmp" + OUTSIDE.encode()))
    os.chdir("/")
    _copy_links("")
    os.mkdir("/proc")  # noqa: PTH102
    _mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    if "/" in read:
        read = {entry.path.removeprefix(OUTSIDE) for entry in os.scandir(OUTSIDE) if not entry.is_symlink()}
    # A folder comes before what is in it.
    for path in sorted(read - {"/proc"}):
        if not os.path.lexists(path):
            _show(path)
    for path in sorted(write):
        _show(path)
    _check(LIBC.umount2(OUTSIDE.encode(), MNT_DETACH))
    os.rmdir(OUTSIDE)  # noqa: PTH106
    _protect(write)


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
    """Make a folder and those above, each with the links that it has outside, by which a path may have been named."""
    if not os.path.isdir(folder):  # noqa: PTH112
        _make(os.path.dirname(folder))  # noqa: PTH120
        os.mkdir(folder)  # noqa: PTH102
        _copy_links(folder)


def _copy_links(folder: str) -> None:
    try:
        links = [entry for entry in os.scandir(OUTSIDE + folder) if entry.is_symlink()]
    except PermissionError:
        return
    for link in links:
        os.symlink(os.readlink(link.path), link.path.removeprefix(OUTSIDE))  # noqa: PTH115, PTH211


def _protect(write: set[str]) -> None:
    """Make everything read-only, and without devices, but what lies below `write`."""
    with open("/proc/self/mountinfo", "rb") as file:  # noqa: PTH123
        mounts = [line.split()[4:6] for line in file]
    for escaped, options in mounts:
        path = os.fsdecode(escaped.decode("unicode_escape").encode("latin-1"))
        if not any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in write):
            flags = sum(KEPT.get(option, 0) for option in options.decode().split(","))
            try:
                _mount(None, path, None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NODEV | flags)
            except OSError as error:
                # What cannot be reached now will not be reached by the program either, which has fewer rights.
                if error.errno not in (errno.EACCES, errno.ENOENT):
                    raise


def _drop_capabilities() -> None:
    """Give up what would undo all that. The program may enter namespaces of its own; there, mounts are locked."""
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    capability = 0
    while LIBC.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), *[ctypes.c_ulong(0)] * 3) == 0:
        capability += 1
    _check(LIBC.capset((ctypes.c_uint32 * 2)(CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)()))


def _prctl(option: int, value: int) -> None:
    _check(LIBC.prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0))))


def _mount(source: str | None, target: str, kind: str | None, flags: int) -> None:
    texts = (os.fsencode(text) if text else None for text in (source, target, kind))
    _check(LIBC.mount(*texts, ctypes.c_ulong(flags), None))


def _check(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
