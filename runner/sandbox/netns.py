"""A network namespace that holds nothing but localhost. supervisor.py runs this file, since it imports no module."""

import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
LIBC = ctypes.CDLL(None, use_errno=True)


def cut(report: int) -> None:
    """Enter a network namespace with nothing but localhost; where that is not allowed, report it and exit with 1."""
    try:
        _enter_namespaces()
        # The kernel's struct ifreq: a name, and flags in the first two of the bytes that follow.
        shape = struct.Struct("16sh22x")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            _, flags = shape.unpack(fcntl.ioctl(any_socket, SIOCGIFFLAGS, shape.pack(b"lo", 0)))
            fcntl.ioctl(any_socket, SIOCSIFFLAGS, shape.pack(b"lo", flags | IFF_UP))
    except OSError as error:
        os.write(report, f"network\n{error.strerror}".encode())
        os._exit(1)


def _enter_namespaces() -> None:
    """Enter a new network namespace; where this user may not, as the same user in a new user namespace."""
    if LIBC.unshare(CLONE_NEWNET) == 0:
        return
    user, group = os.geteuid(), os.getegid()
    if LIBC.unshare(CLONE_NEWUSER | CLONE_NEWNET):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    for name, text in {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}.items():
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
            file.write(text)
