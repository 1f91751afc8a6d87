"""The subcommand site: a static website from the committed records,
or one page from a results folder.
"""

import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from runner.errors import UsageError
from runner.plurals import counted
from trainbugs import api
from trainbugs.cli.exits import ExitStatus, invalid_if, reporting
from trainbugs.cli.parser import Help, Subparsers, add_command, add_session_options
from trainbugs.cli.text import unreadable

HELP = Help(
    "write a static site of bugs, scores, studies and docs",
    ["site", "site --out public", "site --from results --out report.html"],
)
# What the website is made with, beside what every installation has: module -> package.
NEEDED = {"jinja2": "jinja2", "markdown_it": "markdown-it-py", "pygments": "pygments"}


@dataclass(frozen=True)
class SiteOptions:
    """The options of `trainbugs site`; `results` is None where it is not typed."""

    source: str
    out: Path | None
    repository: str
    url: str = ""
    results: Path | None = None


@dataclass(frozen=True)
class _Written:
    """What was written, in words, and a line for each file that cannot be read."""

    summary: str
    problems: tuple[str, ...]


def add_arguments(subparsers: Subparsers) -> None:
    """Add site."""
    parser = add_command(subparsers, "site", write_website, SiteOptions, HELP)
    parser.add_argument(
        "--from",
        dest="source",
        choices=("expected", "results"),
        default="expected",
        help="the expected records; or your results, on one self-contained page; default: expected",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR|FILE",
        help="where to write; default: ./site, or ./report.html for results",
    )
    parser.add_argument(
        "--repository",
        default="",
        metavar="URL",
        help="address of the repository, to which each page links",
    )
    parser.add_argument(
        "--url",
        default="",
        metavar="URL",
        help="address at which the site will be, which previews of its pages need",
    )
    add_session_options(parser, "results")


def write_website(options: SiteOptions) -> ExitStatus:
    """Write the website or the page; INVALID where something cannot be read."""
    missing = [package for module, package in NEEDED.items() if find_spec(module) is None]
    if missing:
        raise UsageError(
            f"site needs {', '.join(missing)}, not installed; `pip install "
            f"{' '.join(NEEDED.values())}`"
        )
    start = time.monotonic()
    written = _write_pages(options) if options.source == "expected" else _write_report(options)
    status = invalid_if(written.problems)
    with reporting(status):
        print(unreadable(written.problems), end="", file=sys.stderr)
        print(f"{written.summary}, {time.monotonic() - start:.1f} s)")
    return status


def _write_pages(options: SiteOptions) -> _Written:
    from trainbugs.website.build import build
    from trainbugs.website.folder import write

    if options.results is not None:
        raise UsageError(
            "--results names your own results, and is for --from results; without it nothing reads "
            "them"
        )
    if options.repository and not options.repository.startswith("https://"):
        raise UsageError(f"--repository is {options.repository!r}, expected https://…")
    if options.url and not _is_address(options.url):
        raise UsageError(
            f"--url is {options.url!r}, expected http://… or https://… without '?' and '#'"
        )
    out = options.out or Path("site")
    website = build(api.load(), options.repository, options.url)
    write(website, out)
    size = f"{len(website.pages)} pages, {website.size / 1e6:.1f} MB"
    return _Written(f"site: {out / 'index.html'} ({size}", tuple(website.problems))


def _is_address(text: str) -> bool:
    """Whether a text is the address of a folder on the web."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    is_plain = text.isprintable() and not set(text) & set(" ?#")
    return parts.scheme in ("http", "https") and bool(parts.hostname) and is_plain


def _write_report(options: SiteOptions) -> _Written:
    from evaluation.reading.sources import check_source
    from runner.files.atomic import write_text
    from trainbugs.website.report import check_replaceable, report

    if options.url:
        raise UsageError("--url is for the site; a report with --from results has no address")
    out, results = options.out or Path("report.html"), options.results or Path("results")
    check_source("results", results)
    check_replaceable(out)
    page = report(api.load(), results)
    write_text(out, page.html)
    size = f"{counted(page.cases, 'case')}, {counted(page.rows, 'row')} of detectors"
    return _Written(f"report: {out} ({size}", page.problems)
