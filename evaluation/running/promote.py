"""The records of detectors that are committed: those of an evaluation that is whole,
clean and pinned.

Of rewritten programs a part is enough: published programs are set beside them where the detector
met both.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter
from pathlib import Path

from msgspec.structs import replace

from evaluation.catalog import submissions
from evaluation.keys import detector_digest
from evaluation.model import Alarm, Detector, Rule
from evaluation.planting import judgements
from evaluation.reading.rewritten import committed_with_rewritten
from evaluation.records import CheckRecord, Records, program_name
from evaluation.running.answers import thin
from evaluation.running.campaign import CampaignResult
from evaluation.running.options import CampaignOptions
from evaluation.scoring.report import write_table
from evaluation.scoring.rewritten import FILE, side_by_side
from evaluation.store.committed import CommittedChecks
from runner.bugs.catalog import Catalog
from runner.errors import UsageError
from runner.files.swap import changing
from runner.files.untrusted import without_folders
from runner.results.revision import find_revision
from runner.session.options import Options


def homes(options: CampaignOptions, root: Path) -> dict[str, Path]:
    """By detector, the folder of its committed records: that of its submission,
    or the one of all of ours.

    Raises CatalogError.
    """
    ours = root / "detectors" / "expected"
    return {
        detector.name: submissions.find_records(root, detector) or ours
        for detector in options.detectors
    }


def refuse_part(options: CampaignOptions, session_options: Options, root: Path) -> None:
    """Raise UsageError for an evaluation of less than everything:
    the table compares what met the same programs.

    Submissions may be of a part, and so may rewritten programs: what they are beside is chosen by
    what they met. One kind of reference runs is enough, since each is a row, but committed rows of
    the same code are not dropped for it.
    """
    if options.rewriting:
        return
    folders = homes(options, root)
    if all(folder.parent.name == submissions.FOLDER for folder in folders.values()):
        return
    for detector in options.detectors:
        _refuse_loss(detector, options, CommittedChecks(folders[detector.name]))
    part = (
        options.bugs
        or options.controls != "all"
        or session_options.label
        or session_options.seeds is not None
    )
    if part or options.overhead_on is None:
        raise UsageError(
            "--update-expected is for whole evaluations: leave out what chooses bugs, seeds and "
            "the like"
        )
    catalog = Catalog(root)
    targets = catalog.select(catalog.active())
    with_data = [target.case.id for target in targets if target.case.program.data]
    if with_data and session_options.data is None:
        raise UsageError(
            f"--update-expected is for whole evaluations: {', '.join(with_data)} need --data DIR"
        )


def refuse_uncommitted(options: CampaignOptions) -> None:
    """Raise UsageError for a detector that is not committed as it is: nothing has run yet."""
    for detector in options.detectors:
        revision = find_revision(detector.directory)
        if revision is None or revision.endswith("-dirty"):
            raise UsageError(
                f"detector {detector.name} is not committed: expected records are of committed "
                "detectors; commit it, and call this again"
            )


def _refuse_loss(detector: Detector, options: CampaignOptions, expected: CommittedChecks) -> None:
    digest = detector_digest(detector)
    checks = expected.read([detector.name]).checks
    committed = {check.references for check in checks if check.code == digest}
    lost = sorted(committed - {"none", *options.references})
    if lost:
        raise UsageError(
            f"{detector.name} has committed records with {lost[0]} references: add {lost[0]} to "
            "--references"
        )


def no_tables(folder: Path, copy: Path) -> None:
    """Stands for what makes the tables and figures that are committed with the records of a
    folder.
    """


def promote_checks(
    options: CampaignOptions,
    result: CampaignResult,
    folders: Mapping[str, Path],
    tabulate: Callable[[Path, Path], None] = no_tables,
) -> dict[Path, CommittedChecks]:
    """Put the records of the evaluated detectors in the place of earlier ones;
    returns where they are, by the folder.

    `tabulate` gets a folder, and the copy that will be it, where it writes what is made of the
    records. After a crash all of a folder is new, or nothing is.

    Those of rewritten programs are in a folder of it, with the list of planted faults; those by
    further seeds than the smallest one of a case, too. Without such ones, earlier ones stay where
    the program is what it was. Nothing is done where there are no folders. Raises UsageError for
    records of what is not committed or not pinned, for an evaluation in which a program did not
    run, and for a detector that met none.
    """
    if not folders:
        return {}
    _refuse(options, result)
    for folder in dict.fromkeys(folders.values()):
        detectors = [detector for detector in options.detectors if folders[detector.name] == folder]
        with changing(folder) as copy:
            _put(options, result, detectors, CommittedChecks(copy).rewritten_by(options.rewriting))
            tabulate(folder, copy)
    return {
        folder: CommittedChecks(folder).rewritten_by(options.rewriting)
        for folder in folders.values()
    }


def _put(
    options: CampaignOptions,
    result: CampaignResult,
    detectors: Iterable[Detector],
    expected: CommittedChecks,
) -> None:
    """Put the records of these detectors into the copy of their folder."""
    for detector in detectors:
        met = [record for record in result.checks if record.detector == detector.name]
        checks = [thinned(record, detector.alarm_rules.values()) for record in met]
        overheads = [record for record in result.overheads if record.detector == detector.name]
        first, further = (checks, []) if options.rewriting else _by_seed(checks)
        earlier = (expected.further.root / f"{detector.name}.jsonl").exists()
        further = further or (_still_valid(expected, detector, first) if earlier else [])
        expected.replace(detector, first, overheads)
        if further or earlier:
            expected.further.replace(detector, further, ())
    if options.plant is not None:
        _keep_judgements(result.folder.parent, expected.root)


def _by_seed(checks: Sequence[CheckRecord]) -> tuple[list[CheckRecord], list[CheckRecord]]:
    """The checks by the smallest seed of each case, of which tables are made,
    and those by further ones.
    """
    first_seeds: dict[tuple[str, str], int] = {}
    for check in checks:
        case = (check.bug, check.case)
        first_seeds[case] = min(check.seed, first_seeds.get(case, check.seed))
    first: list[CheckRecord] = []
    further: list[CheckRecord] = []
    for check in checks:
        if check.seed == first_seeds[check.bug, check.case]:
            first.append(check)
        else:
            further.append(check)
    return first, further


def _still_valid(
    expected: CommittedChecks, detector: Detector, first: Sequence[CheckRecord]
) -> list[CheckRecord]:
    """The committed records by further seeds of those programs that are still what they were by the
    first one.
    """
    committed = expected.read([detector.name]).checks
    digests = {program_name(check): check.program for check in committed}
    unchanged = set()
    for check in first:
        *name, _ = program_name(check)
        if digests.get(program_name(check)) == check.program:
            unchanged.add(tuple(name))
    further = expected.further.read([detector.name]).checks
    return [check for check in further if program_name(check)[:-1] in unchanged]


def _keep_judgements(results: Path, committed: Path) -> None:
    """Add the evaluation's judgements of planted faults; of programs that it had not,
    the committed ones stay.
    """
    merged = judgements.merge(judgements.read(committed), judgements.read(results))
    judgements.write(committed, merged)


def renew_side_by_side(folder: Path) -> Records | None:
    """Write side-by-side.csv of the committed records in a folder anew,
    or remove it where it would be empty.

    Returns the records that are set side by side; None where none of rewritten programs are
    committed.
    """
    records = committed_with_rewritten([folder])
    path = folder / FILE
    if records is None or not records.checks:
        path.unlink(missing_ok=True)
    else:
        write_table(side_by_side(records), path)
    return records


def thinned(record: CheckRecord, rules: Iterable[Rule]) -> CheckRecord:
    """The record with fewer alarms, since all are large files: the first one of each code and
    severity, with the number of these.

    The alarms are cut where a rule has enough, and each part has its first ones: so each rule
    counts what it counted, and decides in the same iteration. Neither a reason nor an alarm names a
    folder of this machine.
    """
    ordered = sorted(record.alarms, key=attrgetter("when"))
    cuts = _deciding_places(ordered, rules)
    parts = [ordered[first:end] for first, end in pairwise([0, *cuts, len(ordered)])]
    alarms = [_without_folders(alarm) for part in parts for alarm in _first_ones(part)]
    reason = record.reason and without_folders(record.reason)
    return replace(record, reason=reason, alarms=tuple(alarms))


def _without_folders(alarm: Alarm) -> Alarm:
    return replace(alarm, message=without_folders(alarm.message))


def _deciding_places(alarms: Sequence[Alarm], rules: Iterable[Rule]) -> list[int]:
    """The places among the alarms at which a rule has enough, the first one aside."""
    places_by_id = {id(alarm): place for place, alarm in enumerate(alarms)}
    deciding_alarms = [rule.deciding(rule.counted(alarms)) for rule in rules]
    places = {places_by_id[id(alarm)] for alarm in deciding_alarms if alarm is not None}
    return sorted(places - {0})


def _first_ones(alarms: Sequence[Alarm]) -> list[Alarm]:
    """The first alarm of each code and severity, with the number of these."""
    first_alarms, _ = thin(alarms, 1)
    counts = Counter((alarm.code, alarm.severity) for alarm in alarms)
    return [replace(alarm, times=counts[alarm.code, alarm.severity]) for alarm in first_alarms]


def _refuse(options: CampaignOptions, result: CampaignResult) -> None:
    for record in result.checks:
        _refuse_record(record)
    if result.broken:
        raise UsageError(
            f"{result.broken[0].run.name} does not run by itself: expected records stay as they are"
        )
    checked = {record.detector for record in result.checks}
    unchecked = {detector.name for detector in options.detectors} - checked
    if unchecked:
        raise UsageError(
            f"detector {min(unchecked)} met no program: expected records stay as they are"
        )


def _refuse_record(record: CheckRecord) -> None:
    if (record.revision or "-dirty").endswith("-dirty"):
        raise UsageError(
            f"detector {record.detector} is not committed: expected records stay as they are; "
            "commit it"
        )
    if not record.runtime.pinned or record.runtime.trusted:
        raise UsageError(
            f"{record.name} did not run in a pinned environment: expected records stay as they are"
        )
