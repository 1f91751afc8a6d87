"""Landlock: this process, and whatever it starts, reaches only the paths that are named.

supervisor.py imports this file, which imports no module of the project. Needs no privileges; see
https://docs.kernel.org/userspace-api/landlock.html for the system calls.
"""

import ctypes
import os
import struct

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION_FLAG, PATH_BENEATH, PR_SET_NO_NEW_PRIVS = 1, 1, 38
# The numbers of the rights, as the kernel counts them.
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
READ = EXECUTE | READ_FILE | READ_DIR
FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
# The rights that each version of the interface knows: with the second came links between folders,
# with the third truncation, with the fifth ioctl on devices. Signals and abstract sockets to the
# outside can be cut since the sixth.
RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
SCOPES = 0b11
LIBC = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """The version of the kernel's interface; 0 where there is none, or this process may not use
    it.
    """
    return max(0, int(LIBC.syscall(CREATE_RULESET, None, 0, VERSION_FLAG)))


def restrict(readable: list[str], writable: list[str]) -> None:
    """Allow reading and executing below `readable`, everything below `writable`, and nothing else;
    raises OSError.

    A path that is missing is left out. Signals reach only what this process starts.
    """
    abi = version()
    handled = (1 << RIGHTS[min(abi, max(RIGHTS))]) - 1
    fields = [handled]
    if abi >= 4:
        fields.append(0)
    if abi >= 6:
        fields.append(SCOPES)
    attributes = struct.pack(f"{len(fields)}Q", *fields)
    ruleset = _call(CREATE_RULESET, attributes, len(attributes), 0)
    for paths, rights in ((readable, READ), (writable, handled)):
        for path in paths:
            _allow(ruleset, path, rights & handled)
    if LIBC.prctl(PR_SET_NO_NEW_PRIVS, *map(ctypes.c_ulong, (1, 0, 0, 0))):
        raise OSError(ctypes.get_errno(), "prctl")
    _call(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        file = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        allowed = rights if os.path.isdir(path) else rights & FILE_RIGHTS  # noqa: PTH112
        _call(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", allowed, file), 0)
    finally:
        os.close(file)


def _call(number: int, *arguments: object) -> int:
    result = int(LIBC.syscall(number, *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
