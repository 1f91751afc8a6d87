"""Runs that are not whole, detectors with hostile answers, and commands that run at once."""

import json
import re
import tempfile
from pathlib import Path

from injection import toys
from injection.kills import checks, evaluate_words, judge_checks

# How a script ends with status 0 and has not written the records of a whole run.
CUTS = {
    "half": 'open("metrics.json", "w").write(json.dumps(records[: len(records) // 2]))',
    "one fewer": 'open("metrics.json", "w").write(json.dumps(records[:-1]))',
    "the first": 'open("metrics.json", "w").write(json.dumps(records[:1]))',
    "doubled": 'open("metrics.json", "w").write(json.dumps(records * 2))',
    "one twice": 'open("metrics.json", "w").write(json.dumps(records[:-1] + records[-2:-1]))',
    "none": 'open("metrics.json", "w").write("[]")',
    "no file": "",
    "half a file": 'open("metrics.json", "w").write(json.dumps(records)[:-9])',
    "ended early": 'open("metrics.json", "w").write(json.dumps(records[:2])); os._exit(0)',
    "a pipe": 'os.mkfifo("metrics.json")',
    "a link": 'os.symlink("/dev/zero", "metrics.json")',
}
WRITE = "Path('verdict.json').write_text"
FOUND = '{"code": "c", "message": "m", "severity": "error"'
# What a detector does, and its status; the last ones are no failures.
HOSTILE = {
    "pipe": ("os.mkfifo('verdict.json')", "tool_error"),
    "link to a device": ("os.symlink('/dev/zero', 'verdict.json')", "tool_error"),
    "link out": ("os.symlink('/etc/passwd', 'verdict.json')", "tool_error"),
    "folder": ("os.mkdir('verdict.json')", "tool_error"),
    "nothing": ("", "tool_error"),
    "large number": (
        f"""{WRITE}('{{"status": "ok", "alarms": [{FOUND}, "iteration": 1{"0" * 30}}}]}}')""",
        "tool_error",
    ),
    "large line": (
        f"""{WRITE}('{{"status": "ok", "alarms": [{FOUND}, "line": 1{"0" * 300}}}]}}')""",
        "tool_error",
    ),
    "surrogate": (
        f"""{WRITE}('{{"status": "ok", "alarms": [{FOUND}, "api": "\\\\ud800"}}]}}')""",
        "tool_error",
    ),
    "long name": (
        f"{WRITE}(json.dumps({{'status': 'ok', 'artefacts': ['a' * 3000]}}))",
        "tool_error",
    ),
    "name with a zero": (
        f"{WRITE}(json.dumps({{'status': 'ok', 'artefacts': ['a\\0b']}}))",
        "tool_error",
    ),
    "bytes": ("Path('verdict.json').write_bytes(os.urandom(5000))", "tool_error"),
    "deep": (f"{WRITE}('[' * 100_000)", "tool_error"),
    "exit status 1": ("sys.exit(1)", "tool_error"),
    "exit status 255": ("sys.exit(255)", "tool_error"),
    "killed": ("os.kill(os.getpid(), 9)", "tool_error"),
    "kills its group": ("os.killpg(0, 15); time.sleep(60)", "tool_error"),
    "endless output": ("while True: os.write(1, b'x' * 65536)", "tool_error"),
    "a note of its own": ("os.mkfifo('peeked'); main(lambda target, state: {})", "ok"),
    "odd artefacts": (
        f"os.mkfifo('p'); os.symlink('/dev/zero', 'z'); {WRITE}(json.dumps("
        "{'status': 'ok', 'artefacts': ['p', 'z', '..', '/etc/passwd', 'a/' * 400]}))",
        "ok",
    ),
    "daemon": (
        "\nif os.fork() == 0:\n    os.setsid(); os.execv('/bin/sleep', ['sleep', '60'])\n"
        "main(lambda target, state: {})",
        "ok",
    ),
    "many alarms": (f"{WRITE}(json.dumps({{'status': 'ok', 'alarms': [{FOUND}}}] * 9999}}))", "ok"),
}


def cut_run(place):
    """A script that ends well with half of its records, twice of them, or none: INVALID,
    until it is mended.
    """
    cut, variant = (
        place.chance.choice(sorted(CUTS)),
        place.chance.choice(("buggy", "fixed", "both")),
    )
    place.plan(f"cut: INVALID; whole: {toys.TRUTH}", how=cut, variant=variant)
    directories = place.write_bugs()
    for directory in directories:
        for name, factor in toys.FACTORS[directory.name].items():
            if variant in (name, "both"):
                (directory / f"{name}.py").write_text(toys.script(factor, end=CUTS[cut]))
    ended = place.run()
    place.judge(ended, {bug: ("INVALID",) for bug in toys.TRUTH})
    if ended.status != 2:
        place.harm["wrong verdicts"].append(f"cut runs: exit status {ended.status}, expected 2")
    place.write_bugs()
    place.judge_end(place.run())


def hostile_answer(place):
    """A detector whose answer is none beside an honest one: each has its status,
    and both can be scored.
    """
    attack = place.chance.choice(sorted(HOSTILE))
    act, status = HOSTILE[attack]
    place.plan(
        f"hostile: {status}; honest: right about all programs; scores shows both", how=attack
    )
    place.write_bugs()
    hostile = toys.write_detector(place.root / "hostile", act)
    honest = toys.write_detector(place.root / "honest", toys.HONEST)
    judge_checks(
        place, place.run(*evaluate_words(place, [hostile, honest])), 0 if status == "ok" else 1
    )
    records = [json.loads(data) for data in checks(place, "hostile").values()]
    wrong = [
        f"{record['bug']} {record['kind']}: {record['status']}"
        for record in records
        if record["status"] != status
    ]
    place.harm["wrong verdicts"] += [f"hostile: {text}, expected {status}" for text in wrong]
    if len(records) != 4:
        place.harm["lost runs"].append(f"{len(records)} checks of the hostile detector, expected 4")
    scores = place.run(
        "scores",
        "--from",
        "results",
        "--results",
        place.root / "results",
        "--out",
        place.root / "out",
    )
    shown = [
        name for name in ("hostile", "honest") if re.search(rf"^{name}\b", scores.out, re.MULTILINE)
    ]
    if scores.status or len(shown) != 2:
        place.harm["wrong verdicts"].append(
            f"scores: {scores.status}, shows {shown}: {scores.err[-300:]}"
        )
    place.no_leftovers()


def at_once(place):
    """Two or three commands over one results folder: all end well, and each run is done once."""
    chance = place.chance
    starts = [0.0] + [round(chance.uniform(0, 1.0), 3) for _ in range(chance.choice((1, 1, 2)))]
    place.plan(
        f"each: {toys.TRUTH}; all together do each run once",
        starts_s=starts,
        jobs=chance.choice((1, 2, 3)),
    )
    place.options = (*place.options, "-j", str(place.details["jobs"]))
    # Without namespaces scripts may write beside their own folder: each run leaves a file there.
    place.environ = {"TRAINBUGS_ISOLATION": "landlock"}
    with tempfile.TemporaryDirectory(prefix="faults-", dir="/dev/shm") as counted:
        begin = f"import tempfile; tempfile.mkstemp(dir={counted!r})"
        place.write_bugs(pause=round(chance.uniform(0, 0.08), 3), begin=begin)
        _start_all(place, starts)
        place.judge_end(place.run())
        done = len(list(Path(counted).iterdir()))
    if done != 4 * place.seeds:
        place.harm["lost runs"].append(f"together they did {done} runs, expected {4 * place.seeds}")


def _start_all(place, starts):
    """Start a command that many seconds after the one before it, for each of `starts`,
    and judge them all.
    """
    commands = []
    for start in starts:
        if commands:
            place.wait(commands[-1], 0, start)
        commands.append(place.start())
    ended = [place.end(command) for command in commands]
    place.no_orphans()
    for command in ended:
        place.judge_end(command)
