"""Does `trainbugs watch` accuse correct programs that others have written? A table of what it says
of each.

    python run.py table.csv [--sources DIR] [--only NAME …] [--again] [--logs DIR]

`programs.json` names them: the repository with commit and licence, the script, and its arguments,
which keep it short; the environment, where it is not torch-2.2.2, and sets of further packages. Each
runs as it is, in a checkout of its own, on a little made data; nothing of it is kept here. DIR holds
clones that are there already, as OWNER+NAME; others are cloned. Rows that the table has are kept: it
may be stopped, and goes on. `--again` runs those anew that another version of the sanitizer made.

`wrong` says of a program what its source was seen to do wrong before the first run, by the
invariant that should see it. `digest` is of the sanitizer's code.
"""

import argparse
import csv
import hashlib
import json
import re
import sys
import tempfile
from pathlib import Path

import checkouts
import package_sets
import watched_process

from runner.environments import builder, spec
from runner.progress.lines import on_stderr

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SANITIZER = ROOT / "detectors" / "sanitizer"
FIELDS = (
    "name", "repository", "commit", "licence", "torch", "status", "optimizers", "steps", "seconds", "errors", "wrong",
    "advice", "failed", "shown_before", "digest",
)  # fmt: skip
CTRL_C = 130
# The line of a traceback that names the exception, or of argparse.
ERROR = re.compile(r"[\w.]*(Error|Exception|NotFound|Exit)\b.*|.*: error: ")


def environment(program):
    return program.get("environment", "torch-2.2.2")


def sanitizer_digest():
    """A short hash of the sanitizer's code."""
    digest = hashlib.sha256()
    for path in sorted(SANITIZER.rglob("*.py")):
        digest.update(f"{path.relative_to(SANITIZER)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def watched(program, python, arguments):
    """The row of a program."""
    if "cannot" in program:
        return {**described(program), "failed": program["cannot"]}
    digest = sanitizer_digest()
    packages = package_sets.installed(program.get("packages", ()), python, arguments.cache)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        folder, report = Path(temporary, "program"), Path(temporary, "report.json")
        checkouts.check_out(program, folder, arguments.sources)
        ended = watched_process.watch(program, folder, python, packages, report)
        result = json.loads(report.read_text()) if report.exists() else None
    if arguments.logs:
        arguments.logs.mkdir(exist_ok=True)
        (arguments.logs / f"{program['name']}.txt").write_text(ended.output)
        (arguments.logs / f"{program['name']}.json").write_text(json.dumps(result, indent=1))
    facts = {"failed": crash(ended.output) or "no report"}
    if result and result["report"]:
        facts = seen(program, result["report"], result["status"], ended.output)
    if ended.timed_out:
        facts["failed"] = "it did not end in time"
    return {**described(program), "digest": digest, **facts}


def described(program):
    """What a row says of a program before it runs."""
    return {
        **{name: program[name] for name in FIELDS[:4]},
        "torch": environment(program).removeprefix("torch-"),
        "wrong": " ".join(sorted(program.get("wrong", ()))),
        "shown_before": program.get("shown_before", ""),
    }


def seen(program, report, status, output):
    """What the report of a run says."""
    alarms = report["alarms"]
    errors = {alarm["code"] for alarm in alarms if alarm["severity"] == "error"}
    advice = {alarm["code"] for alarm in alarms if alarm["severity"] == "info"}
    interrupted = status in (CTRL_C, -2) and "interrupt_s" in program
    return {
        "status": "interrupted" if interrupted else status,
        "optimizers": report["optimizers"],
        "steps": report["steps"],
        "seconds": round(report["loop_s"], 1),
        "errors": " ".join(sorted(errors)),
        "advice": " ".join(sorted(advice - {"failed"})),
        "failed": failure(report, 0 if interrupted else status, output),
    }


def failure(report, status, output):
    """Why a run failed, or which invariants did."""
    failed = {
        alarm["message"].split()[0] for alarm in report["alarms"] if alarm["code"] == "failed"
    }
    if report["error"] and status:
        return shortened(report["error"])
    if status:
        return crash(output) or f"status {status}"
    if not report["steps"]:
        return "no step was watched"
    return " ".join(sorted(failed))


def crash(output):
    """The last exception that a program's output names, if any."""
    errors = [line for line in output.splitlines() if ERROR.match(line)]
    return shortened(errors[-1]) if errors else ""


def shortened(text):
    """A text on one line, without the names of temporary folders."""
    return " ".join(re.sub(r"/tmp/\w+/", "", text).split())[:160]


def write(table, rows):
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n", restval="")
        writer.writeheader()
        writer.writerows(rows.values())


def parsed():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", type=Path)
    parser.add_argument("--sources", type=Path, help="a folder of clones, OWNER+NAME")
    parser.add_argument("--only", nargs="+", help="names of programs; default: all")
    parser.add_argument("--again", action="store_true", help="also rows of another sanitizer")
    parser.add_argument("--logs", type=Path, help="a folder for output and reports")
    parser.add_argument(
        "--cache",
        type=Path,
        help="a folder for packages",
        default=Path.home() / ".cache" / "trainbugs-others",
    )
    return parser.parse_args()


def is_done(program, rows, arguments):
    row = rows.get(program["name"])
    if arguments.only and program["name"] not in arguments.only:
        return True
    return bool(row) and not (arguments.again and row["digest"] != sanitizer_digest())


def main():
    arguments = parsed()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    rows = {}
    if arguments.table.exists():
        rows = {row["name"]: row for row in csv.DictReader(arguments.table.open())}
    for program in json.loads((HERE / "programs.json").read_text()):
        if is_done(program, rows, arguments):
            continue
        python = builder.build(spec.load(ROOT, environment(program)), on_stderr()).python
        row = watched(program, python, arguments)
        rows[program["name"]] = row
        said = "; ".join(f"{name} {row.get(name, '')}" for name in FIELDS[5:13])
        print(f"{program['name']}: {said}", flush=True)
        write(arguments.table, rows)


if __name__ == "__main__":
    sys.exit(main())
