"""Kills of the command, of the watcher of a run, of its script and of the script's children,
at random moments.
"""

import json
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from injection import processes, toys

SIGNALS = {9: signal.SIGKILL, 15: signal.SIGTERM, 2: signal.SIGINT}
# Whatever a kill hits: no verdict, the true one, or INVALID.
ANY = {bug: (truth, "INVALID", None) for bug, truth in toys.TRUTH.items()}
REAL = "PyTorch-115607/simple"


def _plan(place, role):
    chance = place.chance
    number, jobs = chance.choice((9, 9, 15, 2)), chance.choice((1, 1, 2, 3))
    place.plan(
        f"during: true, INVALID or none; after: {toys.TRUTH}, every run once",
        role=role, signal=number, jobs=jobs, after_records=chance.choice((0, 0, 1, 2, 3)),
        delay_s=round(chance.uniform(0, 0.5), 3), pause_s=round(chance.uniform(0.02, 0.08), 3),
    )  # fmt: skip
    place.options = (*place.options, "-j", str(jobs))
    place.write_bugs(pause=place.details["pause_s"], begin=toys.CHILDREN, hold=place.hold)
    return place.details


def kill_runner(place):
    """The command itself: nothing that it has started goes on,
    and the same command goes on from there.
    """
    plan = _plan(place, "runner")
    # The children of a shell's background job ignore interrupts; this one must not.
    command = place.start(preexec_fn=_hear_interrupts)
    place.missed = not place.wait(command, plan["after_records"], plan["delay_s"])
    # A script that was left alone would end soon, and be taken for one that was ended.
    place.hold.touch()
    # All at once, as a batch system does it, or a power cut.
    plan["all"] = place.chance.random() < 0.25
    while plan["all"] and (found := processes.find(place.root)):
        for process in found:
            processes.send(process.pid, signal.SIGKILL)
    processes.send(command.pid, SIGNALS[plan["signal"]])
    _end_and_again(place, command)


def kill_watcher(place):
    """runner/sandbox/supervisor.py of one run."""
    _kill_one_of_a_run(place, "watcher")


def kill_script(place):
    """The script of one run."""
    _kill_one_of_a_run(place, "script")


def kill_child(place):
    """A process that the script has started."""
    _kill_one_of_a_run(place, "child")


def kill_evaluation(place):
    """`evaluate`, while programs run bare or a detector looks at them."""
    chance = place.chance
    place.plan(
        "after: the detector is right about both programs of each bug; nothing is left",
        signal=chance.choice((9, 9, 15, 2)), after_records=chance.choice((0, 2, 4, 4)),
        delay_s=round(chance.uniform(0, 3), 3),
    )  # fmt: skip
    place.write_bugs(pause=0.02)
    detector = toys.write_detector(place.root / "honest", toys.HONEST)
    words = evaluate_words(place, [detector])
    command = place.start(*words, preexec_fn=_hear_interrupts)
    place.missed = not place.wait(command, place.details["after_records"], place.details["delay_s"])
    processes.send(command.pid, SIGNALS[place.details["signal"]])
    place.judge(place.end(command), ANY)
    place.no_orphans()
    before = checks(place)
    ended = place.run(*words)
    judge_checks(place, ended, 0)
    place.harm["lost runs"] += [
        f"{path}" for path, data in before.items() if checks(place).get(path) != data
    ]
    place.no_leftovers()


def kill_promotion(place):
    """`run --update-expected`, while it replaces committed records: all are the old ones,
    or all are the new ones.
    """
    chance = place.chance
    place.plan(
        "after `validate`: the old records or the new ones, whole; after: the new ones",
        delay_s=round(chance.uniform(0, 0.6), 4), seeds=3,
    )  # fmt: skip
    place.options = ()
    bug, *_ = place.write_bugs()
    # Records of several commits do not belong together: all are made anew.
    words = ("run", bug, "--update-expected", "--force", "--results", place.root / "results")
    _commit(place.root / "bugs")
    place.judge(place.run(*words), {"Toy-1": ("REPRODUCED",)})
    old = _keys(bug)
    script = bug / "fixed.py"
    script.write_text("# changed\n" + script.read_text())
    _commit(place.root / "bugs")
    records = len(list(place.results.glob("*/*/*-seed*.json")))
    command = place.start(*words, preexec_fn=_hear_interrupts)
    place.missed = not place.wait(command, records + place.seeds, place.details["delay_s"])
    processes.send(command.pid, signal.SIGKILL)
    place.judge(place.end(command), ANY, tuple(place.good))
    place.no_orphans()
    place.run("validate", bug)
    between = _keys(bug)
    place.judge(place.run(*words), {"Toy-1": ("REPRODUCED",)}, tuple(place.good))
    new = _keys(bug)
    if len(old) != 2 * place.seeds or new == old or between not in (old, new):
        place.harm["lost runs"].append(
            f"{len(old)} old, {len(between)} between, {len(new)} new records"
        )
    place.harm["leftover folders"] += [path.name for path in bug.rglob(".*")]
    place.no_leftovers()


def _commit(folder):
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "toys"]):
        subprocess.run([*git, *words], check=True, capture_output=True)


def _keys(bug):
    """The keys of the committed records of a bug, by their paths."""
    return {
        path.name: json.loads(path.read_text())["key"]
        for path in bug.glob("expected/**/*-seed*.json")
    }


def real(place):
    """A real bug in the place of the toys, with the interpreter of torch-2.2.2;
    the command is killed.
    """
    chance = place.chance
    bug, _, case = REAL.partition("/")
    place.plan(
        "during: REPRODUCED, INVALID or none; after: REPRODUCED, every run once",
        bug=REAL, signal=chance.choice((9, 15, 2)), after_records=chance.choice((0, 1)),
        delay_s=round(chance.uniform(0, 8), 3),
    )  # fmt: skip
    target = place.shared.code / "real" / bug / case
    words = (
        "run",
        target,
        "--python",
        real_python(),
        "--seeds",
        "0",
        "--results",
        place.root / "results",
    )
    command = place.start(*words, preexec_fn=_hear_interrupts)
    place.missed = not place.wait(command, place.details["after_records"], place.details["delay_s"])
    processes.send(command.pid, SIGNALS[place.details["signal"]])
    place.judge(place.end(command), {bug: ("REPRODUCED", "INVALID", None)})
    place.no_orphans()
    place.judge_end(place.run(*words), {bug: "REPRODUCED"})


def real_python():
    """The interpreter of the environment torch-2.2.2, if that has been built on this machine."""
    return next(Path.home().glob(".cache/trainbugs/environments/torch-2.2.2-*/bin/python"), None)


def evaluate_words(place, detectors):
    """The command line that evaluates detectors on all toy bugs."""
    return (
        "evaluate", "--detector", *detectors, "--bugs", *sorted((place.root / "bugs").iterdir()), "--controls", "none",
        "--overhead", "none", "--python", sys.executable, "--results", place.root / "results",
        "--out", place.root / "scores",
    )  # fmt: skip


def checks(place, detector="honest"):
    """The bytes of a detector's records, by path."""
    return {
        path: path.read_bytes()
        for path in place.results.glob(f"detectors/{detector}/none/*/*/*-*.json")
    }


def judge_checks(place, ended, status):
    """Note where the honest detector's records are not those of an undisturbed evaluation."""
    records = [json.loads(data) for data in checks(place).values()]
    wrong = [
        f"{record['bug']} {record['kind']}: {record['status']}, {len(record['alarms'])} alarms"
        for record in records
        if record["status"] != "ok"
        or len(record["alarms"]) != (toys.FACTORS[record["bug"]][record["kind"]] == 1)
    ]
    if ended.status != status:
        wrong.append(
            f"exit status {ended.status}, expected {status}: {ended.err.strip().splitlines()[-1:]}"
        )
    place.harm["wrong verdicts"] += wrong
    if len(records) != 2 * len(toys.FACTORS):
        place.harm["lost runs"].append(f"{len(records)} checks, expected {2 * len(toys.FACTORS)}")


def _kill_one_of_a_run(place, role):
    plan = _plan(place, role)
    # Else most of them would be hit as soon as they are born.
    plan["age_s"] = round(place.chance.uniform(0, 5 * plan["pause_s"]), 3)
    command = place.start()
    place.wait(command, plan["after_records"], 0)
    candidates, born = [], None
    while command.poll() is None:
        candidates = processes.by_role(place.root, command.pid)[role]
        born = born or (time.monotonic() if candidates else None)
        if candidates and time.monotonic() > born + plan["age_s"]:
            break
        time.sleep(0.005)
    place.missed = not candidates
    for pid in candidates[:1]:
        processes.send(pid, SIGNALS[plan["signal"]])
    _end_and_again(place, command)


def _end_and_again(place, command):
    place.judge(place.end(command), ANY)
    place.no_orphans()
    place.hold.unlink(missing_ok=True)
    place.judge_end(place.run())


def _hear_interrupts():
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.default_int_handler)
