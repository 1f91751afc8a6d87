"""Promotion of a study's results: the table and the summary that are committed with the bug."""

from pathlib import Path

from runner.errors import UsageError
from runner.files.atomic import write_text
from runner.results import provenance
from runner.session.promote import refuse_installed
from runner.studies import table
from runner.studies.definition import Study
from runner.studies.plan import MADE
from runner.studies.running import Results
from runner.studies.summary import summary


def refuse_unfit(study: Study) -> None:
    """Raise UsageError where runs that begin now could not be kept: files are not committed, or are installed ones."""
    refuse_installed("--update-expected", [study.bug.directory])
    if (provenance.revision(study.folder.directory, MADE) or "").endswith("-dirty"):
        raise UsageError(f"{study.id}: files of the study are not committed, and its table is made of committed ones")


def promote_table(results: Results) -> Path:
    """Write the table; a study of which a part was run is kept as it is, and the summary says how large it is.

    Raises UsageError for runs of files that were not committed, or in no pinned environment of the study's own.
    """
    study = results.study
    if not results.rows:
        raise UsageError(f"{study.id}: nothing has been run; its table stays as it is")
    wanted = {variant.environment for variant in study.variants.values()}
    records = results.records
    if not all(record.pinned and not record.trusted and record.environment in wanted for record in records):
        raise UsageError(f"{study.id} was not run in its own, pinned environment: its table stays as it is")
    if any((record.revision or "").endswith("-dirty") for record in results.records):
        raise UsageError(f"{study.id} was run from files that are not committed: commit, then run with --force")
    path = study.path(".csv")
    write_text(path, table.text(study, results.rows))
    return path


def promote_summary(results: Results) -> Path:
    """Write the summary beside the table."""
    path = results.study.path(".md")
    write_text(path, summary(results))
    return path
