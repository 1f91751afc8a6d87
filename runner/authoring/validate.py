"""Validation of bug directories: static checks that return a list of problems and run no script."""

import difflib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from runner.authoring.current import PresentFiles, check_digests, is_current
from runner.authoring.declared import check_declared
from runner.authoring.harm import check_harm, check_horizon_keys
from runner.authoring.judgement import check_lines, check_verdicts
from runner.authoring.labels import check_labels, check_provenance, check_wrong_evaluation
from runner.authoring.scripts import check_reads_device, check_scripts, check_tells, check_text
from runner.authoring.studies import check_studies
from runner.authoring.surplus import check_surplus
from runner.authoring.tables import check_tables
from runner.authoring.together import (
    check_affected,
    check_revisions,
    check_versions,
    check_whole_map,
)
from runner.authoring.truth import check_site, check_trigger
from runner.authoring.upstream import check_upstream
from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.catalog import Catalog, load_bug
from runner.bugs.program import VARIANTS
from runner.environments import spec
from runner.errors import CatalogError, ResultsError, UsageError
from runner.files import untrusted
from runner.results.expected import CPU, CUDA, expected_records, version_records
from runner.results.record import RunRecord, run_name
from runner.verdicts.affected import AFFECTED, findings
from runner.verdicts.complete_runs import flaw
from runner.verdicts.verdict import INVALID, unjudged

SECTIONS = (
    "What to expect",
    "What is wrong",
    "Root cause",
    "The fix",
    "Impact",
    "How it could be detected",
)
DIFF_BLOCK = re.compile(r"^```diff\n(.*?)^```", re.MULTILINE | re.DOTALL)


def problems(directory: Path, root: Path) -> list[str]:
    """What is wrong with a bug directory, a line each; empty where it is well formed.

    `root` holds the environments. What would move the cursor of a terminal is shown escaped: a
    diff shows the text of scripts.
    """
    try:
        bug = load_bug(directory)
    except CatalogError as error:
        return [str(error)]
    unreadable = [
        problem
        for path in (*bug.scripts, bug.directory / "README.md")
        for problem in check_text(path)
    ]
    if unreadable:
        return unreadable
    checks = (
        _check_name,
        _check_todo,
        _check_files,
        check_scripts,
        check_tells,
        _check_readme,
        _check_cases,
    )
    root_checks = (
        check_site,
        _check_environments,
        check_versions,
        _check_expected,
        check_surplus,
        check_upstream,
        _check_map,
        check_studies,
        check_horizon_keys,
        check_tables,
    )
    problems: list[str] = []
    for check in (*checks, check_labels, check_provenance, check_declared):
        problems += check(bug)
    for root_check in root_checks:
        problems += root_check(bug, root)
    return [untrusted.printable_lines(problem) for problem in problems]


def real_diff(case: Case) -> str:
    """The diff between the scripts of a case that its README must show (unified, three lines of
    context).
    """
    buggy, fixed = (case.program.variants[name].script for name in VARIANTS)
    lines = difflib.unified_diff(_lines(buggy), _lines(fixed), buggy.name, fixed.name)
    return "".join(lines)


def _check_name(bug: Bug) -> Iterator[str]:
    if bug.directory.name != bug.id:
        yield f"the directory is called {bug.directory.name}, expected the ID, {bug.id}"


def _check_todo(bug: Bug) -> Iterator[str]:
    for path in (bug.directory / "config.json", bug.directory / "README.md", *bug.scripts):
        lines = _lines(path) if path.is_file() else []
        open_ = [str(number) for number, line in enumerate(lines, 1) if "TODO" in line]
        if open_:
            yield f"{path.name}: still TODO: line{'s' if len(open_) > 1 else ''} {', '.join(open_)}"


def _check_files(bug: Bug) -> Iterator[str]:
    for case in bug.cases.values():
        for variant in case.program.variants.values():
            if not variant.script.is_file():
                yield (
                    f"case {case.name}: there is no {variant.script.name}; add it, or name another "
                    "script"
                )


def _check_readme(bug: Bug) -> Iterator[str]:
    path = bug.directory / "README.md"
    if not path.is_file():
        yield "there is no README.md"
        return
    text = path.read_text(encoding="utf-8")
    if bug.source not in text:
        yield f"README.md does not link to the source, {bug.source}"
    for section in SECTIONS:
        if not re.search(rf"(?mi)^##+ {re.escape(section)}", text):
            yield f"README.md has no section '## {section}'"
    blocks = {_bare(block) for block in DIFF_BLOCK.findall(text)}
    for case in _by_scripts(bug):
        diff = _bare(real_diff(case))
        if diff and diff not in blocks:
            yield (
                f"README.md lacks the real difference of case {case.name}, the whole unified diff "
                f"and nothing else in a ```diff block; it is:\n{diff}"
            )
        if not diff and len({case.program.variants[name].environment for name in VARIANTS}) == 1:
            yield f"case {case.name}: the variants have the same script in the same environment"


def _check_cases(bug: Bug) -> Iterator[str]:
    for case in bug.cases.values():
        obstacle = unjudged(case)
        if obstacle:
            yield f"case {case.name}: {obstacle}"
        for item in case.oracle.expectations:
            judged = {item.metric}
            if item.other and item.other.metric:
                judged.add(item.other.metric)
            for metric in sorted(judged & case.oracle.volatile):
                yield f"case {case.name}: {item.statement!r} judges {metric}, which is volatile"


def _check_expected(bug: Bug, root: Path) -> Iterator[str]:
    again = f"`trainbugs run {Catalog(root).shell_name(bug)} --force --update-expected`"
    present = PresentFiles(bug, root)
    for case in bug.cases.values():
        try:
            records = expected_records(bug, case.name, CUDA if "gpu" in case.program.tools else CPU)
        except ResultsError as error:
            yield str(error)
            continue
        yield from _check_numbers(case, records)
        yield from check_digests(f"expected/{case.name}", records, again)
        yield from check_revisions(f"expected/{case.name}", records, again)
        if case.never_run:
            if not all(record.injected for record in records):
                yield (
                    f"case {case.name}: never_run is true, and expected/{case.name} has records; "
                    "leave it out"
                )
            yield from _check_current(present, case, records, again)
            continue
        finished = {(record.variant, record.seed) for record in records if record.ok}
        required = {(variant, seed) for variant in VARIANTS for seed in case.program.seeds}
        if not required <= finished:
            have = f"{len(finished & required)} of {len(required)} runs"
            yield f"expected/{case.name} has {have}; {again} makes them"
            continue
        yield from _check_current(present, case, records, again)
        yield from check_verdicts(case, records)
        yield from check_lines(case, records)
        yield from check_trigger(case, records)
        yield from check_reads_device(bug, case)
        if bug.retired is None:
            yield from check_harm(bug, case, records)
            yield from check_wrong_evaluation(bug, case, records)
        yield from check_affected(bug, case, records, root)


def _check_numbers(case: Case, records: Iterable[RunRecord]) -> Iterator[str]:
    """The case says how many records a whole run of each variant has, and its expected records are
    whole.
    """
    finished = [record for record in records if record.ok]
    if any(variant.records is None for variant in case.program.variants.values()):
        numbers = sorted({f"{record.variant} {len(record.metrics)}" for record in finished})
        have = f"; the expected runs have: {', '.join(numbers)}" if numbers else ""
        yield f"case {case.name} has no `records`, the number of records of a whole run{have}"
    for record in finished:
        problem = flaw(case, record)
        if problem:
            yield f"expected/{case.name}/{run_name(record)}.json is {problem}"


def _check_current(
    present: PresentFiles, case: Case, records: Iterable[RunRecord], again: str
) -> Iterator[str]:
    for record in records:
        place = case.program.variants[record.variant].place
        if record.runtime.kind_of_device == CUDA:
            # On a GPU any interpreter will do.
            place = record.runtime.environment
        if not is_current(present, case, record, place):
            name = f"expected/{case.name}/{record.variant}-seed{record.seed}.json"
            yield f"{name} is of other scripts, parameters or another lock; {again} makes it anew"


def _check_map(bug: Bug, root: Path) -> Iterator[str]:
    """The map of versions is of the present files, and agrees with `affected` in config.json."""
    try:
        records = version_records(bug)
    except ResultsError as error:
        yield str(error)
        return
    again = f"`trainbugs versions {Catalog(root).shell_name(bug)} --force --update-expected`"
    yield from check_digests("expected/versions", records, again)
    present = PresentFiles(bug, root)
    for record in records:
        case = bug.cases.get(record.case)
        if case is None or not is_current(present, case, record, record.runtime.environment):
            name = f"expected/versions/{record.runtime.environment}/{record.case}"
            yield f"{name} is of other scripts, parameters or another lock; {again} makes it anew"
            return
    states: dict[str, set[str]] = {}
    for item in findings(bug, records):
        states.setdefault(item.version, set()).add(item.state)
    yield from check_whole_map(bug, records, states.keys(), again)
    affected = set(bug.affected.versions) if bug.affected else set()
    for version, shown in states.items():
        if shown != {INVALID} and (AFFECTED in shown) != (version in affected):
            verb = "names" if version in affected else "does not name"
            yield (
                f"config.json: affected {verb} {version}; the map in expected/versions has "
                f"{', '.join(sorted(shown))}"
            )


def _check_environments(bug: Bug, root: Path) -> Iterator[str]:
    places = {
        variant.place for case in bug.cases.values() for variant in case.program.variants.values()
    }
    for place in sorted(places):
        try:
            spec.load(root, place)
        except (CatalogError, UsageError) as error:
            yield str(error)


def _by_scripts(bug: Bug) -> list[Case]:
    """One case for each pair of scripts that exists."""
    cases: dict[tuple[Path, ...], Case] = {}
    for case in bug.cases.values():
        scripts = tuple(case.program.variants[name].script for name in VARIANTS)
        if all(script.is_file() for script in scripts):
            cases[scripts] = case
    return list(cases.values())


def _bare(text: str) -> str:
    """The text without blanks at the ends of lines and blank lines at the end, which editors
    remove.
    """
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip("\n")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines(keepends=True)
