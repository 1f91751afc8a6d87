"""Damage to records, to the bookkeeping beside them, to environments, and to times."""

import json
import os
import shutil
import subprocess
from contextlib import suppress

from injection import toys

TRUE = {bug: (truth,) for bug, truth in toys.TRUTH.items()}
IN_PLACE = {
    "pipe": os.mkfifo,
    "folder": os.mkdir,
    "full folder": lambda path: (path / "inner").mkdir(parents=True),
    "lost link": lambda path: path.symlink_to("nothing"),
    "link to a device": lambda path: path.symlink_to("/dev/zero"),
}
BYTES = {
    "nothing": lambda data, chance: b"",
    "cut": lambda data, chance: data[: chance.randrange(len(data))],
    "doubled": lambda data, chance: data * 2,
    "random bytes": lambda data, chance: chance.randbytes(len(data)),
    "some bytes": lambda data, chance: _some_bytes(data, chance),
    "metrics": lambda data, chance: _edited(data, chance),
    "fewer metrics": lambda data, chance: _with(data, metrics=json.loads(data)["metrics"][:-1]),
    "no metrics": lambda data, chance: _with(data, metrics=[]),
    "status": lambda data, chance: _with(data, status=chance.choice(("crashed", "timeout", "fine", None, 1))),
    "deep": lambda data, chance: b"[" * 100_000,
    "large numbers": lambda data, chance: _with(data, wall_s=10**400, seed=-1),
}  # fmt: skip


def damaged_record(place):
    """One or two records of a finished command; what was damaged is done again,
    and nothing else.
    """
    damage = place.chance.choice((*BYTES, *BYTES, *IN_PLACE))
    place.plan(f"after: {toys.TRUTH}; what is damaged is done again, nothing else", how=damage)
    targets = _finished(place, place.chance.choice((1, 1, 2)))
    for path in targets:
        whole = place.results / path
        if damage in BYTES:
            whole.write_bytes(BYTES[damage](whole.read_bytes(), place.chance))
        else:
            whole.unlink()
            IN_PLACE[damage](whole)
    _look(place)
    if "folder" in damage:  # a command cannot replace it, and says so
        ended = place.run()
        place.judge(ended, TRUE, targets)
        if ended.status != 2 or "Is a directory" not in ended.err:
            place.harm["wrong verdicts"].append(
                f"a folder in the place of a record: {ended.status}, {ended.err[-200:]}"
            )
        for path in targets:
            with suppress(FileNotFoundError, NotADirectoryError):
                shutil.rmtree(place.results / path)
    place.judge_end(place.run(), damaged=targets)


def foreign_record(place):
    """The record of another run in the place of one, as it is, or with fields changed to fit."""
    chance = place.chance
    fits = chance.choice(
        ((), ("bug",), ("bug", "variant", "seed"), ("bug", "variant", "seed", "key"), ("key",))
    )
    place.plan(f"after: {toys.TRUTH}; the record is done again, nothing else", fields_changed=fits)
    place.details["seeds"] = 2
    (target,) = _finished(place, 1)
    source = chance.choice(sorted(path for path in place.good if path != target))
    record = json.loads(place.good[target])
    data = (
        place.good[source]
        if not fits
        else _with(place.good[source], **{name: record[name] for name in fits})
    )
    place.details |= {"from": str(source), "to": str(target)}
    (place.results / target).write_bytes(data)
    _look(place)
    place.judge_end(place.run(), damaged=[target])


def bookkeeping(place):
    """The index, the locks, or what a killed command has left there: damaged,
    and no run is lost by it.
    """
    chance = place.chance
    name, damage = (
        chance.choice((".index", ".index", ".claims", "verdict")),
        chance.choice((*IN_PLACE, "cut", "random bytes")),
    )
    place.plan(f"after: {toys.TRUTH}, nothing is done again", file=name, how=damage)
    _finished(place, 0)
    path = place.results / (name if name != "verdict" else "Toy-1/only/verdict.json")
    data = path.read_bytes() if path.exists() else b""
    path.unlink(missing_ok=True)
    if damage in IN_PLACE:
        IN_PLACE[damage](path)
    else:
        path.write_bytes(BYTES[damage](data or b" ", chance))
    _look(place)
    ended = place.run()
    if damage in IN_PLACE:
        # A command may refuse it, in one line; it goes on once that is removed.
        if ended.status == 2 and path.name not in ended.err:
            place.harm["wrong verdicts"].append(f"{path.name}: exit status 2: {ended.err[-300:]}")
        if os.path.lexists(path) and not (path.is_file() and not path.is_symlink()):
            (shutil.rmtree if path.is_dir() and not path.is_symlink() else os.unlink)(path)
            ended = place.run()
    place.judge_end(ended)


def environment(place):
    """A built environment in which a file was added, changed or removed: INVALID,
    until it is mended.
    """
    chance = place.chance
    damage = chance.choice(
        ("added", "added", "changed", "changed", "same size", "removed", "linked", "pipe", "cut")
    )
    place.plan(
        f"with the damage: INVALID; mended: {toys.TRUTH}",
        how=damage,
        first=chance.choice((False, True)),
    )
    place.options = ()
    place.write_bugs()
    cache = place.root / "cache"
    shutil.copytree(place.shared.root / "cache", cache, symlinks=True)
    (build,) = cache.glob("environments/toy-*/")
    environ = {"TRAINBUGS_CACHE": str(cache)}
    if place.details["first"]:
        place.judge(place.run(environ=environ), TRUE)
    backup = place.root / "kept"
    shutil.copytree(build, backup, symlinks=True)
    place.details["file"] = _damage(build, damage, chance)
    ended = place.run(environ=environ)
    # The runs were done again, in an environment that is not theirs: their records say so.
    place.judge(ended, {bug: ("INVALID",) for bug in toys.TRUTH}, tuple(place.good))
    if ended.status != 2:
        place.harm["wrong verdicts"].append(
            f"a damaged environment: exit status {ended.status}, expected 2"
        )
    shutil.rmtree(build)
    backup.rename(build)
    place.judge_end(place.run(environ=environ))


def clock(place):
    """Times that lie in the past or the future: of files, and within records;
    a monotonic clock that jumps.
    """
    chance = place.chance
    when = chance.choice((0, 1, 1_000_000_000, 4_000_000_000, 2**31 - 1, 2**33))
    damage = chance.choice(("files", "files", "records", "monotonic"))
    place.plan(f"after: {toys.TRUTH}, nothing is done again", how=damage, when=when)
    _finished(place, 0)
    if damage == "files":
        some = sorted(path for path in place.root.rglob("*") if not path.is_symlink())
        for path in chance.sample(some, chance.randrange(1, len(some))):
            os.utime(path, (when, when))
    if damage == "records":
        for path, data in place.good.items():
            place.good[path] = _with(
                data, started=chance.choice(("2100-01-01", "1970-01-01")) + "T00:00:00.000+00:00"
            )
            (place.results / path).write_bytes(place.good[path])
    _look(place)
    seconds = str(when % 2**31)
    jump = ("unshare", "-r", "-T", "--monotonic", seconds, "--boottime", seconds)
    place.before = jump if damage == "monotonic" and _can_run([*jump, "true"]) else ()
    place.judge_end(place.run())


def _finished(place, number):
    """Run all toys, and choose so many of the records."""
    place.write_bugs()
    place.judge_end(place.run())
    targets = place.chance.sample(sorted(place.good), number)
    if targets:
        place.details["records"] = [str(path) for path in targets]
    return targets


def _look(place):
    """The table of runs can be shown whatever lies there."""
    if place.chance.random() < 0.3:
        ended = place.run("results", "--results", place.root / "results")
        if ended.status not in (0, 2):
            place.harm["wrong verdicts"].append(
                f"results: exit status {ended.status}: {ended.err[-200:]}"
            )


def _damage(build, damage, chance):
    """Damage one file of a build; returns which."""
    (site,) = build.glob("lib/python*/site-packages")
    folder = chance.choice((site, site / "toypackage", build / "bin"))
    if damage == "added":
        path = folder / chance.choice(("sitecustomize.py", "odd.pth", "new.py", "data", ".hidden"))
        path.write_text(chance.choice(("", "import os\n")))
        return str(path.relative_to(build))
    files = [
        p for p in folder.rglob("*") if p.is_file() and not p.is_symlink() and p.stat().st_size > 1
    ]
    path = chance.choice(sorted(files))
    data = path.read_bytes()
    path.unlink()
    if damage == "changed":
        path.write_bytes(data + b"\n")
    elif damage == "same size":
        path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    elif damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "linked":
        path.symlink_to("/etc/hostname")
    elif damage == "pipe":
        os.mkfifo(path)
    return str(path.relative_to(build))


def _some_bytes(data, chance):
    changed = bytearray(data)
    for _ in range(chance.randrange(1, 5)):
        changed[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(changed)


def _edited(data, chance):
    metrics = json.loads(data)["metrics"]
    edit = chance.choice(
        (lambda value: value * 2, lambda value: value + 1, lambda value: 0, lambda value: -value)
    )
    for record in metrics[chance.randrange(len(metrics)) :]:
        record["value"] = edit(record["value"]) if edit(record["value"]) != record["value"] else 99
    return _with(data, metrics=metrics)


def _with(data, **changes):
    return (json.dumps(json.loads(data) | changes, indent=1) + "\n").encode()


def _can_run(argv):
    try:
        return subprocess.run(argv, capture_output=True).returncode == 0
    except OSError:
        return False
