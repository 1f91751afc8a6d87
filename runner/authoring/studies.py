"""Checks of a bug's studies: their files, and whether the committed table is of the present
ones.
"""

from collections.abc import Iterator
from pathlib import Path

from runner.authoring.current import environment_at
from runner.authoring.scripts import check_scripts, check_text
from runner.bugs.bug import Bug
from runner.bugs.program import VARIANTS
from runner.errors import TrainbugsError
from runner.execution.key import read_scripts, run_key
from runner.files import untrusted
from runner.studies import table
from runner.studies.centres import centres
from runner.studies.definition import FOLDER, Study, load, names
from runner.studies.plan import point_case
from runner.studies.running import Results
from runner.studies.summary import summary
from runner.studies.table import KEY_LENGTH, StudyRow


def check_studies(bug: Bug, root: Path) -> Iterator[str]:
    """What is wrong with the bug's studies, each line with the name of the file."""
    studies = []
    for name in names(bug):
        try:
            studies.append(load(bug, name))
        except TrainbugsError as error:
            yield str(error)
    if studies:
        yield from (f"{FOLDER}/{problem}" for problem in _check_programs(studies[0].folder))
    for study in studies:
        problems = [*_check_variants(study), *_check_centre(study)]
        yield from problems or _check_table(study, root)


def _check_programs(folder: Bug) -> Iterator[str]:
    unreadable = [problem for path in folder.scripts for problem in check_text(path)]
    yield from unreadable or check_scripts(folder)


def _check_variants(study: Study) -> Iterator[str]:
    scripts = [variant.script for variant in study.variants.values()]
    absent = [script for script in scripts if not script.is_file()]
    for script in absent:
        yield (
            f"{FOLDER}/{study.name}.json: there is no {script.name}; add it, or name another script"
        )
    if not absent and len({script.read_bytes() for script in scripts}) < len(scripts):
        yield f"{FOLDER}/{study.name}.json: {' and '.join(VARIANTS)} are the same program"


def _check_centre(study: Study) -> Iterator[str]:
    centre = study.written.centre
    if centre and centre.study not in names(study.bug):
        yield (
            f"{FOLDER}/{study.name}.json: centre.study is {centre.study!r}, there is no such study"
        )


def _check_table(study: Study, root: Path) -> Iterator[str]:
    """The table is of the present scripts, parameters and locks, and the summary is of the
    table.
    """
    again = f"`trainbugs study {study.id} --update-expected` makes it anew"
    name = f"{FOLDER}/{study.name}"
    try:
        rows = table.read(study)
        stale = sum(not current for current in _are_current(study, rows, root))
    except TrainbugsError as error:
        yield str(error)
        return
    if stale:
        yield f"{name}.csv: {stale} runs are of other scripts, parameters or another lock; {again}"
    elif rows and _text(study.path(".md"), study) != summary(Results(study, rows)):
        yield (
            f"{name}.md is not made of {name}.csv; `trainbugs study {study.id} --from expected "
            "--update-expected`"
        )


def _are_current(study: Study, rows: list[StudyRow], root: Path) -> Iterator[bool]:
    """For each run of the table, whether its key fits the present files."""
    runs = {(row.point, row.variant, row.seed): row for row in rows}
    points = list(dict.fromkeys(row.point for row in rows))
    centre = centres(study, points)
    cases = {point: point_case(study, point, centre) for point in points}
    scripts = {
        name: read_scripts(study.folder, variant) for name, variant in study.variants.items()
    }
    locks = {name: environment_at(root, variant.place) for name, variant in study.variants.items()}
    for (point, variant, seed), row in runs.items():
        environment, run = locks[variant], row.run
        if environment is None:
            continue  # Another check says so.
        lock = (environment.name, environment.lock_hash, str(True))
        runtime = (*lock, run["python"], run["torch"] or None)
        data = run["data"] or None
        case = cases[point]
        key = run_key(case, variant, scripts[variant], seed, run["device"], runtime, data)
        yield key[:KEY_LENGTH] == run["key"]


def _text(path: Path, study: Study) -> str:
    if not path.is_file():
        return ""
    return untrusted.read_text(path, untrusted.MAX_TEXT_BYTES, study.folder.directory)
