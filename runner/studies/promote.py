"""Promotion of a study's results: the table and the summary that are committed with the bug."""

from collections.abc import Callable
from pathlib import Path

from runner.errors import UsageError
from runner.files.atomic import write_text
from runner.files.swap import changing
from runner.results.revision import find_revision
from runner.session.promote import refuse_installed
from runner.studies import table
from runner.studies.definition import Study
from runner.studies.plan import GENERATED_FILES
from runner.studies.running import Results
from runner.studies.summary import summary

Draw = Callable[[Callable[[str], Path]], list[Path]]


def refuse_unfit(study: Study) -> None:
    """Raise UsageError where runs that begin now could not be kept: files are not committed, or are
    installed ones.
    """
    refuse_installed("--update-expected", [study.bug.directory])
    if (find_revision(study.folder.directory, GENERATED_FILES) or "").endswith("-dirty"):
        raise UsageError(
            f"{study.id}: files of the study are not committed, and its table is made of committed "
            "ones"
        )


def promote(results: Results, draw: Draw, with_table: bool = True) -> list[Path]:
    """Write the summary and the figures of a study, and the table too; returns their paths.

    After a crash all are new, or none is. A study of which a part was run is kept as it is, and the
    summary says how large it is. `draw` draws the figures; it gets the function that gives a file
    for an ending, and returns the files. Raises UsageError for runs of files that were not
    committed, or in no pinned environment of the study's own.
    """
    if with_table:
        _refuse_runs(results)
    study = results.study
    with changing(study.folder.directory) as stage:

        def path(ending: str) -> Path:
            return stage / study.path(ending).name

        if with_table:
            write_text(path(".csv"), table.text(study, results.rows))
        write_text(path(".md"), summary(results))
        written = [*([path(".csv")] if with_table else []), path(".md"), *draw(path)]
    return [study.folder.directory / path.name for path in written]


def _refuse_runs(results: Results) -> None:
    study = results.study
    if not results.rows:
        raise UsageError(f"{study.id}: nothing has been run; its table stays as it is")
    environments = {variant.environment for variant in study.variants.values()}
    records = results.records
    if not all(
        record.runtime.pinned
        and not record.runtime.trusted
        and record.runtime.environment in environments
        for record in records
    ):
        raise UsageError(
            f"{study.id} was not run in its own, pinned environment: its table stays as it is"
        )
    if any((record.revision or "").endswith("-dirty") for record in results.records):
        raise UsageError(
            f"{study.id} was run from files that are not committed: commit, then run with --force"
        )
