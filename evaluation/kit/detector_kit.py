"""What an adapter in Python need not write itself: the two verbs, running a program, and the answer's form.

    from detector_kit import alarm, main

    def check(target, state):
        return {"alarms": [alarm("my-rule", "what is wrong", line=3)]}

    main(check)

It uses the standard library only and is importable in every adapter. What a target holds is told in the README.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace


class UnsupportedError(Exception):
    """Raised by an adapter for a program that its tool cannot look at."""


class ToolError(Exception):
    """Raised by an adapter whose tool has failed."""


class ToolTimeoutError(Exception):
    """Raised where a program has not ended in time."""


STATUSES = {UnsupportedError: "unsupported", ToolError: "tool_error", ToolTimeoutError: "timeout"}


def alarm(
    code,
    message,
    severity="warning",
    iteration=None,
    file=None,
    line=None,
    api=None,
    parameter=None,
):
    """One alarm, for the list `alarms` of a verdict."""
    return {
        "code": code,
        "message": message,
        "severity": severity,
        "iteration": iteration,
        "file": file,
        "line": line,
        "api": api,
        "parameter": parameter,
    }


def run(arguments, directory, timeout_s, packages=(), log="run"):
    """Run a program in `directory`; returns (exit status, seconds, standard error). Raises ToolTimeoutError.

    `packages` are put behind PYTHONPATH; the output is kept as <log>.out and <log>.err in the present directory.
    """
    path = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), *packages])
    out, err = Path(f"{log}.out"), Path(f"{log}.err")
    start = time.perf_counter()
    with out.open("w") as stdout, err.open("w") as stderr:
        try:
            done = subprocess.run(
                [str(argument) for argument in arguments],
                cwd=directory, timeout=timeout_s, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, check=False,
                env={**os.environ, "PYTHONPATH": path},
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise ToolTimeoutError(f"not done after {timeout_s:.0f} s") from error
    return done.returncode, time.perf_counter() - start, err.read_text(errors="replace")


def launch(target, monitor, log="launch"):
    """Run a target's program under a monitor (None: only a stopwatch); returns alarms and training of a verdict."""
    found = Path(f"{log}.json").resolve()
    options = ["--monitor", Path(monitor).resolve()] if monitor else []
    for path in target.packages:
        options += ["--path", path]
    command = [target.python, target.launcher, found, *options, target.script, *target.arguments]
    status, _, stderr = run(command, target.directory, target.timeout_s, log=log)
    if not found.is_file():
        raise ToolError(f"the launcher ended with {status}: {error_line(stderr)}")
    result = json.loads(found.read_text())
    if result["error"]:
        print(result["traceback"], file=sys.stderr)
        raise ToolError(f"the monitor failed: {result['error']}")
    if status:
        raise ToolError(f"the program ended with {status}: {error_line(stderr)}")
    if not result["optimizers"]:
        raise UnsupportedError("no optimizer was seen: nothing is said of a training")
    return {
        "alarms": result["alarms"],
        "dropped": result["dropped"],
        "training": {"seconds": result["loop_s"], "of": "loop"},
    }


def error_line(text):
    """What went wrong, by what a program has written: the exception of its last traceback, else its last line.

    Some exceptions have advice below their message.
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    starts = [
        number
        for number, line in enumerate(lines)
        if line.startswith("Traceback (most recent call last):")
    ]
    after = [line for line in lines[starts[-1] + 1 :] if not line.startswith(" ")] if starts else []
    return (after or lines[-1:] or ["no message"])[0].strip()[:300]


def main(check, prepare=None):
    """Be an adapter: `check(target, state)` returns a verdict as a dict, `prepare(references, state)` fills `state`."""
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("prepare")
    one.add_argument("--refs", type=Path, required=True)
    two = verbs.add_parser("check")
    two.add_argument("--target", type=Path, required=True)
    two.add_argument("--out", type=Path, required=True)
    for each in (one, two):
        each.add_argument("--state", type=Path, required=True)
    given = parser.parse_args()
    if given.verb == "prepare":
        references = [
            SimpleNamespace(**each) for each in json.loads(given.refs.read_text())["references"]
        ]
        try:
            prepare(references, given.state)
        except tuple(STATUSES) as error:
            sys.exit(f"{type(error).__name__}: {error}")
        return
    try:
        verdict = {
            "status": "ok",
            **check(SimpleNamespace(**json.loads(given.target.read_text())), given.state),
        }
    except tuple(STATUSES) as error:
        verdict = {"status": STATUSES[type(error)], "reason": str(error)[:2000] or None}
    given.out.write_text(json.dumps(verdict, indent=1))
