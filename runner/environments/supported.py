"""The machines for which environments are locked: Linux on x86-64, with a recent glibc."""

import os
import platform

# Wheels of torch from 2.6 on are built against it.
GLIBC = (2, 28)
REMEDY = "use such a machine, or a PyTorch that this one has, by --python"


def unsupported() -> str | None:
    """Why no environment can be built on this machine, and what to do; None where one can."""
    system, machine = platform.system(), platform.machine()
    if (system, machine) != ("Linux", "x86_64"):
        return f"its wheels are for Linux on x86-64, and this is {system} on {machine}; {REMEDY}"
    if _glibc() < GLIBC:
        wanted = ".".join(map(str, GLIBC))
        return f"its wheels want glibc {wanted} or newer, and this is {_libc()}; {REMEDY}"
    return None


def _libc() -> str:
    """The name and version of the C library, as in `glibc 2.36`."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or "another C library"
    except (OSError, ValueError):
        return "another C library"


def _glibc() -> tuple[int, ...]:
    """The version of glibc; empty where the C library is another one."""
    name, _, version = _libc().partition(" ")
    parts = version.split(".")
    is_known = name == "glibc" and all(part.isdigit() for part in parts)
    return tuple(map(int, parts)) if is_known else ()
