"""Committed answers of a toy detector about a toy catalogue."""

from msgspec.structs import replace

from evaluation.catalog import detectors
from evaluation.store.committed import CommittedChecks
from support.detectors import write_detector


def commit_checks(root, name, checks):
    """Write these records as the committed ones of a new detector of the catalogue at `root`."""
    directory = write_detector(root / "detectors" / name, "main(lambda program: [])")
    named = [replace(check, detector=name) for check in checks]
    folder = CommittedChecks(root / "detectors" / "expected")
    folder.replace(detectors.read(directory), named, [])
