"""The subcommand versions: maps in which releases a bug is there."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.session.options import Options
from trainbugs import api
from trainbugs.cli.documents import print_rows, version_documents
from trainbugs.cli.exits import INVALID, ExitStatus, invalid_if, reporting
from trainbugs.cli.parser import (
    Help,
    Subparsers,
    add_command,
    add_json,
    add_quiet,
    add_session_options,
)
from trainbugs.cli.terminal import show_verdicts, side_stream

if TYPE_CHECKING:
    from runner.bugs.bug import Bug
    from runner.bugs.catalog import Catalog
    from runner.session.version_sweep import BugVersions

HELP = Help(
    "run the buggy scripts of bugs in many environments and map which versions are affected",
    [
        "versions PyTorch-115607 PyTorch-107076/eager --remove-after",
        "versions PyTorch-107076/eager --environments 'torch-2.[0-4].*'",
    ],
)


@dataclass(frozen=True)
class VersionsOptions:
    """The options of `trainbugs versions`."""

    targets: tuple[str, ...]
    environments: str | None
    remove_after: bool
    session: Options
    update_expected: bool
    out: Path
    json: bool
    quiet: bool


def add_arguments(subparsers: Subparsers) -> None:
    """Add versions."""
    parser = add_command(
        subparsers, "versions", sweep_versions, VersionsOptions, HELP, unfinished=INVALID
    )
    parser.add_argument(
        "targets", nargs="+", metavar="BUG[/CASE]", help="what to run; also a bug directory"
    )
    parser.add_argument(
        "--environments",
        metavar="GLOB",
        help="environments to try; default: all of the bug's package, for most bugs 'torch-[0-9]*'",
    )
    parser.add_argument(
        "--remove-after",
        action="store_true",
        help="remove each environment after its runs, if it was not there before",
    )
    seeds = "numbers with commas between them; default: the first one of each case"
    add_session_options(
        parser, "device", "data", "force", "trust_environments", "results", seeds=seeds
    )
    parser.add_argument(
        "--update-expected", action="store_true", help="keep the map as the bug's expected one"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("figures"),
        metavar="DIR",
        help="folder for figures; default: ./figures",
    )
    add_json(parser)
    add_quiet(parser)


def sweep_versions(options: VersionsOptions) -> ExitStatus:
    """Map the affected versions; INVALID where some case is INVALID in some version."""
    # Fails before anything is run where matplotlib is not installed.
    from plots.versions import draw_versions as draw_versions
    from runner.progress.lines import on_stderr
    from runner.session.promote import refuse_installed
    from runner.session.version_sweep import map_versions
    from runner.verdicts.verdict import INVALID as INVALID_STATE

    catalog, progress = api.load(), on_stderr(options.quiet)
    if options.update_expected:
        targets = catalog.select(options.targets)
        refuse_installed("--update-expected", (target.bug.directory for target in targets))
    maps = map_versions(
        catalog,
        options.targets,
        options.environments,
        options.session,
        progress,
        options.remove_after,
    )
    states = [finding.state for sweep in maps for finding in sweep.findings]
    status = invalid_if(INVALID_STATE in states)
    with reporting(status):
        _print(maps, options)
        for sweep in maps:
            _write(sweep, catalog, options)
    return status


def _print(maps: "list[BugVersions]", options: VersionsOptions) -> None:
    from trainbugs.cli.tables import versions_table

    if options.json:
        print_rows(row for sweep in maps for row in version_documents(sweep))
    else:
        show_verdicts(versions_table(maps), column=3)


def _write(sweep: "BugVersions", catalog: "Catalog", options: VersionsOptions) -> None:
    """Draw the map of a bug, or keep it with the bug, and print where it is."""
    from plots.versions import draw_versions
    from runner.environments.spec import releases
    from runner.session.promote import promote_versions

    def draw(bug: "Bug", folder: Path) -> Path:
        return draw_versions(
            bug, sweep.findings, folder, "png", releases(catalog.root, bug.package)
        )

    stream = side_stream(options.json)
    if options.update_expected:
        records = promote_versions(sweep, draw)
        print(f"expected records of {sweep.bug.id}: {len(records)} written", file=stream)
        print(f"figure: {sweep.bug.expected / 'versions.png'}", file=stream)
    else:
        print(f"figure: {draw(sweep.bug, options.out / sweep.bug.id)}", file=stream)
