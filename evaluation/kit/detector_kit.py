"""The parts that adapters in Python have in common: the two verbs, running a program, and the form of the answer.

    from detector_kit import alarm, main

    def check(target, state):
        return {"alarms": [alarm("my-rule", "what is wrong", line=3)]}

    main(check)

It uses the standard library only, and every adapter can import it. docs/detectors.md lists what a target holds.
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

    `packages` come behind PYTHONPATH. The output is kept as <log>.out and <log>.err in the present directory.
    """
    command = [str(argument) for argument in arguments]
    path = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), *packages])
    environment = {**os.environ, "PYTHONPATH": path}
    out, err = Path(f"{log}.out"), Path(f"{log}.err")
    start = time.perf_counter()
    with out.open("w") as stdout, err.open("w") as stderr:
        try:
            done = subprocess.run(
                command, cwd=directory, env=environment, timeout=timeout_s, check=False,
                stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise ToolTimeoutError(f"not done after {timeout_s:.0f} s") from error
    seconds = time.perf_counter() - start
    return done.returncode, seconds, err.read_text(errors="replace")


def launch(target, monitor, log="launch"):
    """Run a target's program under a monitor (None: only a stopwatch); returns alarms and training of a verdict."""
    out = Path(f"{log}.json").resolve()
    options = ["--monitor", Path(monitor).resolve()] if monitor else []
    for path in target.packages:
        options += ["--path", path]
    command = [target.python, target.launcher, out, *options, target.script, *target.arguments]
    status, _, stderr = run(command, target.directory, target.timeout_s, log=log)
    if not out.is_file():
        raise ToolError(f"the launcher ended with {status}: {error_line(stderr)}")
    report = json.loads(out.read_text())
    if report["error"]:
        print(report["traceback"], file=sys.stderr)
        raise ToolError(f"the monitor failed: {report['error']}")
    if status:
        raise ToolError(f"the program ended with {status}: {error_line(stderr)}")
    if not report["optimizers"]:
        raise UnsupportedError("no optimizer was seen: nothing is said of a training")
    return {
        "alarms": report["alarms"],
        "dropped": report["dropped"],
        "training": {"seconds": report["loop_s"], "of": "loop"},
    }


def error_line(text):
    """The line that tells why a program failed: the exception of its last traceback, else its last line.

    Some exceptions have advice below their message.
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    start = None
    for number, line in enumerate(lines):
        if line.startswith("Traceback (most recent call last):"):
            start = number
    exception = []
    if start is not None:
        exception = [line for line in lines[start + 1 :] if not line.startswith(" ")]
    message = (exception or lines[-1:] or ["no message"])[0]
    return message.strip()[:300]


def main(check, prepare=None):
    """Be an adapter: `check(target, state)` returns a verdict as a dict, `prepare(references, state)` fills `state`."""
    options = _parser().parse_args()
    if options.verb == "prepare":
        _prepare(prepare, options.refs, options.state)
    else:
        verdict = _check(check, options.target, options.state)
        options.out.write_text(json.dumps(verdict, indent=1))


def _parser():
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    prepare_parser = verbs.add_parser("prepare")
    prepare_parser.add_argument("--refs", type=Path, required=True)
    check_parser = verbs.add_parser("check")
    check_parser.add_argument("--target", type=Path, required=True)
    check_parser.add_argument("--out", type=Path, required=True)
    for verb_parser in (prepare_parser, check_parser):
        verb_parser.add_argument("--state", type=Path, required=True)
    return parser


def _prepare(prepare, path, state):
    described = json.loads(path.read_text())["references"]
    references = [SimpleNamespace(**reference) for reference in described]
    try:
        prepare(references, state)
    except tuple(STATUSES) as error:
        sys.exit(f"{type(error).__name__}: {error}")


def _check(check, path, state):
    """The verdict on a target; a part of the tool's trouble is a status of its own."""
    try:
        target = SimpleNamespace(**json.loads(path.read_text()))
        return {"status": "ok", **check(target, state)}
    except tuple(STATUSES) as error:
        return {"status": STATUSES[type(error)], "reason": str(error)[:2000] or None}
