"""The subcommand site: a static site from the committed records, or one page from a results folder."""

import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from runner.bugs.model import counted
from runner.errors import UsageError
from trainbugs import api
from trainbugs.cli.text import unreadable
from trainbugs.cli.types import Commands, add, add_options, options

# What the site is made with, beside what every installation has: module -> package.
NEEDED = {"jinja2": "jinja2", "markdown_it": "markdown-it-py", "pygments": "pygments"}


def add_commands(to: Commands) -> None:
    """Add site."""
    examples = ["site", "site --out public", "site --from results --out report.html"]
    parser = add(
        to, "site", site_command, "write a static site of bugs, scores, studies and docs", examples
    )
    parser.add_argument(
        "--from",
        dest="source",
        choices=("expected", "results"),
        default="expected",
        help="whose records: the committed ones, or yours, which make one self-contained page",
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR|FILE", help="default: ./site, or ./report.html for results"
    )
    add_options(parser, "results")


def site_command(arguments: Namespace) -> int:
    """Write the site or the page; status 2 where something cannot be read."""
    lacking = [package for module, package in NEEDED.items() if find_spec(module) is None]
    if lacking:
        raise UsageError(
            f"site needs {', '.join(lacking)}, not installed; `pip install {' '.join(NEEDED.values())}`"
        )
    began = time.monotonic()
    problems, written = (_site if arguments.source == "expected" else _report)(arguments)
    arguments.status = 2 if problems else 0
    print(unreadable(problems), end="", file=sys.stderr)
    print(f"{written}, {time.monotonic() - began:.1f} s)")
    return int(arguments.status)


def _site(arguments: Namespace) -> tuple[Sequence[str], str]:
    from trainbugs.website.build import build, write

    if "results" in arguments:
        raise UsageError(
            "--results names your own results, and is for --from results; without it nothing reads them"
        )
    out = arguments.out or Path("site")
    site = build(api.load())
    write(site, out)
    return (
        site.problems,
        f"site: {out / 'index.html'} ({len(site.pages)} pages, {site.size / 1e6:.1f} MB",
    )


def _report(arguments: Namespace) -> tuple[Sequence[str], str]:
    from evaluation.reading.sources import check_source
    from runner.files.atomic import write_text
    from trainbugs.website.report import check_replaceable, report

    out, results = arguments.out or Path("report.html"), options(arguments).results
    check_source("results", results)
    check_replaceable(out)
    made = report(api.load(), results)
    write_text(out, made.html)
    return (
        made.problems,
        f"report: {out} ({counted(made.cases, 'case')}, {counted(made.rows, 'row')} of detectors",
    )
