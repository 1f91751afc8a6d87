"""Checks for surplus files: all of a bug's `expected/` is what the runner makes of the bug as it
is.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, product
from pathlib import Path

from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.catalog import Catalog
from runner.bugs.program import UPSTREAM, VARIANTS
from runner.environments import spec
from runner.results.expected import CUDA, VERSIONS
from runner.studies.horizon import FILE as HORIZON

PICTURE = re.compile(r"expected/([^\s()/]+\.png)")
RUN = re.compile(rf"(?:{'|'.join(VARIANTS)})-seed\d+\.json")


def check_surplus(bug: Bug, root: Path) -> Iterator[str]:
    """No file is of a seed that its case does not have, and none is anything else that does not
    belong there.
    """
    belonging = _belonging(bug, root)
    above = {name.rpartition("/")[0] for name in belonging}
    above |= set(chain.from_iterable(_folders_above(name) for name in above))
    surplus = list(_surplus(bug.expected, "", belonging, above))
    cases = {bug.expected / case: case for case in bug.cases}
    seed_records = [
        path
        for path in surplus
        if path.parent in cases and RUN.fullmatch(path.name) and path.is_file()
    ]
    for folder, name in cases.items():
        names = [path.name for path in seed_records if path.parent == folder]
        if names:
            yield _describe_seed_records(bug.cases[name], names, Catalog(root).shell_name(bug))
    odd_paths = [path for path in surplus if path not in seed_records]
    if odd_paths:
        shown = ", ".join(_show(path, bug.expected) for path in odd_paths)
        verb = "is no record or picture" if len(odd_paths) == 1 else "are no records or pictures"
        yield f"expected: {shown} {verb} of this bug; remove what is too much"


def _show(path: Path, folder: Path) -> str:
    name = path.relative_to(folder)
    return f"{name}/" if path.is_dir() else str(name)


def _describe_seed_records(case: Case, names: list[str], bug: str) -> str:
    verb = "is of no seed" if len(names) == 1 else "are of no seeds"
    seeds = ", ".join(map(str, case.program.seeds))
    return (
        f"expected/{case.name}: {', '.join(names)} {verb} of the case, which has "
        f"{seeds}; `trainbugs run {bug} --force --update-expected` removes what is "
        "too much"
    )


def _folders_above(name: str) -> Iterator[str]:
    while name:
        name = name.rpartition("/")[0]
        yield name


def _surplus(folder: Path, prefix: str, belonging: set[str], above: set[str]) -> Iterator[Path]:
    """What lies below the folder and does not belong there; of a folder that holds nothing else,
    the folder.

    `prefix` is the folder's name in `expected/`, with a slash behind it. `above` are the folders
    of what belongs there. Names are texts: there are many, and paths are slow to compare.
    """
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        name = prefix + path.name
        if name in above and path.is_dir():
            yield from _surplus(path, f"{name}/", belonging, above)
        elif name not in belonging:
            yield path


def _belonging(bug: Bug, root: Path) -> set[str]:
    """The names in `expected/` that its files may have."""
    names: set[str] = set()
    environments = _mapped_environments(bug, root)
    for case in bug.cases.values():
        names.update(_case_files(case))
        environments.update(variant.environment for variant in case.program.variants.values())
    for environment, case in product(environments, bug.cases.values()):
        folder = f"{VERSIONS}/{environment}/{case.name}"
        names.update(f"{folder}/{name}" for name in _runs(case, ("buggy",)))
    readme = bug.directory / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    return names | {f"{VERSIONS}.png", HORIZON, *PICTURE.findall(text)}


def _mapped_environments(bug: Bug, root: Path) -> set[str]:
    """The environments of which the bug's map of versions has a folder: few of all there are."""
    folder = bug.expected / VERSIONS
    if not folder.is_dir():
        return set()
    names = (path.name for path in folder.iterdir())
    return {name for name in names if (root / "environments" / name / spec.LOCK).exists()}


def _case_files(case: Case) -> Iterator[str]:
    """The records of a case on each kind of device, those of the variant `upstream` apart, and its
    picture.
    """
    yield f"compare_{case.name}.png"
    for folder in (case.name, f"{case.name}/{CUDA}"):
        yield from (f"{folder}/{name}" for name in _runs(case, VARIANTS))
        if UPSTREAM in case.program.variants:
            yield from (f"{folder}/{UPSTREAM}/{name}" for name in _runs(case, (UPSTREAM,)))


def _runs(case: Case, variants: Iterable[str]) -> list[str]:
    return [f"{variant}-seed{seed}.json" for variant, seed in product(variants, case.program.seeds)]
