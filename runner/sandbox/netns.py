"""Namespaces: a network that holds nothing but localhost, and shared memory of one's own, of both
kinds.

supervisor.py imports this file, which imports no module of the project.
"""

import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x8000000, 0x10000000, 0x40000000
ALL = CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET
MS_REC, MS_PRIVATE = 0x4000, 0x40000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
LIBC = ctypes.CDLL(None, use_errno=True)


def cut(report: int) -> None:
    """Enter a network with nothing but localhost, a /dev/shm that nobody else sees, and System V
    memory as well.

    Where that is not allowed, report it and exit with 1.
    """
    try:
        _enter_namespaces()
        _mount(None, "/", None, MS_REC | MS_PRIVATE)
        _mount("tmpfs", "/dev/shm", "tmpfs", 0)
        # The kernel's struct ifreq: a name, and flags in the first two of the bytes that follow.
        shape = struct.Struct("16sh22x")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            _, flags = shape.unpack(fcntl.ioctl(any_socket, SIOCGIFFLAGS, shape.pack(b"lo", 0)))
            fcntl.ioctl(any_socket, SIOCSIFFLAGS, shape.pack(b"lo", flags | IFF_UP))
    except OSError as error:
        os.write(report, f"network\n{error.strerror}".encode())
        os._exit(1)


def _enter_namespaces() -> None:
    """Enter new namespaces; where this user may not, as the same user in a new user namespace."""
    if LIBC.unshare(ALL) == 0:
        return
    user, group = os.geteuid(), os.getegid()
    if LIBC.unshare(CLONE_NEWUSER | ALL):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    for name, text in {
        "setgroups": "deny",
        "uid_map": f"{user} {user} 1",
        "gid_map": f"{group} {group} 1",
    }.items():
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
            file.write(text)


def _mount(source: str | None, target: str, kind: str | None, flags: int) -> None:
    texts = (text.encode() if text else None for text in (source, target, kind))
    if LIBC.mount(*texts, ctypes.c_ulong(flags), None):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
