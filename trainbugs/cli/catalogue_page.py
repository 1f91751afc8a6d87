"""The catalogue as the page docs/bugs.md."""

import html
from collections import Counter
from collections.abc import Sequence

from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.catalogue_counts import count_families, counted_bugs, counted_cases
from runner.plurals import counted as number_of
from runner.results.expected import CPU, CUDA, recorded_devices
from trainbugs.facts import BUG_FACTS, CASE_FACTS, BugCase

# The facts between the link to a bug and the list of its cases.
COLUMNS = ("headline", "location", "code_at_fault", "harm", "realisms", "environment")


def catalogue_page(bugs: Sequence[Bug]) -> str:
    """The page: how many bugs there are and where, then a row per bug."""
    counted = counted_bugs(bugs)
    locations = Counter(bug.labels.location for bug in counted)
    numbers = ", ".join(f"{location} {count}" for location, count in locations.most_common())
    families = count_families(bugs)
    cases = [(bug, case) for bug in counted for case in counted_cases(bug)]
    retired = sum(bug.retired is not None for bug in bugs)
    injected = len(bugs) - len(counted) - retired
    headings = [BUG_FACTS[name].heading.lower() for name in ("id", *COLUMNS)]
    headings.append("cases (seconds on two cores)")
    lines = [
        "# The bugs",
        "",
        f"{len(counted)} bugs with {len(cases)} cases in {families} families; where the fault is: "
        f"{numbers}.",
        f"Not counted: {number_of(retired, 'retired bug')}, and {number_of(injected, 'bug')} whose "
        "fault is injected.",
        _devices(cases),
        "`trainbugs list --markdown` prints this page. The [glossary](glossary.md#bugs-and-runs) "
        "explains the words. The column `program`",
        "says [how near a program is to the program of the report]"
        "(taxonomy.md#how-near-a-program-is-to-the-reports).",
        "",
        _line(headings),
        "|---" * len(headings) + "|",
    ]
    return "\n".join([*lines, *map(_row, bugs)])


def _row(bug: Bug) -> str:
    cells = [
        f"[{bug.id}](../bugs/{bug.id}/README.md)",
        *(BUG_FACTS[name].text(bug) for name in COLUMNS),
        ", ".join(_case(BugCase(bug, case)) for case in bug.cases.values()),
    ]
    return _line([*map(_escaped, cells)])


def _escaped(cell: str) -> str:
    """A cell of a table whose text is no HTML: somebody else may have written the title."""
    return html.escape(cell, quote=False).replace("|", "\\|")


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _devices(cases: Sequence[tuple[Bug, Case]]) -> str:
    """On which kinds of devices the cases were seen."""
    ids: dict[str, list[str]] = {CPU: [], CUDA: []}
    for bug, case in cases:
        for device in recorded_devices(bug, case.name):
            if device in ids:
                ids[device].append(case.id)
    return f"Seen on a CPU: {len(ids[CPU])} cases; on a GPU: {len(ids[CUDA])}."


def _case(subject: BugCase) -> str:
    case = subject.case
    words = [CASE_FACTS["seconds"].text(subject), *case.program.needs]
    if case.benign:
        words.append("benign")
    if case.never_run:
        words.append("not run in its environment")
    return f"`{case.name}` ({', '.join(words)})"
