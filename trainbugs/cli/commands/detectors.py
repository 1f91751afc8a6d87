"""The subcommand detectors: the detectors of the catalogue."""

from dataclasses import dataclass

from trainbugs import api
from trainbugs.cli.documents import detector_document, print_json
from trainbugs.cli.exits import SUCCESS, ExitStatus
from trainbugs.cli.parser import Help, Subparsers, add_command, add_json
from trainbugs.cli.tables import detector_table
from trainbugs.cli.terminal import show_table

HELP = Help("show the detectors that can be evaluated", ["detectors", "detectors --json"])


@dataclass(frozen=True)
class DetectorsOptions:
    """The options of `trainbugs detectors`."""

    json: bool


def add_arguments(subparsers: Subparsers) -> None:
    """Add detectors."""
    add_json(add_command(subparsers, "detectors", show_detectors, DetectorsOptions, HELP))


def show_detectors(options: DetectorsOptions) -> ExitStatus:
    """Print the detectors of the catalogue."""
    from evaluation.catalog import detectors as catalog

    root = api.load().root
    detectors = [catalog.load(root, name) for name in catalog.names(root)]
    if options.json:
        print_json([detector_document(detector) for detector in detectors])
    else:
        show_table(detector_table(detectors))
    return SUCCESS
