"""Promotion of records to expected ones, for REPRODUCED cases and for maps of versions."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from runner.bugs.bug import Bug
from runner.bugs.catalog import installed_root
from runner.bugs.program import UPSTREAM
from runner.errors import UsageError
from runner.files.atomic import write_json
from runner.files.swap import changing
from runner.files.trees import remove_tree
from runner.files.untrusted import without_folders
from runner.results.expected import CUDA, VERSIONS, expected_path, version_path, version_records
from runner.results.record import RunRecord, encode
from runner.results.revision import NOT_RUN_OF_BUGS, find_revision
from runner.session.version_sweep import BugVersions
from runner.verdicts.outcome import Outcome
from runner.verdicts.verdict import REPRODUCED

STAYS = "expected/ stays as it is"
# Gets a bug, and the folder that will be its `expected`.
Draw = Callable[[Bug, Path], object]


def refuse_installed(command: str, directories: Iterable[Path]) -> None:
    """Raise UsageError for the first of the directories that is part of an installed package, which
    stays as it is.
    """
    root = installed_root()
    for directory in directories:
        if root is not None and directory.is_relative_to(root):
            raise UsageError(
                f"{command} needs a checkout: {directory} is part of the installed package"
            )


def refuse_uncommitted(bugs: Iterable[Bug]) -> None:
    """Raise UsageError for the first of the bugs whose runs that begin now could not be kept: its
    files are not committed.
    """
    for bug in bugs:
        if (find_revision(bug.directory, NOT_RUN_OF_BUGS) or "").endswith("-dirty"):
            raise UsageError(
                f"{bug.id}: files of the bug are not committed, and expected records are made of "
                "committed ones; commit, and run it again"
            )


def no_figures(bug: Bug, expected: Path) -> None:
    """Draws none of the figures that are committed with a bug."""


def _refuse(refusal: str) -> None:
    raise UsageError(refusal)


def promote_runs(
    outcomes: Sequence[Outcome],
    draw: Draw = no_figures,
    refuse: Callable[[str], None] = _refuse,
) -> list[Path]:
    """Make the records of complete, REPRODUCED cases the expected ones; returns their paths.

    `draw` draws the figures of a bug's expected records. After a crash a bug has all of its new
    records and figures, or all of its earlier ones. A bug with a case that is anything else stays
    as it is: `refuse` gets a line about it. By default that raises UsageError, before anything is
    written.
    """
    by_bug: dict[Path, list[Outcome]] = {}
    for outcome in outcomes:
        by_bug.setdefault(outcome.target.bug.directory, []).append(outcome)
    paths: list[Path] = []
    for bug_outcomes in [group for group in by_bug.values() if _is_fitting(group, refuse)]:
        paths += _promote_bug(bug_outcomes, draw)
    return paths


def _is_fitting(outcomes: Sequence[Outcome], refuse: Callable[[str], None]) -> bool:
    """Whether all cases of a bug may become expected ones; `refuse` gets why not."""
    try:
        for outcome in outcomes:
            _refuse_unexpected(outcome)
    except UsageError as error:
        refuse(str(error))
        return False
    return True


def _promote_bug(outcomes: Sequence[Outcome], draw: Draw) -> list[Path]:
    bug = outcomes[0].target.bug
    with changing(bug.expected) as stage:
        copy = replace(bug, directory=stage.parent)
        paths = [path for outcome in outcomes for path in _write(copy, outcome)]
        names = [path.relative_to(stage) for path in paths]
        draw(bug, stage)
    return [bug.expected / name for name in names]


def _write(bug: Bug, outcome: Outcome) -> list[Path]:
    """Write the expected records of a case, and remove records of other seeds; returns the
    paths.
    """
    records = [record for record in outcome.records if record.repeat == 1]
    paths = [expected_path(bug, record) for record in records]
    for path, record in zip(paths, records, strict=True):
        write_json(path, _written(record))
    for folder in {path.parent for path in paths}:
        for path in set(folder.glob("*-seed*.json")) - set(paths):
            path.unlink()
    return paths


def _refuse_unexpected(outcome: Outcome) -> None:
    """Raise UsageError for the first reason why a case's records cannot become expected ones."""
    problem = next(_problems(outcome), None)
    if problem:
        raise UsageError(f"{outcome.target.case.id}{problem}")


def _problems(outcome: Outcome) -> Iterator[str]:
    """Why the records of a case cannot become expected ones, as what follows its name."""
    program = outcome.target.case.program
    yield from _problems_of_verdict(outcome)
    if {record.seed for record in outcome.records} != set(program.seeds):
        yield f" was not run with its own seeds: {STAYS}; leave out --seeds"
    yield from _problems_of_commits(outcome.records)
    elsewhere: set[str] = set()
    for record in outcome.records:
        name = record.runtime.environment
        if record.runtime.pinned and name != program.variants[record.variant].environment:
            elsewhere.add(name)
    if elsewhere:
        yield f" was run in {', '.join(elsewhere)}: {STAYS}; see `versions`"


def _problems_of_verdict(outcome: Outcome) -> Iterator[str]:
    records, upstream = outcome.records, outcome.verdict.upstream
    if upstream and not upstream.behaves:
        yield f"/{UPSTREAM} does not behave as fixed: {upstream.reason}: {STAYS}"
    is_alone = upstream and all(record.variant == UPSTREAM for record in records)
    kinds = {record.runtime.kind_of_device for record in records}
    if len(kinds) > 1:
        yield f" was run on {' and '.join(sorted(kinds))}, expected one of them: {STAYS}"
    elif not (is_alone or outcome.verdict.outcome == REPRODUCED):
        found = outcome.verdict.outcome or outcome.verdict.reason
        yield f": {found}; expected {REPRODUCED}: {STAYS}"
    # A machine with a GPU often has a PyTorch of its own, without the fault; the records say so.
    is_as_reported = not outcome.injected and all(_is_pinned(record) for record in records)
    if CUDA not in kinds and not is_as_reported:
        yield f" is not REPRODUCED as reported, in a pinned environment: {STAYS}"


def _problems_of_commits(records: Sequence[RunRecord]) -> Iterator[str]:
    if any((record.revision or "").endswith("-dirty") for record in records):
        yield " was run from files that are not committed: commit, then run with --force"
    commits = {(record.variant == UPSTREAM, record.revision) for record in records}
    if len(commits) > len({is_upstream for is_upstream, _ in commits}):
        yield f" was run at several commits: {STAYS}; run with --force"


def _is_pinned(record: RunRecord) -> bool:
    """Whether it ran in what the lock says: nobody else could have changed that."""
    return record.runtime.pinned and not record.runtime.trusted


def _written(record: RunRecord) -> dict[str, Any]:
    """The record as it is committed: paths of this machine in the reason of a failure are cut to
    their last part.
    """
    return encode(replace(record, reason=record.reason and without_folders(record.reason)))


def promote_versions(sweep: BugVersions, draw: Draw = no_figures) -> list[Path]:
    """Make the records of a map, failed runs included, the bug's expected ones, instead of earlier
    ones.

    `draw` draws the map. After a crash all is new, or nothing is. Raises UsageError where an
    environment of the earlier map is missing or not as pinned, or files are not committed.
    """
    mapped = {record.runtime.environment for record in sweep.records}
    absent = {record.runtime.environment for record in version_records(sweep.bug)} - mapped
    absent |= {item.environment for item in sweep.findings} - mapped
    if absent:
        raise UsageError(
            f"the map of {sweep.bug.id} lacks {', '.join(sorted(absent))}: expected/ stays as it is"
        )
    if not all(_is_pinned(record) for record in sweep.records):
        raise UsageError(
            f"{sweep.bug.id} was not run in pinned environments: expected/ stays as it is"
        )
    if any((record.revision or "").endswith("-dirty") for record in sweep.records):
        raise UsageError(
            f"{sweep.bug.id} was run from files that are not committed: commit, then run with "
            "--force"
        )
    # Every environment of the earlier map is in this one.
    commits = {(record.runtime.environment, record.revision) for record in sweep.records}
    if len(commits) > len(mapped):
        raise UsageError(
            f"{sweep.bug.id} was run at several commits in one environment: run with --force"
        )
    with changing(sweep.bug.expected) as stage:
        copy = replace(sweep.bug, directory=stage.parent)
        remove_tree(stage / VERSIONS)
        for record in sweep.records:
            write_json(version_path(copy, record), _written(record))
        draw(sweep.bug, stage)
    return [version_path(sweep.bug, record) for record in sweep.records]
