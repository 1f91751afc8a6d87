"""Keys of records of evaluations: hashes of everything that may change what a detector answers."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from evaluation.model import Detector, Rule
from evaluation.records import SCHEMA
from runner.field_types import Scalar
from runner.files import untrusted
from runner.files.folders import MAX_FILE_BYTES, files_in

KIT = Path(__file__).parent / "kit"


@cache
def kit_digest() -> str:
    """A hash of the files that the benchmark runs every detector with."""
    return _hash(_files(KIT))


def rules_digest(rules: Mapping[str, Rule]) -> str:
    """A hash of alarm rules, by their names; what they leave out counts as its default."""
    return _hash(sorted((name, to_builtins(rule)) for name, rule in rules.items()))


@cache
def rule_digest(rule: Rule) -> str:
    """A hash of one alarm rule; what it leaves out counts as its default."""
    return _hash(to_builtins(rule))


def detector_digest(detector: Detector) -> str:
    """A hash of everything of a detector that may change its answers, and of the kit."""
    # The rules do not count: they score answers, and change none.
    described = [
        detector.version,
        sorted(detector.needs),
        detector.program,
        detector.torch,
        detector.timeout_s,
    ]
    return _hash([_files(detector.directory) + _files(KIT), described])


def check_key(
    digest: str, run: str, kind: str, references: Sequence[str], timeout_s: float | None
) -> str:
    """The key of a check, with the keys of the program's run and of its references.

    `kind` is the kind of references. `timeout_s` is None where the detector's own limit counts,
    which is in its digest.
    """
    return _hash([SCHEMA, digest, run, kind, list(references), timeout_s])


def overhead_key(
    digest: str, bare: str, run: str, references: str, repeats: int, part: str, machine: str
) -> str:
    """The key of a timing, with the adapter that times bare runs, `bare`, and the machine."""
    return _hash([SCHEMA, digest, bare, run, references, repeats, part, machine])


def program_digest(files: Mapping[str, bytes], parameters: Mapping[str, Scalar]) -> str:
    """A hash of a program: its files, by their neutral names, and the parameters that it reads."""
    texts = [[name, hashlib.sha256(text).hexdigest()] for name, text in sorted(files.items())]
    described = json.dumps([texts, dict(parameters)], sort_keys=True)
    return hashlib.sha256(described.encode()).hexdigest()


def _files(folder: Path) -> list[list[str]]:
    """Name and hash of the files in a folder, without those that say something to people only."""
    return [
        [path.name, hashlib.sha256(untrusted.read_bytes(path, MAX_FILE_BYTES, folder)).hexdigest()]
        for path in files_in(folder)
        if path.name not in ("README.md", "detector.json")
        and path.suffix != ".pyc"
        and not _is_cached(path.relative_to(folder))
    ]


def _is_cached(path: Path) -> bool:
    """Whether a file lies in a hidden folder: linters and editors keep theirs there."""
    return any(part.startswith(".") for part in path.parts[:-1])


def _hash(parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
