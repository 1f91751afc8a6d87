"""What a maintainer would say of a submission: each thing that is missing or wrong, in a line."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation import keys
from evaluation.catalog import rule_settings, submissions
from evaluation.catalog.submissions import Submission
from evaluation.model import CONTROL, Detector
from evaluation.records import CheckRecord, Records
from evaluation.scoring.report import as_csv
from evaluation.scoring.tables import ScoreTables
from evaluation.store.committed import CommittedChecks
from runner.bugs.catalog import Catalog
from runner.errors import CatalogError, ResultsError, UsageError
from runner.files import untrusted
from runner.files.schema_errors import near
from runner.plurals import counted
from runner.results.record import MAX_RECORD_BYTES
from runner.results.revision import find_revision

# Answers of a detector that could not look.
UNANSWERED = ("tool_error", "timeout", "peeked", "disturbed")
MAX_PROGRAM_BYTES = 1_000_000
TABLES = ("scores", "outcomes", "comparisons")
AGAIN = "`trainbugs evaluate --detector submissions/{0}/{0} --update-expected` writes it anew"


@dataclass(frozen=True)
class Findings:
    """What is said of a submission: `problems` that keep it from being merged, and `notes`, about
    which a maintainer will ask.
    """

    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()


def check_submission(catalog: Catalog, folder: Path) -> Findings:
    """Look at the submission in a folder of submissions/; raises UsageError for another folder."""
    home = catalog.root / submissions.FOLDER
    path = folder.resolve()
    if path.parent != home.resolve() or not path.is_dir():
        raise UsageError(
            f"{untrusted.shown(path)} is no folder of {untrusted.shown(home)}; expected "
            "submissions/NAME in this clone"
        )
    name = path.name
    try:
        submission, detector = submissions.load(catalog.root, name)
        records = CommittedChecks(home / name).read()
    except (CatalogError, ResultsError) as error:
        return Findings((str(error),))
    problems = [
        *_described(catalog, submission, detector),
        *_unreadable(detector.directory),
        *_recorded(detector, records.checks),
    ]
    if not _unknown_bugs(catalog, submission):
        problems += _tabulated(catalog, home / name, records)
    return Findings(tuple(problems), tuple(_notes(catalog, detector, records.checks)))


def _unknown_bugs(catalog: Catalog, submission: Submission) -> Sequence[str]:
    """The names in `developed_on` that are no bugs: without them no table can be made."""
    return sorted(set(submission.developed_on) - set(catalog.ids()))


def _described(catalog: Catalog, submission: Submission, detector: Detector) -> Iterator[str]:
    """What is wrong with the detector and what is said of it."""
    unknown = _unknown_bugs(catalog, submission)
    if unknown:
        close = near(unknown[0], catalog.ids())
        yield f"submission.json: developed_on names {unknown[0]!r}, which is no bug here{close}"
    if not (detector.directory / "README.md").is_file():
        yield f"{detector.name}: there is no README.md, which tells its settings and its limits"
    rules = set(detector.alarm_rules)
    if len(rules) > 1 and rule_settings.DEFAULT not in rules:
        yield (
            f"detector.json: there are {len(rules)} alarm rules and none is called "
            "'default'; name the one that you stand by so"
        )
    revision = find_revision(detector.directory)
    if revision is None or revision.endswith("-dirty"):
        yield f"{detector.name}: is not committed as it is; commit it, then evaluate it"


def _unreadable(directory: Path) -> Iterator[str]:
    """The programs of a detector that nobody can read."""
    for path in sorted(directory.rglob("*.py")):
        try:
            untrusted.read_text(path, MAX_PROGRAM_BYTES, directory)
        except untrusted.UnsafeError as error:
            yield f"{untrusted.shown(path.relative_to(directory.parent))}: {error}"


def _recorded(detector: Detector, checks: Sequence[CheckRecord]) -> Iterator[str]:
    """What is wrong with the records: each kind of fault once, with a record that has it."""
    again = AGAIN.format(detector.directory.parent.name)
    if not checks:
        yield f"{detector.name}.jsonl: there are no records; {again.replace('it anew', 'them')}"
    faults: dict[str, list[CheckRecord]] = {}
    for check in checks:
        for fault in _faults(detector, check):
            faults.setdefault(fault, []).append(check)
    for fault, faulty in faults.items():
        first = faulty[0]
        more = f" (and {len(faulty) - 1} more)" if len(faulty) > 1 else ""
        yield f"{first.bug}/{first.case}/{first.kind}{more}: {fault}; {again}"


def _faults(detector: Detector, check: CheckRecord) -> Iterator[str]:
    if check.detector != detector.name or check.version != detector.version:
        yield f"is of {check.detector} {check.version}, expected {detector.version}"
    if check.rules != keys.rules_digest(detector.alarm_rules):
        yield (
            "was made with other alarm rules; put these back, or write a new version into "
            "detector.json"
        )
    if not check.runtime.pinned or check.runtime.trusted:
        yield "did not run in a pinned environment of your own"
    if (check.revision or "-dirty").endswith("-dirty"):
        yield "was made of a detector that was not committed"
    is_same_kit = check.kit == keys.kit_digest()
    if is_same_kit and check.code != keys.detector_digest(detector):
        yield "was made by another state of the detector"


def _tabulated(catalog: Catalog, folder: Path, records: Records) -> Iterator[str]:
    """Which tables are not those of the records."""
    if not records.checks:
        return
    tables = ScoreTables(records, catalog)
    frames = (tables.scores, tables.outcomes, tables.comparisons)
    for name, frame in zip(TABLES, frames, strict=True):
        path = folder / f"{name}.csv"
        try:
            text = untrusted.read_text(path, MAX_RECORD_BYTES, folder)
        except untrusted.UnsafeError as error:
            yield f"{path.name}: {error}; {AGAIN.format(folder.name)}"
            continue
        if text != as_csv(frame):
            yield f"{path.name}: is not that of the records; {AGAIN.format(folder.name)}"


def _notes(catalog: Catalog, detector: Detector, checks: Sequence[CheckRecord]) -> Iterator[str]:
    """What a maintainer will ask about."""
    programs = Counter("control" if check.kind == CONTROL else "bug" for check in checks)
    cases = {(check.bug, check.case) for check in checks if check.kind != CONTROL}
    yield (
        f"it met {counted(len(cases), 'case')} and {counted(programs['control'], 'control')}; "
        "rates are compared on programs that both detectors met"
    )
    unanswered = Counter(check.status for check in checks if check.status in UNANSWERED)
    for status, count in sorted(unanswered.items()):
        yield f"{count} of {len(checks)} programs have no answer: {status}. They count as missed"
    named = sorted(set(_named_bugs(catalog, detector.directory)))
    if named:
        yield (
            f"its files name {', '.join(named)}: a maintainer will ask why, and whether "
            "developed_on has them"
        )
    kits = {check.kit for check in checks}
    if checks and kits != {keys.kit_digest()}:
        yield "records were made with an earlier kit; they count until detectors are evaluated anew"


def _named_bugs(catalog: Catalog, directory: Path) -> Iterable[str]:
    """The bugs that the programs of a detector name."""
    for path in sorted(directory.rglob("*.py")):
        try:
            text = untrusted.read_text(path, MAX_PROGRAM_BYTES, directory)
        except untrusted.UnsafeError:  # `_unreadable` names it
            continue
        for bug in catalog.ids():
            if re.search(rf"(?<![\w-]){re.escape(bug)}(?![\w-])", text):
                yield bug
