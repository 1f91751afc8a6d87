"""When are two runs the same run? A hash of everything that may change the result."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from runner import reading
from runner.errors import CatalogError
from runner.model import Bug, Case, Scalar, Variant

# Not the machine's number of cores: sums over another number of threads round differently.
THREADS = 2
SCHEMA = 1
# Parameters that the runner sets by itself.
OWN = ("seed", "device")


def run_key(
    case: Case,
    variant: str,
    scripts: Mapping[str, bytes],
    seed: int,
    device: str,
    place: tuple[str | None, ...],
    data: str | None,
) -> str:
    """The key of a run; `place` says environment, lock, Python and torch, `data` what data sets were there.

    Of a device only the kind counts, so that cuda:0 and cuda:1 are the same.
    """
    parts = {
        "schema": SCHEMA,
        "threads": THREADS,
        "what": [case.bug, case.name, variant, case.variants[variant].script.name],
        "scripts": {name: hashlib.sha256(text).hexdigest() for name, text in scripts.items()},
        "parameters": {name: value for name, value in case.parameters.items() if name not in OWN},
        "seed": seed,
        "device": device.split(":")[0],
        "place": place,
        "data": data,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def read_scripts(bug: Bug, variant: Variant, inject: bool = False) -> dict[str, bytes]:
    """The Python files of a variant by name, as they are now: its script, and what is no other variant's script.

    So the scripts of a new case leave the keys of the others as they are. With `inject` the program that puts the
    fault back is among them. Raises CatalogError for a file that is not safe to read.
    """
    # A script that is missing is left out: its runs crash, and say so.
    wanted = {variant.script, *bug.shared}
    files = [path for path in bug.scripts if path in wanted]
    fault = [bug.fault] if inject and bug.fault else []
    return {path.name: _read_script(path, bug.directory) for path in (*files, *fault)}


def _read_script(path: Path, within: Path) -> bytes:
    try:
        return reading.read_bytes(path, reading.MAX_TEXT_BYTES, within)
    except reading.UnsafeError as error:
        raise CatalogError(f"{reading.shown(path)}: {error}") from error


def effective_parameters(case: Case, seed: int, device: str) -> dict[str, Scalar]:
    """What the script reads: the parameters of the case with the seed and the device of the run."""
    return {**case.parameters, "seed": seed, "device": device}


def data_digest(case: Case, folder: Path | None) -> str | None:
    """What the case's data files in `folder` hold, as a hash; `cache` without a folder; None where it needs no data."""
    if not case.data:
        return None
    if folder is None:
        return "cache"
    digest = hashlib.sha256()
    for name in case.data:
        digest.update(name.encode())
        if (folder / name).is_file():
            with (folder / name).open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
