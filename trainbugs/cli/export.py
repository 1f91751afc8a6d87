"""The subcommand export: the benchmark as a dataset, in a folder."""

import re
import sys
from argparse import ArgumentTypeError, Namespace
from importlib.util import find_spec
from pathlib import Path

from runner.errors import UsageError
from trainbugs import api
from trainbugs.cli.text import unreadable
from trainbugs.cli.types import Commands, add

# A scheme, and then whatever is neither a blank nor a control character: addresses may be in any script.
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f-\x9f\ud800-\udfff\"<>{}|\\^`]+")


def add_commands(to: Commands) -> None:
    """Add export."""
    examples = ["export", "export --out release --url https://example.org/trainbugs"]
    parser = add(
        to,
        "export",
        export_command,
        "write the benchmark as a dataset: tables and their description",
        examples,
    )
    parser.add_argument(
        "--out", type=Path, default=Path("release"), metavar="DIR", help="default: ./release"
    )
    parser.add_argument(
        "--url",
        type=address,
        default="urn:trainbugs",
        metavar="URL",
        help="where you publish it, for croissant.json; default: a URN",
    )


def address(text: str) -> str:
    """An address that documents may hold; raises ArgumentTypeError."""
    if not ADDRESS.fullmatch(text):
        raise ArgumentTypeError(
            f"{ascii(text)} is no address, expected one like https://example.org/trainbugs"
        )
    return text


def export_command(arguments: Namespace) -> int:
    """Write a release; status 2 where a file of the catalogue cannot be read."""
    if find_spec("pyarrow") is None:
        raise UsageError("export needs pyarrow, not installed; `pip install 'trainbugs[export]'`")
    from trainbugs.release.about import about
    from trainbugs.release.write import write

    catalog = api.load()
    made = write(catalog, about(catalog, arguments.url), arguments.out)
    arguments.status = 2 if made.problems else 0
    print(unreadable(made.problems), end="", file=sys.stderr)
    rows = ", ".join(f"{count} {name}" for name, count in made.rows.items())
    print(f"release: {arguments.out} ({rows}; {made.size / 1e6:.1f} MB)")
    return int(arguments.status)
