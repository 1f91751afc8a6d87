"""Checks of the ground truth: where the fault is said to be, and when it is said to act first."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.program import VARIANTS
from runner.environments import spec, wheels
from runner.errors import CatalogError, UsageError
from runner.files import untrusted
from runner.files.schema_errors import near
from runner.results.record import RunRecord

# Fields of records that count training iterations.
ITERATIONS = ("step", "iteration", "update", "call")
# An iteration of PyTorch with a backward pass and a step takes longer than 0.1 ms.
PER_SECOND = 10_000
# The API of the site stands at most so many lines away from its line.
NEAR_LINES = 5


def check_site(bug: Bug, root: Path) -> Iterator[str]:
    """The site is a line that the fix changes, or one of an installed file, as far as that can be
    known here.
    """
    site = bug.site
    script = next((path for path in bug.scripts if path.name == site.file), None)
    if script is not None:
        yield from _in_script(bug, script)
    elif "/" not in site.file:
        suggestion = near(site.file, [path.name for path in bug.scripts])
        yield (
            f"site.file is {untrusted.brief(site.file)}, no script of the bug{suggestion}, nor a "
            "path in a package"
        )
    else:
        yield from _in_package(bug, root)


def _in_script(bug: Bug, script: Path) -> Iterator[str]:
    line, length = bug.site.line, len(_lines(script))
    if line is None:
        return
    if line > length:
        yield f"site.line is {line}, {script.name} has {length} lines"
        return
    if bug.retired is None:
        yield from _check_api(bug, line, _lines(script))
    # Elsewhere than in user code the fixed twin is a work-around, which may stand in another place
    # than the fault.
    if bug.labels.location != "user code":
        return
    hunks: list[tuple[int, int]] = []
    for case in bug.cases.values():
        hunks += _hunks(case, script)
    if hunks and not any(first - 1 <= line <= last + 1 for first, last in hunks):
        places = " or ".join(dict.fromkeys(_words(first, last) for first, last in hunks))
        yield (
            f"site.line is {line}, but the fix changes {script.name} {places}; the site is in or "
            "beside that"
        )


def _check_api(bug: Bug, line: int, lines: Sequence[str]) -> Iterator[str]:
    """The last part of the API stands near the line."""
    name = bug.site.api.rpartition(".")[2]
    nearby = "".join(lines[max(0, line - 1 - NEAR_LINES) : line + NEAR_LINES])
    stands = name in nearby
    place = f"within {NEAR_LINES} lines of {bug.site.file}:{line}"
    if not stands and bug.site.implicit is None:
        yield (
            f"site.api is {bug.site.api}, and {name} does not stand {place}; site.implicit may say "
            "why"
        )
    if stands and bug.site.implicit is not None:
        yield f"site.implicit is given, and {name} stands {place}; leave it out"


def _hunks(case: Case, script: Path) -> list[tuple[int, int]]:
    """First and last line of what the fix changes in the buggy script, from 1; an insertion lies
    between two lines.
    """
    buggy, fixed = (case.program.variants[name].script for name in VARIANTS)
    if script != buggy or not fixed.is_file():
        return []
    matcher = difflib.SequenceMatcher(None, _lines(buggy), _lines(fixed), autojunk=False)
    return [(start + 1, end) for tag, start, end, _, _ in matcher.get_opcodes() if tag != "equal"]


def _words(first: int, last: int) -> str:
    if last < first:
        return f"between lines {last} and {first}"
    return f"in line {first}" if first == last else f"in lines {first} to {last}"


def _in_package(bug: Bug, root: Path) -> Iterator[str]:
    """Nothing is known of files of an environment that is not built, nor of what is compiled before
    it is installed.
    """
    place = str(bug.brought or bug.environment)
    try:
        built = spec.find(spec.load(root, place))
    except (CatalogError, UsageError):
        return
    site, parts = bug.site, Path(bug.site.file).parts
    if built is None or ".." in parts or parts[0] == "/":
        return
    for packages in built.directory.glob(wheels.SITE_PACKAGES):
        path = packages.joinpath(*parts)
        if path.is_file():
            length = path.read_bytes().count(b"\n") + 1
            if site.line and site.line > length:
                yield (
                    f"site.line is {site.line}, {site.file} of {bug.environment} has {length} lines"
                )
        elif site.line or (path.suffix == ".py" and (packages / parts[0]).is_dir()):
            yield (
                f"site.file is {untrusted.brief(site.file)}, and {bug.environment} has no such file"
            )


def check_trigger(case: Case, records: Iterable[RunRecord]) -> Iterator[str]:
    """The trigger lies within the runs, as far as their records or their length tell how many
    iterations they have.
    """
    buggy = [record for record in records if record.ok and record.variant == "buggy"]
    trigger, x = case.truth.iteration, case.plot.x
    if not buggy:
        return
    iterations: list[int] = []
    for run in buggy:
        iterations += [record[x] for record in run.metrics if isinstance(record.get(x), int)]
    last = max(iterations, default=trigger)
    if x in ITERATIONS and trigger > last:
        yield (
            f"case {case.name}: trigger.iteration is {trigger}, the last {x} of the buggy runs is "
            f"{last}"
        )
    seconds = max(record.wall_s for record in buggy)
    if trigger > seconds * PER_SECOND:
        yield (
            f"case {case.name}: trigger.iteration is {trigger}, too many for the {seconds:.1f} s "
            "of a buggy run"
        )


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines(keepends=True)
