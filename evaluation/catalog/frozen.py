"""detectors/frozen.json: detectors of ours that stay as they are, and the bugs that those who wrote them knew."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from evaluation.model import Text
from runner.bugs.catalog import check, read_json
from runner.bugs.model import Name

Date = Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}$(?!\n)")]


class Frozen(Struct, frozen=True, forbid_unknown_fields=True):
    """Since when a detector is left alone, at which version, the digest of its files, and the bugs known by then."""

    version: Text
    since: Date
    digest: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    developed_on: tuple[Name, ...]


def load(root: Path) -> Mapping[str, Frozen]:
    """The frozen detectors under root/detectors whose files are still what they were; raises CatalogError."""
    path = root / "detectors" / "frozen.json"
    if not path.is_file():
        return {}
    described = check(read_json(path), dict[str, Frozen], path)
    return {name: each for name, each in described.items() if digest(path.with_name(name)) == each.digest}


def digest(folder: Path) -> str:
    """A hash of the programs of a detector, and of its detector.json."""
    paths = sorted(path for path in folder.rglob("*") if path.name == "detector.json" or path.suffix == ".py")
    lines = (f"{path.relative_to(folder).as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in paths)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
