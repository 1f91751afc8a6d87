"""detectors/frozen.json: detectors that stay as they are, and the bugs by which they were written,
or set up.
"""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from evaluation.model import Text
from runner.bugs.catalog import check, read_json
from runner.errors import CatalogError
from runner.field_types import Name
from runner.files import untrusted
from runner.files.folders import MAX_FILE_BYTES

Date = Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}$(?!\n)")]


Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class FrozenRule(Struct, frozen=True, forbid_unknown_fields=True):
    """What an alarm rule counts was written before the rest: since when, in which files,
    and by which bugs.
    """

    since: Date
    files: tuple[Text, ...]
    digest: Digest
    developed_on: tuple[Name, ...]


class Frozen(Struct, frozen=True, forbid_unknown_fields=True):
    """Since when a detector is left alone, at which version, the digest of its files,
    and by which bugs it was made.

    `rules` are alarm rules that count only what an earlier version said, in files that are still
    what they were.
    """

    version: Text
    since: Date
    digest: Digest
    developed_on: tuple[Name, ...]
    rules: dict[str, FrozenRule] = {}

    def known_to(self, rule: str) -> tuple[str, ...]:
        """The bugs by which what a rule counts was written, or set up."""
        return self.rules[rule].developed_on if rule in self.rules else self.developed_on


def load(root: Path) -> Mapping[str, Frozen]:
    """The frozen detectors under root/detectors whose files are still what they were;
    raises CatalogError.
    """
    path = root / "detectors" / "frozen.json"
    if not path.is_file():
        return {}
    described = check(read_json(path), dict[str, Frozen], path)
    unchanged = {}
    for name, detector in described.items():
        folder = path.with_name(name)
        if digest(folder) == detector.digest:
            rules = _unchanged_rules(folder, detector)
            unchanged[name] = replace(detector, rules=rules)
    return unchanged


def _unchanged_rules(folder: Path, detector: Frozen) -> dict[str, FrozenRule]:
    """The rules whose files are still what they were."""
    return {
        name: rule
        for name, rule in detector.rules.items()
        if digest_files(folder, rule.files) == rule.digest
    }


def digest(folder: Path) -> str:
    """A hash of the programs of a detector, and of its detector.json."""
    paths = [
        path for path in folder.rglob("*") if path.name == "detector.json" or path.suffix == ".py"
    ]
    return digest_files(folder, [path.relative_to(folder).as_posix() for path in paths])


def digest_files(folder: Path, files: Iterable[str]) -> str:
    """A hash of files of a folder, with their names;
    one that is not there has the hash of nothing.
    """
    paths = sorted(folder / file for file in files)
    lines = (
        f"{path.relative_to(folder).as_posix()} {hashlib.sha256(_text(path, folder)).hexdigest()}"
        for path in paths
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _text(path: Path, within: Path) -> bytes:
    if not path.is_file():
        return b""
    try:
        return untrusted.read_bytes(path, MAX_FILE_BYTES, within)
    except untrusted.UnsafeError as error:
        raise CatalogError(f"{untrusted.shown(path)}: {error}") from error
