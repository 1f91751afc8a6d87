"""Subcommands about the catalogue: list, info, checkout, new, validate."""

import sys
from argparse import Namespace
from pathlib import Path

from msgspec import structs

from runner.bugs.catalog import installed_root
from runner.bugs.model import Bug
from runner.bugs.statistics import count
from runner.errors import CatalogError, UsageError
from runner.session.selection import Filter
from trainbugs import api
from trainbugs.cli.documents import of_numbers, print_json, print_rows
from trainbugs.cli.terminal import show_table, show_text
from trainbugs.cli.text import details, listing, markdown, statistics
from trainbugs.cli.types import Commands, add, add_json, add_options, options
from trainbugs.descriptions import bug_document


def add_commands(to: Commands) -> None:
    """Add list and info, checkout, new and validate."""
    _add_reading(to)
    _add_writing(to)


def _add_reading(to: Commands) -> None:
    examples = [
        "list",
        "list --label compiler --max-seconds 30",
        "list --needs 2-processes",
        "list --json",
        "list --stats",
    ]
    parser = add(to, "list", list_command, "show the bugs and their cases", examples)
    parser.add_argument(
        "bugs", nargs="*", metavar="BUG", help="IDs of bugs, or bug directories; default: all"
    )
    add_options(parser, "label")
    parser.add_argument("--needs", metavar="WHAT", help="data, c++, gpu, 2-processes … or none")
    parser.add_argument(
        "--max-seconds",
        type=float,
        metavar="S",
        help="all runs of the case took no longer, together",
    )
    form = parser.add_mutually_exclusive_group()
    add_json(form)
    form.add_argument("--markdown", action="store_true", help="the page docs/bugs.md")
    parser.add_argument(
        "--stats", action="store_true", help="numbers of bugs by cause, effect, stage and realism"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="with --stats: draw them, to a .png, .pdf or .svg"
    )

    examples = ["info SO-60335387", "info SO-60335387/digits", "info SO-60335387 --json"]
    parser = add(to, "info", info_command, "show what is known of a bug", examples)
    parser.add_argument(
        "bug",
        metavar="BUG[/CASE]",
        help="ID of a bug, or a bug directory; with CASE that case only",
    )
    add_json(parser)


def _add_writing(to: Commands) -> None:
    examples = ["checkout SO-60335387 copy", "checkout SO-60335387/digits copy --blind"]
    parser = add(
        to, "checkout", checkout_command, "make a working copy of a bug that runs by hand", examples
    )
    parser.add_argument("target", metavar="BUG[/CASE[/VARIANT]]", help="what to copy")
    parser.add_argument("directory", type=Path, metavar="DIR", help="a new directory")
    parser.add_argument(
        "--blind",
        action="store_true",
        help="neutral names, nothing that tells which variant is buggy",
    )

    examples = ["new PyTorch-1", "new PyTorch-1 --directory my/own/bug"]
    parser = add(to, "new", new_command, "make the skeleton of a new bug", examples)
    parser.add_argument("id", metavar="ID", help="its public ID")
    parser.add_argument(
        "--environment", metavar="NAME", help="default: the newest that is built here, or of all"
    )
    parser.add_argument(
        "--directory",
        type=Path,
        metavar="DIR",
        help="a new directory; default: bugs/ID of the checkout, or ./ID",
    )

    examples = ["validate", "validate SO-60335387", "validate my/own/bug"]
    parser = add(
        to, "validate", validate_command, "check that bug directories are well formed", examples
    )
    parser.add_argument(
        "bugs", nargs="*", metavar="BUG", help="IDs of bugs, or bug directories; default: all"
    )
    add_json(parser)


def list_command(arguments: Namespace) -> int:
    """Print the bugs that match; raises CatalogError at the end where some cannot be read."""
    _check_form(arguments)
    catalog = api.load()
    bugs, broken = [], []
    for name in dict.fromkeys(arguments.bugs or catalog.ids()):
        try:
            bugs.append(catalog.bug(name))
        except CatalogError as error:
            broken.append(str(error))
    chosen = Filter(options(arguments).label, arguments.needs, arguments.max_seconds)
    every, bugs = bugs, chosen.of(bugs)
    if chosen != Filter() and not bugs:
        raise UsageError("; ".join([chosen.lack(every), *broken]))
    _show(bugs, arguments)
    if broken:
        raise CatalogError("; ".join(broken))
    return 0


def _check_form(arguments: Namespace) -> None:
    if arguments.stats and arguments.markdown:
        raise UsageError("--stats and --markdown exclude each other; give one of them")
    if arguments.out and not (arguments.stats and arguments.out.suffix in (".png", ".pdf", ".svg")):
        raise UsageError(
            f"--out {arguments.out}: expected a .png, .pdf or .svg, together with --stats"
        )


def _show(bugs: list[Bug], arguments: Namespace) -> None:
    if arguments.stats:
        _show_stats(bugs, arguments.json, arguments.out)
    elif arguments.json:
        print_json([bug_document(bug) for bug in bugs])
    elif arguments.markdown:
        print(markdown(bugs))
    else:
        show_table(listing(bugs))


def _show_stats(bugs: list[Bug], as_json: bool, out: Path | None) -> None:
    numbers = count(bugs)
    if as_json:
        print_rows(of_numbers(numbers))
    else:
        for table in statistics(numbers):
            show_table(table)
            print()
    if out:
        from plots.taxonomy import draw_taxonomy

        print(f"figure: {draw_taxonomy(numbers, out)}", file=sys.stderr if as_json else sys.stdout)


def info_command(arguments: Namespace) -> int:
    """Print all that is known about one bug, and about its cases or the one that is named."""
    targets = api.load().select([arguments.bug])
    bug = structs.replace(
        targets[0].bug, cases={target.case.name: target.case for target in targets}
    )
    if arguments.json:
        print_json(bug_document(bug))
    else:
        show_text(details(bug))
    return 0


def checkout_command(arguments: Namespace) -> int:
    """Copy a bug, and print how to run its programs."""
    from runner.authoring.checkout import checkout
    from runner.environments import spec

    catalog = api.load()
    targets = catalog.select([arguments.target])
    bug = targets[0].bug
    # A bug directory from elsewhere may name another one.
    known = bug.brought is not None or bug.environment in spec.names(catalog.root)
    described = spec.load(catalog.root, str(bug.brought or bug.environment)) if known else None
    built = spec.find(described) if described else None
    for line in checkout(
        targets, arguments.directory, arguments.blind, str(built.python) if built else "python3"
    ):
        print(line)
    if built is None:
        how = f" (`trainbugs env build {described.named}`)" if described else ""
        print(
            f"{bug.environment} is not built here{how}: python3 has to have its packages",
            file=sys.stderr,
        )
    return 0


def new_command(arguments: Namespace) -> int:
    """Make a bug directory, and print the names of its files."""
    from runner.authoring.scaffold import default_environment, new

    root = api.load().root
    bugs = root / "bugs" if installed_root() is None else Path()
    directory = arguments.directory or bugs / arguments.id
    environment = arguments.environment or default_environment(root)
    for path in new(arguments.id, directory, root, environment):
        print(path)
    print(f"it runs in {environment} (`environment` in config.json)")
    print(
        f"fill in what says TODO; `trainbugs validate {arguments.directory or arguments.id}` tells what is left"
    )
    return 0


def validate_command(arguments: Namespace) -> int:
    """Print what is wrong with bug directories; status 1 where anything is."""
    from runner.authoring.validate import problems

    catalog = api.load()
    found = {}
    for name in arguments.bugs or catalog.ids():
        directory = catalog.root / "bugs" / name if name in catalog.ids() else Path(name)
        if not directory.is_dir():
            catalog.bug(name)
        found[name] = wrong = problems(directory, catalog.root)
        if not arguments.json:
            count = (
                f"{len(wrong)} problem{'' if len(wrong) == 1 else 's'}" if wrong else "well formed"
            )
            show_text("\n  ".join([f"{name}: {count}", *wrong]))
    if arguments.json:
        print_json([{"name": name, "problems": wrong} for name, wrong in found.items()])
    return 1 if any(found.values()) else 0
