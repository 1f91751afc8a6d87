"""Validation of bug directories: static checks that return a list of problems and run no script."""

import ast
import difflib
import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from runner.bugs.catalog import load_bug
from runner.bugs.model import VARIANTS, Bug, Case, Series
from runner.environments import spec
from runner.errors import CatalogError, MeasureError, ResultsError
from runner.execution.run import read_scripts, run_key
from runner.files import untrusted
from runner.results.expected import expected_records, version_records
from runner.results.record import RunRecord
from runner.verdicts.affected import AFFECTED, findings
from runner.verdicts.series import values
from runner.verdicts.verdict import INVALID

# Words that would tell a reader, or a detector, which variant a script is. Names in PyTorch's own API do not match.
TELLTALE = re.compile(r"(?i)\b(bugs?|buggy|fix|fixed|fixme|wrong|fault|faulty|mistake|trainbugs|missing)\b")
ALLOWED = re.compile(r"TRAINBUGS_[A-Z]+|trainbugs run|\.cache|\"trainbugs\"")
SECTIONS = ("What to expect", "What is wrong", "Root cause", "The fix", "Impact", "How it could be detected")
# The time to compare two scripts grows with the square of their length.
MAX_LINES = 2_000
DIFF_BLOCK = re.compile(r"^```diff\n(.*?)^```", re.MULTILINE | re.DOTALL)


def problems(directory: Path, root: Path) -> list[str]:
    """What is wrong with a bug directory, a line each; empty where it is well formed. `root` holds the environments."""
    try:
        bug = load_bug(directory)
    except CatalogError as error:
        return [str(error)]
    unreadable = [problem for path in (*bug.scripts, bug.directory / "README.md") for problem in _check_text(path)]
    if unreadable:
        return unreadable
    checks = (_check_todo, _check_files, _check_scripts, _check_readme, _check_cases)
    wrong = [problem for check in checks for problem in check(bug)]
    return [*wrong, *_check_environments(bug, root), *_check_expected(bug, root), *_check_map(bug, root)]


def _check_text(path: Path) -> Iterator[str]:
    if not path.exists():
        return
    try:
        text = untrusted.read_text(path, untrusted.MAX_TEXT_BYTES, path.parent)
    except untrusted.UnsafeError as error:
        yield f"{path.name}: {error}"
        return
    length = len(text.splitlines())
    if length > MAX_LINES and path.suffix == ".py":
        yield f"{path.name}: has {length} lines, expected at most {MAX_LINES}"


def real_diff(case: Case) -> str:
    """The diff between the scripts of a case that its README must show (unified, three lines of context)."""
    buggy, fixed = (case.program.variants[name].script for name in VARIANTS)
    lines = difflib.unified_diff(_lines(buggy), _lines(fixed), buggy.name, fixed.name)
    return "".join(lines)


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
                yield f"case {case.name}: there is no {variant.script.name}; add it, or name another script"
    # Only among the scripts: any other name is a file of a package, or could be any file on this machine.
    site = next((script for script in bug.scripts if script.name == bug.site.file), None)
    if site is not None and bug.site.line is not None and bug.site.line > len(_lines(site)):
        yield f"site.line is {bug.site.line}, {bug.site.file} has {len(_lines(site))} lines"


def _check_scripts(bug: Bug) -> Iterator[str]:
    for script in bug.scripts:
        text = script.read_text(encoding="utf-8")
        try:
            tree = _parse(text)
        except SyntaxError as error:
            yield f"{script.name}: line {error.lineno}: {error.msg}"
            continue
        except (ValueError, RecursionError, MemoryError):
            yield f"{script.name}: cannot be parsed: an expression in it is nested too deeply"
            continue
        for number, line in enumerate(text.splitlines(), 1):
            word = TELLTALE.search(ALLOWED.sub("", line))
            if word:
                yield f"{script.name}: line {number} says {word.group()!r}; say that in the README, detectors read this"
        imported = _imports(tree)
        for name in sorted(imported & {"runner", "plots", "detectors", "evaluation", "trainbugs"}):
            yield f"{script.name}: imports {name}; a script must run without this project"
        own = {path.stem for path in bug.scripts if path not in (script, *bug.shared)}
        for name in sorted(imported & own):
            yield f"{script.name}: imports {name}.py, a variant's script; what scripts share belongs into another file"


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():  # about invalid escapes, say: they are not a problem of the directory
        warnings.simplefilter("ignore")
        return ast.parse(text)


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
            yield f"README.md lacks the real difference of case {case.name} in a ```diff block; it is:\n{diff}"
        if not diff and len({variant.environment for variant in case.program.variants.values()}) == 1:
            yield f"case {case.name}: the variants have the same script in the same environment"


def _check_cases(bug: Bug) -> Iterator[str]:
    for case in bug.cases.values():
        for item in case.oracle.expectations:
            if item.metric in case.oracle.volatile:
                yield f"case {case.name}: {item.statement!r} judges {item.metric}, which is volatile"
            if isinstance(item.value, tuple) and item.reduce != "all":
                yield f"case {case.name}: {item.statement!r}: a list as value needs reduce all, not {item.reduce}"


def _check_expected(bug: Bug, root: Path) -> Iterator[str]:
    for case in bug.cases.values():
        try:
            records = expected_records(bug, case.name)
        except ResultsError as error:
            yield str(error)
            continue
        finished = {(record.variant, record.seed) for record in records if record.ok}
        required = {(variant, seed) for variant in VARIANTS for seed in case.program.seeds}
        if finished != required:
            have = f"{len(finished & required)} of {len(required)} runs"
            yield f"expected/{case.name} has {have}; `trainbugs run {bug.id} --update-expected` makes them"
            continue
        yield from _check_current(bug, case, records, root)
        yield from _check_series(bug, case, records)


def _check_current(bug: Bug, case: Case, records: Iterable[RunRecord], root: Path) -> Iterator[str]:
    for record in records:
        if not _is_current(bug, case, record, case.program.variants[record.variant].environment, root):
            name = f"expected/{case.name}/{record.variant}-seed{record.seed}.json"
            yield f"{name} is of other scripts, parameters or another lock; run `… --update-expected` again"


def _is_current(bug: Bug, case: Case, record: RunRecord, named: str, root: Path) -> bool:
    """Whether a record is of the present scripts, parameters and lock of that environment: its key is the same."""
    runtime = (record.environment, record.lock, str(record.pinned), record.python, record.torch)
    scripts = read_scripts(bug, case.program.variants[record.variant])
    key = run_key(case, record.variant, scripts, record.seed, record.device, runtime, record.data)
    lock = spec.load(root, named).lock_hash if named in spec.names(root) else record.lock
    return (key, record.environment, record.lock) == (record.key, named, lock)


def _check_map(bug: Bug, root: Path) -> Iterator[str]:
    """The map of versions is of the present files, and agrees with `affected` in config.json."""
    try:
        records = version_records(bug)
    except ResultsError as error:
        yield str(error)
        return
    for record in records:
        case = bug.cases.get(record.case)
        if case is None or not _is_current(bug, case, record, record.environment, root):
            name = f"expected/versions/{record.environment}/{record.case}"
            yield f"{name} is of other scripts, parameters or another lock; run `versions … --update-expected` again"
            return
    states: dict[str, set[str]] = {}
    for item in findings(bug, records):
        states.setdefault(item.torch, set()).add(item.state)
    named = set(bug.affected.versions) if bug.affected else set()
    for torch, shown in states.items():
        if shown != {INVALID} and (AFFECTED in shown) != (torch in named):
            verb = "names" if torch in named else "does not name"
            yield f"config.json: affected {verb} {torch}; the map in expected/versions has {', '.join(sorted(shown))}"


def _check_series(bug: Bug, case: Case, records: Iterable[RunRecord]) -> Iterator[str]:
    """Every metric that an expectation or a figure names exists in the expected records."""
    required: list[tuple[str, Series]] = [(item.variant, item) for item in case.oracle.expectations]
    panels = () if case.plot.heatmap else case.plot.panels
    required += [(variant, line) for panel in panels for line in panel.lines for variant in VARIANTS]
    for seed in case.program.seeds:
        by_variant = {record.variant: record.metrics for record in records if record.seed == seed}
        for variant, series in required:
            try:
                values(series, variant, by_variant)
            except MeasureError as error:
                yield f"case {case.name}: seed {seed}: {error}"


def _check_environments(bug: Bug, root: Path) -> Iterator[str]:
    known = spec.names(root)
    named = {variant.environment for case in bug.cases.values() for variant in case.program.variants.values()}
    for name in sorted(named - set(known)):
        yield f"there is no environment {name!r}; expected one of {', '.join(known) or '(none)'}"


def _by_scripts(bug: Bug) -> list[Case]:
    """One case for each pair of scripts that exists."""
    pairs = {tuple(variant.script for variant in case.program.variants.values()): case for case in bug.cases.values()}
    return [case for scripts, case in pairs.items() if all(script.is_file() for script in scripts)]


def _imports(tree: ast.Module) -> set[str]:
    plain = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    froms = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return {name.split(".")[0] for name in plain | froms}


def _bare(text: str) -> str:
    """The text without blanks at the ends of lines and blank lines at the end, which editors remove."""
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip("\n")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines(keepends=True)
