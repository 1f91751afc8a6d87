"""All cases on a GPU: CUDA records beside those of a CPU,
and a report that can be committed.

    make gpu                              # the bugs' own environments
    make gpu PYTHON=/path/to/python       # an interpreter that has a torch for your GPU
    make gpu PYTHON=... JOBS=12           # that many runs at a time
    python benchmarks/gpu.py --device cuda:1 --data DIR
    python benchmarks/gpu.py --only TorchMetrics-1890 --python ... --out FILE

With an interpreter of yours these cases are run: those whose fault is in the script, and those
whose fault is in a package of which the interpreter has an affected release. The report names the
others. A command that was stopped goes on where it was: finished runs are kept in the results
folder.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from runner.authoring.scripts import reads_device
from runner.bugs.bug import Bug, Target
from runner.bugs.catalog import Catalog
from runner.environments import interpreter
from runner.environments.interpreter import Interpreter
from runner.errors import ResultsError, TrainbugsError, UsageError
from runner.files.atomic import write_text
from runner.files.untrusted import without_folders
from runner.progress.lines import on_stderr
from runner.results.expected import CUDA
from runner.session.options import Options
from runner.session.promote import promote_runs
from runner.session.session import Session
from runner.verdicts.affected import version_order
from runner.verdicts.outcome import Outcome
from runner.verdicts.verdict import REPRODUCED

ROOT = Path(__file__).resolve().parent.parent
# Of all CUDA records together: what is tracked has to stay below 55 MB.
MAX_RECORDS_BYTES = 8_000_000
HEADING = ("case", "fault in", "expected", "verdict", "CUDA records", "seconds", "torch", "why")
NOT_RUN, LEFT_OUT = "NOT RUN", "left out"
MAYBE = "REPRODUCED, or mended"


@dataclass(frozen=True)
class Planned:
    """A case, what is expected of it here, and why it is left out; None where it is run."""

    target: Target
    expected: str
    left_out: str | None = None


@dataclass(frozen=True)
class Row:
    """A line of the report. `device` is the name of the GPU, and `driver` its driver's version,
    where it ran.
    """

    cells: tuple[str, ...]
    verdict: str
    as_expected: bool
    device: str | None = None
    driver: str | None = None


def in_script(bug: Bug) -> bool:
    """Whether the fault is in the script, or in a module beside it;
    the site of one in a package names a folder.
    """
    return "/" not in bug.site.file


def plan(
    catalog: Catalog,
    data: Path | None,
    host: Interpreter | None,
    only: Sequence[str] = (),
) -> list[Planned]:
    """All active cases, or the cases that `only` names, by bug or case, and what becomes of each with
    the bugs' own environments,
    or with an interpreter of one's own.

    Cases that need data are left out where there is no folder of it.
    """
    planned = []
    for target in catalog.select(only or catalog.active()):
        if target.case.program.data and data is None:
            planned.append(Planned(target, REPRODUCED, "it needs --data DIR"))
        elif not reads_device(target.case):
            planned.append(Planned(target, REPRODUCED, "its scripts train on the CPU"))
        elif host is None or in_script(target.bug):
            planned.append(Planned(target, REPRODUCED))
        else:
            planned.append(_by_release(target, host))
    return planned


def _by_release(target: Target, host: Interpreter) -> Planned:
    """Of a fault in a package: whether the interpreter has an affected release of it."""
    package = target.bug.package
    version = host.torch if package == "torch" else _installed(package, host)
    if version is None:
        return Planned(target, REPRODUCED, f"the interpreter has no {package}")
    measured = target.bug.affected.versions if target.bug.affected else ()
    release, affected = version_order(version), sorted(map(version_order, measured))
    if release in affected:
        return Planned(target, REPRODUCED)
    if affected and affected[0] < release < affected[-1]:
        # No environment here has this release: between affected ones it may have the fault.
        return Planned(target, MAYBE)
    return Planned(
        target, "NOT REPRODUCED", f"{package} {version} is none of the affected releases"
    )


def _installed(package: str, host: Interpreter) -> str | None:
    normalized = package.lower().replace("-", "_")
    return next(
        (v for name, v in host.packages.items() if name.lower().replace("-", "_") == normalized),
        None,
    )


def rows(planned: Sequence[Planned], session: Session) -> Iterator[tuple[int, Row]]:
    """Run the cases, as many runs at a time as the session may; yields the index of each with its
    row, as they end.

    Cases that are expected to be REPRODUCED come first. Raises ResultsError where nothing can be
    written.
    """
    possible: list[int] = []
    for index, entry in enumerate(planned):
        obstacle = _obstacle(entry, session)
        if obstacle is None:
            possible.append(index)
        else:
            yield index, obstacle
    for group in (True, False):
        indices = [i for i in possible if (planned[i].expected == REPRODUCED) == group]
        outcomes = session.outcomes([planned[index].target for index in indices])
        with closing(outcomes) as ended:
            for position, outcome in ended:
                index = indices[position]
                yield index, _ran(planned[index], outcome, session)


def _obstacle(entry: Planned, session: Session) -> Row | None:
    """The row of a case that cannot run; None for one that can."""
    if entry.left_out:
        return _row(entry, LEFT_OUT, "", None, entry.left_out)
    try:
        session.plan(entry.target)
    except ResultsError:
        raise
    except TrainbugsError as error:
        return _row(entry, NOT_RUN, "", None, str(error))
    return None


def _ran(entry: Planned, outcome: Outcome, session: Session) -> Row:
    verdict = outcome.verdict.outcome or "no verdict"
    records, why = "", "" if verdict == REPRODUCED else outcome.verdict.reason
    if verdict == REPRODUCED:
        try:
            _refuse_too_much(session.catalog.root)
            records = f"{len(promote_runs([outcome]))} written"
        except UsageError as error:
            records = f"none: {error}"
    return _row(entry, verdict, records, outcome, why)


def _refuse_too_much(root: Path) -> None:
    """Raise UsageError where there are as many bytes of CUDA records as may be committed."""
    size = sum(path.stat().st_size for path in root.glob(f"bugs/*/expected/*/{CUDA}/**/*.json"))
    if size > MAX_RECORDS_BYTES:
        raise UsageError(
            f"CUDA records have {size / 1e6:.1f} MB, expected at most "
            f"{MAX_RECORDS_BYTES / 1e6:.0f} MB"
        )


def _row(entry: Planned, verdict: str, records: str, outcome: Outcome | None, why: str) -> Row:
    runs = outcome.records if outcome else ()
    seconds = f"{sum(run.wall_s for run in runs):.0f}" if runs else ""
    torch = ", ".join(sorted({run.runtime.torch for run in runs if run.runtime.torch}))
    place = "the script" if in_script(entry.target.bug) else entry.target.bug.package
    cells = (entry.target.case.id, place, entry.expected, verdict, records, seconds, torch, why)
    as_expected = verdict in (LEFT_OUT, REPRODUCED) or (
        entry.expected == MAYBE and verdict == "NOT REPRODUCED"
    )
    first = runs[0] if runs else None
    device, driver = (first.device_name, first.driver) if first else (None, None)
    return Row(tuple(map(_cell, cells)), verdict, as_expected, device, driver)


def _cell(text: str) -> str:
    """Text for a cell of a table in Markdown, without folders of this machine."""
    return without_folders(" ".join(text.split())).replace("|", "\\|")


def report(rows: Sequence[Row], planned: int, where: str) -> str:
    """The report in Markdown: what was run where, and a line for each case."""
    device = next((row.device for row in rows if row.device), "no GPU yet")
    driver = next((row.driver for row in rows if row.driver), None)
    verdicts = [row.verdict for row in rows]
    counts = (
        ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts))
        or "none"
    )
    today = datetime.now(UTC).date().isoformat()
    lines = [
        "# Runs on a GPU",
        "",
        f"`make gpu` wrote this page on {today}: {device}{f', driver {driver}' if driver else ''}, "
        f"{where}.",
        f"It has {len(rows)} of {planned} cases: {counts}.",
        "",
        f"| {' | '.join(HEADING)} |",
        f"|{'---|' * len(HEADING)}",
        *(f"| {' | '.join(row.cells)} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def run(catalog: Catalog, options: Options, out: Path, only: Sequence[str] = ()) -> int:
    """Run all, or what `only` names, and write the report after each case; returns the exit status,
    as that of `trainbugs run`.

    Raises UsageError where there is no GPU, or the interpreter has no torch that sees it.
    """
    if not interpreter.machine_has_accelerator():
        raise UsageError(
            "there is no GPU here; expected one that the kernel shows, such as /dev/nvidia0"
        )
    session = Session(catalog, options, on_stderr())
    host = None
    if options.python:
        # As before a run: an error names what the interpreter lacks.
        host = interpreter.probe(session.runtimes.get("own").python_path)
    planned = plan(catalog, options.data, host, only)
    where = f"torch {host.torch} of an interpreter of the host" if host else "pinned environments"
    by_index: dict[int, Row] = {}
    for index, row in rows(planned, session):
        by_index[index] = row
        new_rows = [by_index[done] for done in sorted(by_index)]
        write_text(out, report(new_rows, len(planned), where))
    print(f"{out}: {len(new_rows)} cases")
    if any(row.verdict in (NOT_RUN, "INVALID", "no verdict") for row in new_rows):
        return 2
    return 0 if all(row.as_expected for row in new_rows) else 1


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Run all cases on a GPU; write CUDA records and a report."
    )
    parser.add_argument("--device", default="cuda", help="cuda or cuda:N; default: cuda")
    parser.add_argument(
        "--python", type=Path, help="an interpreter with torch, in the place of the environments"
    )
    parser.add_argument("--data", type=Path, help="folder of data sets, for the cases with MNIST")
    parser.add_argument("-j", "--jobs", type=int, help="runs at a time; default: 1")
    parser.add_argument(
        "--only",
        nargs="+",
        default=(),
        metavar="BUG[/CASE]",
        help="run these alone, e.g. with an interpreter that has the affected release",
    )
    parser.add_argument(
        "--results", type=Path, default=Path("results/gpu"), help="default: results/gpu"
    )
    parser.add_argument(
        "--out", type=Path, default=ROOT / "benchmarks" / "gpu.md", help="the report"
    )
    parsed = parser.parse_args(arguments)
    try:
        if not parsed.device.startswith("cuda"):
            raise UsageError(f"device is {parsed.device!r}, expected cuda or cuda:N")
        options = Options(
            device=parsed.device,
            python=parsed.python,
            data=parsed.data,
            results=parsed.results,
            jobs=parsed.jobs,
        )
        return run(Catalog(ROOT), options, parsed.out, parsed.only)
    except TrainbugsError as error:
        print(f"gpu: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("gpu: interrupted; the same command goes on", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
