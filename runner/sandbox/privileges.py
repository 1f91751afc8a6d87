"""Privileges: what this process, and whatever it starts, gives up before it becomes a program.

supervisor.py imports this file, which imports no module of the project. See capabilities(7),
seccomp(2).
"""

import ctypes
import os
import struct

PR_CAPBSET_DROP, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, CAPABILITIES_3 = 24, 22, 38, 0x20080522
FILTER_MODE = 2
# Instructions of the kernel's filters: load a word, compare and jump, end.
LOAD, EQUAL, AT_LEAST, END = 0x20, 0x15, 0x35, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 1  # the error number is that of EPERM
UNKNOWN_FAMILY = 0x00050000 | 97  # EAFNOSUPPORT
# Where the data of a call lies: its number, its architecture, the low and the high word of each
# argument.
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
X86_64, FIRST_X32 = 0xC000003E, 0x40000000
# Calls that change another process where the argument of that index is not 0.
OTHER_PROCESS = {
    "prlimit64": (302, 0),
    "sched_setparam": (142, 0),
    "sched_setscheduler": (144, 0),
    "sched_setaffinity": (203, 0),
    "sched_setattr": (314, 0),
    "migrate_pages": (256, 0),
    "move_pages": (279, 0),
}
# Calls whose first argument says what the second one means: only "process", with 0, is this one.
PRIORITIES = {"setpriority": (141, 0), "ioprio_set": (251, 1)}
# Keys of a user are the same for all of his processes.
KEYRINGS = {"add_key": 248, "request_key": 249, "keyctl": 250}
IOCTL = 16
# Families of sockets that a network namespace keeps apart: AF_UNIX, AF_INET, AF_INET6, AF_NETLINK.
SOCKET, APART = 41, (1, 2, 10, 16)
# By it sockets are made without the call above.
IO_URING_SETUP = 425
# What types on the terminal of somebody else.
TYPING = {"TIOCSTI": 0x5412, "TIOCLINUX": 0x541C}
Instruction = tuple[int, int, int, int]
LIBC = ctypes.CDLL(None, use_errno=True)


def drop_capabilities() -> None:
    """Give up what only an administrator may do; raises OSError.

    The program may enter namespaces of its own; there, mounts are locked.
    """
    _call(LIBC.prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    capability = 0
    while LIBC.prctl(PR_CAPBSET_DROP, *map(ctypes.c_ulong, (capability, 0, 0, 0))) == 0:
        capability += 1
    header, none = (ctypes.c_uint32 * 2)(CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)()
    if LIBC.capset(header, none):
        raise OSError(ctypes.get_errno(), "capset")


def spare_other_processes() -> None:
    """Refuse the calls that limit, slow or move other processes of the user, and those on his keys.

    For where a program is in no PID namespace: the kernel has no other word against them. Without
    it, one program could make the runner fail, and so change another one's verdict. Nothing is done
    where the kernel has no filters, or on another architecture.
    """
    _filter_calls(_blocks_of_other_processes())


def refuse_other_networks() -> None:
    """Refuse sockets of families that no network namespace keeps apart.

    AF_VSOCK is one: a virtual machine reaches its host by it, without any network. Where the kernel
    has no filters, or on another architecture, nothing is done.
    """
    inside: list[Instruction] = [(LOAD, 0, 0, _low(0))]
    for family in APART:
        inside += [(EQUAL, 0, 1, family), (END, 0, 0, ALLOW)]
    inside.append((END, 0, 0, UNKNOWN_FAMILY))
    _filter_calls([*_block(SOCKET, inside), *_block(IO_URING_SETUP, [(END, 0, 0, REFUSE)])])


def _filter_calls(blocks: list[Instruction]) -> None:
    """Have the kernel look at each call by these blocks; what they do not end is allowed."""
    if os.uname().machine != "x86_64":
        return
    # Another architecture has other numbers for the calls.
    start = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, X86_64), (END, 0, 0, REFUSE)]
    start += [(LOAD, 0, 0, NUMBER), (AT_LEAST, 0, 1, FIRST_X32), (END, 0, 0, REFUSE)]
    instructions = [*start, *blocks, (END, 0, 0, ALLOW)]
    program = b"".join(struct.pack("=HBBI", *instruction) for instruction in instructions)
    buffer = ctypes.create_string_buffer(program)
    length = len(program) // 8
    head = struct.pack("@HP", length, ctypes.addressof(buffer))
    LIBC.prctl(PR_SET_SECCOMP, ctypes.c_ulong(FILTER_MODE), ctypes.c_char_p(head), 0, 0)


def _blocks_of_other_processes() -> list[Instruction]:
    """Each block looks at one call, and goes on with the next block where it is another one."""
    program: list[Instruction] = []
    for number, argument in OTHER_PROCESS.values():
        program += _block(number, _refused_unless_zero(argument))
    for number, process in PRIORITIES.values():
        program += _block(number, [*_refused_unless(0, process), *_refused_unless_zero(1)])
    for number in KEYRINGS.values():
        program += _block(number, [(END, 0, 0, REFUSE)])
    typing: list[Instruction] = [(LOAD, 0, 0, _low(1))]
    for command in TYPING.values():
        typing += [(EQUAL, 0, 1, command), (END, 0, 0, REFUSE)]
    return [*program, *_block(IOCTL, typing)]


def _block(number: int, inside: list[Instruction]) -> list[Instruction]:
    """Instructions for one call, at whose end it is allowed; any other call jumps over them."""
    return [
        (LOAD, 0, 0, NUMBER),
        (EQUAL, 0, len(inside) + 1, number),
        *inside,
        (END, 0, 0, ALLOW),
    ]


def _refused_unless(argument: int, value: int) -> list[Instruction]:
    return [(LOAD, 0, 0, _low(argument)), (EQUAL, 1, 0, value), (END, 0, 0, REFUSE)]


def _refused_unless_zero(argument: int) -> list[Instruction]:
    """Process IDs are 32 bits long: the kernel looks at the low word only."""
    return _refused_unless(argument, 0)


def _low(argument: int) -> int:
    return ARGUMENTS + 8 * argument


def _call(function: object, *arguments: int) -> None:
    assert callable(function)
    if function(*map(ctypes.c_ulong, arguments)):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
