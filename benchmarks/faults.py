"""A campaign of faults: what does the program do when it is killed, its disk is full, its files are damaged, …?

    python benchmarks/faults.py --faults 1000 --seed 0 --log faults.jsonl

Each fault gets toy bugs that are made to be REPRODUCED or NOT REPRODUCED, starts the real command line over them,
injects one fault, and starts the same command again without one. What it does is a function of the seed and its number
(`--only NUMBER` does one alone), except that processes take their own time. The log has a line for each fault, so that
the same command goes on after a stop. At the end there is a table: a row for each kind, a column for each harm.

- wrong verdict: a verdict, table, exit status or score that is neither what the bug was made to be nor, where a run was
  damaged, INVALID or none; a record with status ok whose metrics are not the run's
- traceback: one of ours on standard output or error
- lost run: one that had a good record and is done again, or lacks one in the end
- orphan: a process that is alive 12 s after the end of the command that has started it
- leftover folder: what is left, after the second command, in the folder of temporary files, or hidden among results
- hang: a command that does not end within 180 s

The clock: file times and times within records are faked, and the monotonic clock jumps between two commands where the
kernel has time namespaces. The wall clock of a running command is not faked. Full disks and read-only folders need user
namespaces. A real bug (every 50th fault) is run by the interpreter of environment torch-2.2.2, if that is built.
"""

import argparse
import json
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

from injection import disks, kills, toys
from injection.kinds import CYCLE, MOUNTED, REAL, function_of, kind_of
from injection.place import KINDS_OF_HARM, Place, Shared

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("runner", "evaluation", "plots", "trainbugs")


def main(argv=None):
    """Do the faults that the log lacks, and print the table; status 1 where harm was done."""
    arguments = _parser().parse_args(argv)
    for number in (
        signal.SIGINT,
        signal.SIGTERM,
    ):  # a shell's background job would ignore the first one
        signal.signal(number, signal.default_int_handler)
    done = _read(arguments.log, arguments.seed)
    numbers = [arguments.only] if arguments.only is not None else range(arguments.faults)
    real = kills.real_python() is not None and not arguments.no_real
    kinds = {number: kind_of(number, real) for number in numbers}
    todo = [
        number
        for number in numbers
        if number not in done and kinds[number] in (arguments.kinds or kinds.values())
    ]
    if arguments.table:
        todo = []
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        shared = Shared(Path(folder))
        if todo:
            _prepare(shared)
        with _pool(arguments.jobs) as pool:
            begun = [
                pool.submit(_one, number, kinds[number], arguments.seed, shared) for number in todo
            ]
            for line in (future.result() for future in as_completed(begun)):
                done[line["number"]] = line
                _tell(line, arguments.log)
    lines = [done[number] for number in sorted(done) if number in kinds]
    print(table(lines))
    return int(any(any(line["harm"].values()) for line in lines))


def _parser():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--faults", type=int, default=1000, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="faults at a time")
    parser.add_argument(
        "--log",
        type=Path,
        metavar="FILE",
        help="a line of JSON for each fault; what it has is not done",
    )
    parser.add_argument("--only", type=int, metavar="NUMBER", help="this fault alone")
    parser.add_argument(
        "--kinds", nargs="+", choices=(*CYCLE, REAL), metavar="KIND", help=", ".join((*CYCLE, REAL))
    )
    parser.add_argument(
        "--table", action="store_true", help="do nothing; print the table of the log"
    )
    parser.add_argument("--no-real", action="store_true", help="toy bugs only")
    return parser


def _read(log, seed):
    """The lines of a log, by the numbers of their faults; a line that is not whole is left out."""
    lines_by_number = {}
    for text in log.read_text().splitlines() if log and log.exists() else ():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if line["seed"] == seed:
            lines_by_number[line["number"]] = line
    return lines_by_number


def _prepare(shared):
    """A copy of the program, so that changes meanwhile do no harm, with a toy environment,
    which is built.
    """
    for name in PACKAGES:
        shutil.copytree(
            ROOT / name,
            shared.code / name,
            symlinks=True,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    bug = kills.REAL.partition("/")[0]
    shutil.copytree(ROOT / "bugs" / bug, shared.code / "real" / bug)
    (shared.code / "bugs").mkdir()
    toys.write_environment(shared.code / "environments" / "toy", shared.root / "wheels")
    with tempfile.TemporaryDirectory(dir=shared.root) as folder:
        place = Place(Path(folder), shared, random.Random(0))
        ended = place.run("env", "build", "toy")
    if ended.status:
        raise SystemExit(f"the toy environment cannot be built: {ended.err}")


@contextmanager
def _pool(jobs):
    """Threads for faults; after an interrupt those that have begun are ended,
    and no other one begins.
    """
    pool = ThreadPoolExecutor(jobs)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _one(number, kind, seed, shared):
    """Do one fault; returns its line for the log."""
    start = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix=f"fault-{number}-", dir=shared.root))
    place = Place(folder, shared, random.Random(f"{seed}-{number}"))
    skipped = kind in MOUNTED and not disks.allowed()
    error = None
    try:
        if not skipped:
            function_of(kind)(place)
    except Exception:  # of the campaign itself: the other faults go on
        error = traceback.format_exc()
    finally:
        place.clean()
    return {
        "seed": seed, "number": number, "kind": kind, "details": place.details, "harm": place.harm, "error": error,
        "skipped": skipped, "missed": place.missed, "seconds": round(time.monotonic() - start, 1),
    }  # fmt: skip


def _tell(line, log):
    if log:
        # A campaign that was killed may have left half a line.
        whole = not log.exists() or log.read_bytes()[-1:] in (b"", b"\n")
        with log.open("a") as file:
            file.write(("" if whole else "\n") + json.dumps(line) + "\n")
    harm = {kind: texts for kind, texts in line["harm"].items() if texts}
    marks = [mark for mark in ("skipped", "missed") if line[mark]]
    outcome = line["error"] or harm or (marks[0] if marks else "ok")
    print(
        f"{line['number']} {line['kind']}: {outcome}, {line['seconds']} s",
        file=sys.stderr,
        flush=True,
    )


def _count_harm(lines, name):
    return sum(len(line["harm"][name]) for line in lines)


def table(lines):
    """The markdown table of these lines: a row for each kind, and what was not as it should be."""
    rows = [["fault", "faults", *KINDS_OF_HARM]]
    rows.append(["---"] * len(rows[0]))
    for kind in (*CYCLE, REAL, "all"):
        lines_of_kind = [
            line for line in lines if kind in (line["kind"], "all") and not line["skipped"]
        ]
        harms = [_count_harm(lines_of_kind, name) for name in KINDS_OF_HARM]
        if lines_of_kind:
            rows.append([kind, str(len(lines_of_kind)), *map(str, harms)])
    skipped = len([line for line in lines if line["skipped"]])
    missed = len([line for line in lines if line["missed"]])
    errors = len([line for line in lines if line["error"]])
    hours = sum(line["seconds"] for line in lines) / 3600
    text = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    return (
        f"{text}\n\n{missed} of them came too late: the command had ended. {skipped} more were "
        f"skipped.\n{errors} failed by a mistake of the campaign. Together they took {hours:.1f} "
        "hours."
    )


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted; with a log the same command goes on from there")
