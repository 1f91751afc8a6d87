"""Working copies of a bug for users to try things out, with its own file names or with neutral
ones.
"""

import hashlib
import json
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from runner.bugs.bug import Target
from runner.errors import UsageError


def checkout(
    targets: Sequence[Target], directory: Path, blind: bool, python: str = "python3"
) -> list[str]:
    """Fill a new directory with the scripts of the targets; returns lines that say how to run each
    one with `python`.

    There is a JSON file with the parameters of each case. With `blind` the scripts have neutral
    names, and nothing in the directory says which variant is which; only the returned lines do.
    Raises UsageError where the directory is not empty or cannot be written.
    """
    if directory.exists() and any(directory.iterdir() if directory.is_dir() else [directory]):
        raise UsageError(f"{directory} exists and is not empty; name a new directory")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        programs = _blind(targets, directory) if blind else _open(targets, directory)
    except OSError as error:
        raise UsageError(
            f"{error.filename or directory}: cannot be written: {error.strerror}"
        ) from error
    start = f"cd {shlex.quote(str(directory))} && {shlex.quote(python)}"
    return [f"{target}: {start} {arguments}" for target, arguments in programs]


def _open(targets: Sequence[Target], directory: Path) -> list[tuple[str, str]]:
    bug = targets[0].bug
    for path in (
        *bug.scripts,
        *filter(None, (bug.fault, bug.why, bug.probe)),
        bug.directory / "config.json",
        bug.directory / "README.md",
    ):
        if path.is_file():
            shutil.copy(path, directory / path.name)
    programs = []
    for target in targets:
        parameters = directory / f"{target.case.name}.json"
        _write_parameters(target, parameters)
        for variant in target.variants:
            script = target.case.program.variants[variant].script.name
            programs.append((f"{target.case.id}/{variant}", f"{script} {parameters.name}"))
    return programs


def _blind(targets: Sequence[Target], directory: Path) -> list[tuple[str, str]]:
    bug = targets[0].bug
    for shared in bug.shared:
        shutil.copy(shared, directory / shared.name)
    paths = {
        target.case.program.variants[variant].script
        for target in targets
        for variant in target.variants
    }
    # Numbered in the order of their hashes, which is stable and does not depend on the variant.
    order = sorted(paths, key=lambda path: hashlib.sha256(path.read_bytes()).hexdigest())
    names = {script: f"program{index}.py" for index, script in enumerate(order, 1)}
    for script, name in names.items():
        shutil.copyfile(script, directory / name)
    programs = []
    for index, target in enumerate(targets, 1):
        parameters = directory / f"parameters{index}.json"
        _write_parameters(target, parameters)
        for variant in target.variants:
            name = names[target.case.program.variants[variant].script]
            programs.append((f"{target.case.id}/{variant}", f"{name} {parameters.name}"))
    return programs


def _write_parameters(target: Target, path: Path) -> None:
    path.write_text(
        json.dumps({"parameters": dict(target.case.program.parameters)}, indent=1) + "\n",
        encoding="utf-8",
    )
