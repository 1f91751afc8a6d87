"""The subcommand site: writes a static site from the committed records."""

import sys
import time
from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path

from runner.errors import UsageError
from trainbugs import api
from trainbugs.cli.text import unreadable
from trainbugs.cli.types import Commands, add

# What the site is made with, beside what every installation has: module -> package.
NEEDED = {"jinja2": "jinja2", "markdown_it": "markdown-it-py", "pygments": "pygments"}


def add_commands(to: Commands) -> None:
    """Add site."""
    examples = ["site", "site --out public"]
    parser = add(to, "site", site_command, "write a static site of bugs, scores, studies and docs", examples)
    parser.add_argument("--out", type=Path, default=Path("site"), metavar="DIR", help="default: ./site")


def site_command(arguments: Namespace) -> int:
    """Write the site; status 2 where something in the catalogue cannot be read."""
    lacking = [package for module, package in NEEDED.items() if find_spec(module) is None]
    if lacking:
        raise UsageError(f"site needs {', '.join(lacking)}, not installed; `pip install {' '.join(NEEDED.values())}`")
    from trainbugs.site.build import build, write

    began = time.monotonic()
    site = build(api.load())
    write(site, arguments.out)
    arguments.status = 2 if site.problems else 0
    print(unreadable(site.problems), end="", file=sys.stderr)
    taken = time.monotonic() - began
    print(f"site: {arguments.out / 'index.html'} ({len(site.pages)} pages, {site.size / 1e6:.1f} MB, {taken:.1f} s)")
    return int(arguments.status)
