"""detectors/rules.json: the rules by which a detector is meant to be used, and who says so.

Nothing that a detector says of a bug has a part in it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from evaluation.model import DetectorName, Text
from runner.bugs.catalog import check, read_json

# The rule of a detector of which the file says nothing.
DEFAULT = "default"


class RuleSetting(Struct, frozen=True, forbid_unknown_fields=True):
    """The rules of a detector that its row of a table shows, and the reason.

    Several rules are rows of their own: versions that know different bugs.
    """

    rules: Annotated[tuple[Text, ...], Meta(min_length=1)]
    by: Annotated[
        Literal["authors", "benchmark"],
        Meta(description="whose choice it is: the tool's authors', or ours, who wrote the adapter"),
    ]
    why: Annotated[Text, Meta(description="where the authors say so, or why we chose it")]


Settings = Mapping[str, RuleSetting]


def load(root: Path) -> Settings:
    """The settings by detector; none where there is no file. Raises CatalogError."""
    path = root / "detectors" / "rules.json"
    if not path.is_file():
        return {}
    settings: Settings = check(read_json(path), dict[DetectorName, RuleSetting], path)
    return settings


def main_rules(settings: Settings, detector: str) -> tuple[str, ...]:
    """The rules by which a detector is meant to be used."""
    return settings[detector].rules if detector in settings else (DEFAULT,)
