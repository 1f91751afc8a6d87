"""The catalogue as the page docs/bugs.md."""

from collections import Counter
from collections.abc import Sequence

from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.results.expected import CPU, CUDA, seen_on
from trainbugs.cli.text import seconds_text

COLUMNS = (
    "bug",
    "what happens",
    "where",
    "program",
    "environment",
    "cases (seconds on two cores)",
)


def catalogue_page(bugs: Sequence[Bug]) -> str:
    """The page: how many bugs there are and where, then a row per bug."""
    locations = Counter(bug.labels.location for bug in bugs)
    numbers = ", ".join(f"{location} {count}" for location, count in locations.most_common())
    cases = [(bug, case) for bug in bugs for case in bug.cases.values()]
    lines = [
        "# The bugs",
        "",
        f"{len(bugs)} bugs with {len(cases)} cases; where the fault is: {numbers}.",
        _devices(cases),
        "`trainbugs list --markdown` prints this page; [Running bugs](running.md#words) explains the words, and",
        "[Taxonomy](taxonomy.md) how near each program is to the report's.",
        "",
        _line(COLUMNS),
        "|---" * len(COLUMNS) + "|",
    ]
    return "\n".join([*lines, *map(_row, bugs)])


def _row(bug: Bug) -> str:
    cells = [
        f"[{bug.id}](../bugs/{bug.id}/README.md)",
        ("(retired) " if bug.retired else "") + bug.title,
        bug.labels.location,
        _realism(bug),
        bug.environment,
        ", ".join(_case(bug, case) for case in bug.cases.values()),
    ]
    return _line([cell.replace("|", "\\|") for cell in cells])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _devices(cases: Sequence[tuple[Bug, Case]]) -> str:
    """On which kinds of devices the cases were seen."""
    ids: dict[str, list[str]] = {CPU: [], CUDA: []}
    for bug, case in cases:
        for device in seen_on(bug, case.name):
            if device in ids:
                ids[device].append(case.id)
    gpu = f"on a GPU {', '.join(ids[CUDA])}" if ids[CUDA] else "on a GPU none yet"
    return f"Seen on a CPU: {len(ids[CPU])} cases; {gpu}."


def _realism(bug: Bug) -> str:
    entries = [case.provenance.realism for case in bug.cases.values() if case.provenance]
    return ", ".join(dict.fromkeys(entries)) or "-"


def _case(bug: Bug, case: Case) -> str:
    words = [seconds_text(bug, case), *case.program.needs]
    if case.benign:
        words.append("benign")
    return f"`{case.name}` ({', '.join(words)})"
