"""detectors/development.json: the bugs by which one of a detector's rules is chosen,
and KNOWN and NEW told apart.
"""

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from evaluation.catalog.frozen import Date
from evaluation.model import DetectorName
from runner.bugs.catalog import check, read_json
from runner.field_types import Name


class Development(Struct, frozen=True, forbid_unknown_fields=True):
    """The bugs that there were on the day `since`,
    and the detectors whose rules are chosen by them.
    """

    schema: Literal[1]
    since: Date
    bugs: Annotated[tuple[Name, ...], Meta(min_length=1)]
    detectors: tuple[DetectorName, ...]


def load(root: Path) -> Development | None:
    """The file of a catalogue, None where there is none; raises CatalogError."""
    path = root / "detectors" / "development.json"
    if not path.is_file():
        return None
    development: Development = check(read_json(path), Development, path)
    return development
