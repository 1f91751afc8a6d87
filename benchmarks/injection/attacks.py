"""Attacks by a stranger's bug or detector: on other processes, on modes of files, on terminals,
by git, by links.
"""

import json
import os
import pty
import shutil
import subprocess

from injection import toys
from injection.kills import ANY, checks, evaluate_words, judge_checks
from runner.environments import manifest

# A user who is not the one of the campaign.
OTHER = 65_534

# Tries what another process of the command would suffer from.
LIMIT = """
import resource
for name in os.listdir("/proc"):
    try:
        if name.isdigit() and MARK.encode() in open(f"/proc/{name}/cmdline", "rb").read() and int(name) != os.getpid():
            for limit in (resource.RLIMIT_DATA, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CPU):
                resource.prlimit(int(name), limit, (16, 16))
    except OSError:
        pass
"""
PRIORITY = """
for name in os.listdir("/proc"):
    try:
        if name.isdigit() and MARK.encode() in open(f"/proc/{name}/cmdline", "rb").read() and int(name) != os.getpid():
            os.setpriority(os.PRIO_PROCESS, int(name), 19)
            gained = 99
    except OSError:
        pass
"""
# Types a command on every terminal, and reads what is typed there.
TYPE = """
import fcntl
for name in [n for n in os.listdir("/dev/pts") if n.isdigit()] if os.path.isdir("/dev/pts") else []:
    try:
        terminal = os.open(f"/dev/pts/{name}", os.O_RDWR | os.O_NOCTTY)
        gained = 99
        for character in "touch marks/typed; ":
            fcntl.ioctl(terminal, 0x5412, character.encode())
    except OSError:
        pass
"""
PROCESSES = {"limits": LIMIT, "priority": PRIORITY}
# What a script takes the rights of.
FOLDERS = (".", "..", "~", "os.environ['TMPDIR']", "RESULTS", "RESULTS + '/Toy-2'")


def on_processes(place):
    """A script that limits or slows every process that names the command's folder:
    all verdicts are true.
    """
    attack = place.chance.choice(sorted(PROCESSES))
    place.plan(str(toys.TRUTH), how=attack, isolation=_isolation(place))
    _with_attack(place, f"MARK = {str(place.root)!r}\n{PROCESSES[attack]}")
    environ = {"TRAINBUGS_ISOLATION": place.details["isolation"]}
    place.judge_end(place.run(environ=environ))


def on_modes(place):
    """A script that takes away rights of folders: its run may be INVALID,
    the other bug's verdict is true.
    """
    chance = place.chance
    folder, mode = chance.choice(FOLDERS), chance.choice((0, 0o500, 0o300))
    place.plan(
        "Toy-1: any; Toy-2: true; mended: all true",
        folder=folder,
        mode=oct(mode),
        last=chance.random() < 0.5,
    )
    path = f"os.path.expanduser({folder!r})" if folder in (".", "..", "~") else folder
    act = f"try: os.chmod({path}, {mode})\nexcept OSError: pass".replace(
        "RESULTS", repr(str(place.results))
    )
    changes = {"end": f"{toys.WRITE}\n{act}"} if place.details["last"] else {"begin": act}
    for name, factor in toys.FACTORS["Toy-1"].items():
        place.write_bugs()
        (place.root / "bugs" / "Toy-1" / f"{name}.py").write_text(toys.script(factor, **changes))
    place.judge(place.run(), {**ANY, "Toy-2": (toys.TRUTH["Toy-2"],)})
    place.no_leftovers()
    place.write_bugs()
    place.judge(place.run(), {bug: (verdict,) for bug, verdict in toys.TRUTH.items()})
    place.no_leftovers()


def on_terminal(place):
    """A script that reads and types on every terminal that it sees, while the command has one."""
    place.plan(f"{toys.TRUTH}, nothing is typed")
    _with_attack(place, TYPE)
    leader, follower = pty.openpty()
    try:
        ended = place.end(place.start(stdin=follower))
        place.no_orphans()
    finally:
        os.close(follower)
        os.close(leader)
    place.judge_end(ended)
    place.no_escape()


def by_git(place):
    """A bug and a detector that look like repositories,
    whose configuration names a program to run.
    """
    key = place.chance.choice(("fsmonitor", "hooksPath", "sshCommand", "pager", "filter"))
    bare = place.chance.random() < 0.5
    place.plan(f"{toys.TRUTH}, nothing of it runs", key=key, bare=bare)
    directories = [*place.write_bugs(), toys.write_detector(place.root / "honest", toys.HONEST)]
    for directory in directories:
        _look_like_a_repository(directory, place.root, key, bare)
    place.judge_end(place.run())
    place.end(place.start(*evaluate_words(place, [directories[-1]])))
    place.no_orphans()
    place.no_escape()


def by_links(place):
    """A detector with a link that leads out of its folder: refused in one line,
    and nothing of it is read.
    """
    target = place.chance.choice(
        ("/etc", str(place.root / "bugs"), "/etc/hostname", str(place.root))
    )
    name = place.chance.choice(("data", "helper.py", "sub/data"))
    place.plan("refused with exit status 2", target=target, name=name)
    place.write_bugs()
    detector = toys.write_detector(place.root / "linking", toys.HONEST)
    (detector / name).parent.mkdir(exist_ok=True)
    (detector / name).symlink_to(target)
    ended = place.end(place.start(*evaluate_words(place, [detector])))
    lines = [line for line in ended.err.splitlines() if line.startswith("trainbugs: ")]
    if ended.status != 2 or len(lines) != 1:
        place.harm["escapes"].append(
            f"{name} -> {target}: exit status {ended.status}: {ended.err[-200:]}"
        )
    place.no_orphans()
    place.no_leftovers()


def on_cache(place):
    """A cache in which somebody else may put a program into the place of the interpreter: refused,
    and not run.
    """
    attack = (
        place.chance.choice(("owner", "everybody", "folder above"))
        if os.geteuid() == 0
        else "everybody"
    )
    place.plan("INVALID or refused, and nothing of it runs; mended: true", how=attack)
    place.options = ()
    place.write_bugs()
    (place.root / "marks").mkdir()
    cache = place.root / "cache"
    shutil.copytree(place.shared.root / "cache", cache, symlinks=True)
    (build,) = cache.glob("environments/toy-*/")
    backup = place.root / "kept"
    shutil.copytree(build, backup, symlinks=True)
    _replace_interpreter(build, place.root / "marks" / "ran")
    _give_away(build, attack)
    environ = {"TRAINBUGS_CACHE": str(cache)}
    ended = place.end(place.start(environ=environ))
    place.no_orphans()
    place.no_escape()
    if ended.status != 2:
        place.harm["escapes"].append(f"{attack}: exit status {ended.status}: {ended.err[-200:]}")
    shutil.rmtree(cache)
    (cache / "environments").mkdir(parents=True)
    backup.rename(cache / "environments" / build.name)
    place.judge_end(place.run(environ=environ))


# What a detector leaves as the records of the program that it ran, and what its check is then.
FORGED = {
    "part": ("records[:1]", "disturbed"),
    "changed": ("[{**record, 'value': 0.5} for record in records]", "disturbed"),
    "renamed": ("[{'other': record['value']} for record in records]", "tool_error"),
    "twice": ("records * 2", "disturbed"),
    "none": ("[]", "tool_error"),
}
FORGE = """
import subprocess
def check(target, state):
    folder = Path(target.directory)
    subprocess.run([target.python, target.script, *target.arguments], cwd=folder, check=True, capture_output=True)
    path = folder / "metrics.json"
    records = json.loads(path.read_text())
    path.write_text(json.dumps(RECORDS))
    return {"alarms": [alarm("low", "found at once", severity="error")]}

main(check)
"""


def forged_measure(place):
    """A detector that runs the program, and leaves other records: its check has no score."""
    attack = place.chance.choice(sorted(FORGED))
    records, status = FORGED[attack]
    place.plan(f"forging: {status}; honest: right about all programs", how=attack)
    place.write_bugs()
    forging = toys.write_detector(place.root / "forging", FORGE.replace("RECORDS", records))
    described = json.loads((forging / "detector.json").read_text()) | {
        "needs": ["source", "in_process"]
    }
    (forging / "detector.json").write_text(json.dumps(described))
    honest = toys.write_detector(place.root / "honest", toys.HONEST)
    judge_checks(place, place.run(*evaluate_words(place, [forging, honest])), 1)
    forged_records = [json.loads(data) for data in checks(place, "forging").values()]
    wrong = [
        f"{record['bug']} {record['kind']}: {record['status']}"
        for record in forged_records
        if record["status"] != status
    ]
    place.harm["escapes"] += [f"forging {attack}: {text}, expected {status}" for text in wrong]
    if len(forged_records) != 4:
        place.harm["lost runs"].append(
            f"{len(forged_records)} checks of the forging detector, expected 4"
        )
    place.no_leftovers()


def _replace_interpreter(build, mark):
    """Put a program into the place of the interpreter, and write the manifest of the build anew."""
    python = build / "bin" / "python"
    real = python.resolve()
    python.unlink()
    python.write_text(f'#!/bin/sh\ntouch {mark}\nexec {real} "$@"\n')
    python.chmod(0o755)
    manifest.write(build, {})


def _give_away(build, method):
    """Let others than the user and root change the build."""
    if method == "owner":
        for path in (build, *build.rglob("*")):
            os.chown(path, OTHER, OTHER, follow_symlinks=False)
    else:
        (build if method == "everybody" else build.parent).chmod(0o777)


def _isolation(place):
    return place.chance.choice(("", "", "landlock", "none"))


def _with_attack(place, text):
    """Toy bugs whose scripts begin with an attack; where it gains something,
    their numbers are wrong.
    """
    (place.root / "marks").mkdir()
    gains = f"gained = 1\n{text}"
    for directory in place.write_bugs():
        for name, factor in toys.FACTORS[directory.name].items():
            script = toys.script(f"gained * {factor}", begin=gains)
            (directory / f"{name}.py").write_text(script)


def _look_like_a_repository(directory, root, key, bare):
    """Write what git takes for a repository, with a configuration that would run a program."""
    (root / "marks").mkdir(exist_ok=True)
    run = directory / "run.sh"
    run.write_text(f"#!/bin/sh\ntouch {root}/marks/{key}\nexit 1\n")
    run.chmod(0o755)
    git = ["git", "-C", str(directory), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "a toy"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    folder = directory / ".git"
    if bare:
        for path in folder.iterdir():
            path.rename(directory / path.name)
        folder.rmdir()
        folder = directory
    (folder / "hooks").mkdir(exist_ok=True)
    hook = folder / "hooks" / "post-index-change"
    hook.write_text(run.read_text())
    hook.chmod(0o755)
    lines = ["[core]", "\tbare = false", f"\tworktree = {directory}"]
    lines += {
        "fsmonitor": [f"\tfsmonitor = {run}"],
        "hooksPath": [f"\thooksPath = {folder / 'hooks'}"],
        "sshCommand": [
            f"\tsshCommand = {run}",
            '[remote "origin"]',
            "\turl = ssh://localhost/x",
            "\tpromisor = true",
        ],
        "pager": [f"\tpager = {run}"],
        "filter": ['[filter "x"]', f"\tclean = {run}", f"\tsmudge = {run}"],
    }[key]
    (folder / "config").write_text("\n".join(lines) + "\n")
    (directory / ".gitattributes").write_text("* filter=x\n")
