"""The key of a run: a hash of everything that may change the result, and what goes into it."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from runner.bugs.bug import PROBE, Bug
from runner.bugs.case import Case
from runner.bugs.program import Variant
from runner.errors import CatalogError, UsageError
from runner.files import untrusted
from runner.results.record import SCHEMA
from runner.sandbox.env import THREADS

# Runs a script with the bug's probe.
HARNESS = Path(__file__).with_name("with_probe.py")
PROBE_FILES = (PROBE, HARNESS.name)
# Parameters that the runner sets itself.
RUNNER_PARAMETERS = ("seed", "device")


def run_key(
    case: Case,
    variant: str,
    scripts: Mapping[str, bytes],
    seed: int,
    device: str,
    runtime: tuple[str | None, ...],
    data: str | None,
) -> str:
    """The key of a run; `runtime` is environment, lock, pinned, Python and torch, `data` the digest
    of its data sets.

    Only the kind of the device counts, so that cuda:0 and cuda:1 give the same key.
    """
    script = case.program.variants[variant].script.name
    parameters = case.program.parameters.items()
    parts = {
        "schema": SCHEMA,
        "threads": THREADS,
        "what": [case.bug, case.name, variant, script],
        "scripts": {name: hashlib.sha256(text).hexdigest() for name, text in scripts.items()},
        "parameters": {name: value for name, value in parameters if name not in RUNNER_PARAMETERS},
        "seed": seed,
        "device": device.split(":")[0],
        "place": runtime,
        "data": data,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def read_scripts(bug: Bug, variant: Variant, inject: bool = False) -> dict[str, bytes]:
    """The present text of a variant's Python files, by name: its script, and modules that are no
    variant's script.

    So the scripts of a new case leave the keys of the others as they are. The bug's probe is among
    them, and what runs it; with `inject` also the program that puts the fault back. Raises
    CatalogError for a file that is not safe to read.
    """
    # A missing script is left out: whoever plans its runs says so.
    imported = {variant.script, *bug.shared}
    files = [path for path in bug.scripts if path in imported]
    if inject and bug.fault:
        files.append(bug.fault)
    if bug.probe:
        files.append(bug.probe)
    scripts = {path.name: _read_script(path, bug.directory) for path in files}
    if bug.probe:
        scripts[HARNESS.name] = HARNESS.read_bytes()
    return scripts


def _read_script(path: Path, within: Path) -> bytes:
    try:
        return untrusted.read_bytes(path, untrusted.MAX_TEXT_BYTES, within)
    except untrusted.UnsafeError as error:
        raise CatalogError(f"{untrusted.shown(path)}: {error}") from error


def data_digest(case: Case, folder: Path | None) -> str | None:
    """A hash of the case's data files in `folder`; `cache` without a folder; None where the case
    needs no data.

    Raises UsageError where `folder` lacks one of them.
    """
    if not case.program.data:
        return None
    if folder is None:
        return "cache"
    absent = [name for name in case.program.data if not (folder / name).exists()]
    if absent:
        raise UsageError(
            f"{case.id} needs data: name {where_data_lies(case)}; {folder / absent[0]} is not there"
        )
    digest = hashlib.sha256()
    for name in case.program.data:
        digest.update(name.encode())
        if (folder / name).is_file():
            with (folder / name).open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def where_data_lies(case: Case) -> str:
    """The option that names the data files of a case, and which files these are, by folder."""
    folders: dict[str, list[str]] = {}
    for path in map(Path, case.program.data):
        folders.setdefault(str(Path("DIR") / path.parent), []).append(path.name)
    contents = [f"{folder} holds {', '.join(names)}" for folder, names in folders.items()]
    return "--data DIR, where " + ", and ".join(contents)
