"""The subcommand export: the benchmark as a dataset, in a folder."""

import re
import sys
from argparse import ArgumentTypeError
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from runner.errors import UsageError
from trainbugs import api
from trainbugs.cli.exits import ExitStatus, invalid_if, reporting
from trainbugs.cli.parser import Help, Subparsers, add_command
from trainbugs.cli.text import unreadable

HELP = Help(
    "write the benchmark as a dataset: tables and their description",
    ["export", "export --out release --url https://example.org/trainbugs"],
)
# A scheme, and then whatever is neither a blank nor a control character: addresses may be in any
# script.
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f-\x9f\ud800-\udfff\"<>{}|\\^`]+")


@dataclass(frozen=True)
class ExportOptions:
    """The options of `trainbugs export`."""

    out: Path
    url: str


def add_arguments(subparsers: Subparsers) -> None:
    """Add export."""
    parser = add_command(subparsers, "export", export_release, ExportOptions, HELP)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("release"),
        metavar="DIR",
        help="folder to write; default: ./release",
    )
    parser.add_argument(
        "--url",
        type=address,
        default="urn:trainbugs",
        metavar="URL",
        help="address at which you publish it, for croissant.json; default: a URN",
    )


def address(text: str) -> str:
    """An address that documents may hold; raises ArgumentTypeError."""
    if not ADDRESS.fullmatch(text):
        raise ArgumentTypeError(
            f"{ascii(text)} is no address, expected one like https://example.org/trainbugs"
        )
    return text


def export_release(options: ExportOptions) -> ExitStatus:
    """Write a release; INVALID where a file of the catalogue cannot be read."""
    if find_spec("pyarrow") is None:
        raise UsageError("export needs pyarrow, not installed; `pip install 'trainbugs[export]'`")
    from runner.bugs.catalog import CatalogSnapshot
    from trainbugs.release.about import about
    from trainbugs.release.write import write

    catalog = CatalogSnapshot(api.load().root)
    release = write(catalog, about(catalog, options.url), options.out)
    status = invalid_if(release.problems)
    with reporting(status):
        print(unreadable(release.problems), end="", file=sys.stderr)
        rows = ", ".join(f"{count} {name}" for name, count in release.rows.items())
        print(f"release: {options.out} ({rows}; {release.size / 1e6:.1f} MB)")
    return status
