"""Disks that are full or read-only, and limits on the size of files."""

import os
import resource
import subprocess
import time
from functools import cache

from injection import toys
from injection.kills import ANY

ROOM = 64_000_000
PATIENCE_S = 20


@cache
def allowed():
    """Whether this kernel gives mounts of their own to users."""
    try:
        return (
            subprocess.run(
                ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True
            ).returncode
            == 0
        )
    except OSError:
        return False


def _mount(place, *names):
    """A small disk for each of these folders, which only this fault's commands see;
    until the fault's end.
    """
    mounts = [f"mount -t tmpfs -o size={ROOM} tmpfs {place.root / name}" for name in names]
    text = " && ".join([*mounts, "echo mounted", "exec sleep 1000"])
    holder = subprocess.Popen(
        ["unshare", "-rm", "sh", "-c", text], stdout=subprocess.PIPE, text=True, cwd="/"
    )
    if holder.stdout.readline() != "mounted\n":
        raise OSError("the disk was not mounted")
    place.holder = holder
    place.before = ("nsenter", "-t", str(holder.pid), "-U", "-m", "--preserve-credentials", "--")


def _call(place, *words):
    """Call mount or umount within the mounts of this fault;
    the kernel refuses as long as a file is open in there.
    """
    until = time.monotonic() + PATIENCE_S
    command = [*place.before, *map(str, words)]
    while subprocess.run(command, capture_output=True).returncode and time.monotonic() < until:
        time.sleep(0.01)
    if time.monotonic() >= until:
        subprocess.run(command, check=True, capture_output=True)


def full_disk(place):
    """The disk of the results, or that of temporary files, is full: from the start,
    or from a random moment on.
    """
    chance = place.chance
    place.plan(
        f"during: true, INVALID or none; after: {toys.TRUTH}, every run once",
        folder=chance.choice(("results", "results", "tmp")), free_bytes=4096 * chance.randrange(0, 40),
        after_records=chance.choice((None, 0, 1, 2)), delay_s=round(chance.uniform(0, 0.5), 3),
    )  # fmt: skip
    plan = place.details
    place.write_bugs(pause=0.02)
    _mount(place, plan["folder"])
    disk = place.seen(place.root / plan["folder"])
    if plan["after_records"] is None:
        _fill(disk, plan["free_bytes"])
        command = place.start()
    else:
        command = place.start()
        place.missed = not place.wait(command, plan["after_records"], plan["delay_s"])
        _fill(disk, plan["free_bytes"])
    place.judge(place.end(command), ANY)
    place.no_orphans()
    (disk / "filling").unlink()
    place.judge_end(place.run())


def _fill(disk, free_bytes):
    """Leave so many bytes on a disk."""
    room = os.statvfs(disk)
    size = max(0, room.f_bavail * room.f_frsize - free_bytes)
    with (disk / "filling").open("wb") as file:
        try:
            os.posix_fallocate(file.fileno(), 0, max(1, size))
        except OSError:  # what a command has written meanwhile
            return


def limited_files(place):
    """No file may be longer than some bytes (RLIMIT_FSIZE): from the start,
    or from a random moment on.
    """
    chance = place.chance
    place.plan(
        f"during: true, INVALID or none; after: {toys.TRUTH}, every run once",
        bytes=chance.choice((0, 1, 100, 500, 1000, 2000, 4000)), after_records=chance.choice((None, 0, 1, 2)),
        delay_s=round(chance.uniform(0, 0.4), 3),
    )  # fmt: skip
    plan = place.details
    place.write_bugs(pause=0.02)
    limit = (plan["bytes"], resource.RLIM_INFINITY)
    if plan["after_records"] is None:
        command = place.start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    else:
        command = place.start()
        place.missed = not place.wait(command, plan["after_records"], plan["delay_s"])
        if not place.missed:
            resource.prlimit(command.pid, resource.RLIMIT_FSIZE, limit)
    place.judge(place.end(command), ANY)
    place.no_orphans()
    place.judge_end(place.run())


def read_only(place):
    """The results folder, or that of temporary files, becomes read-only: before a command,
    or while it runs.
    """
    chance = place.chance
    place.plan(
        f"during: true, INVALID or none; after: {toys.TRUTH}, every run once",
        folder=chance.choice(("results", "results", "tmp")), after_records=chance.choice((None, 0, 1, 2)),
        delay_s=round(chance.uniform(0, 0.4), 3),
    )  # fmt: skip
    plan = place.details
    place.write_bugs(pause=0.02)
    _mount(place, plan["folder"])
    folder = place.root / plan["folder"]
    if plan["after_records"] is None:
        place.judge(
            place.run(
                "run",
                place.root / "bugs" / "Toy-1",
                *place.options,
                "--results",
                place.root / "results",
            ),
            ANY,
        )
        _call(place, "mount", "-o", "remount,ro", folder)
        command = place.start()
    else:
        command = place.start()
        place.missed = not place.wait(command, plan["after_records"], plan["delay_s"])
        # What is open stays writable, as on a disk that the kernel sets read-only after an error.
        _call(place, "mount", "--bind", folder, folder)
        _call(place, "mount", "-o", "remount,bind,ro", folder)
    place.judge(place.end(command), ANY)
    place.no_orphans()
    _call(
        place,
        *(["mount", "-o", "remount,rw"] if plan["after_records"] is None else ["umount"]),
        folder,
    )
    place.judge_end(place.run())
