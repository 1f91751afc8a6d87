"""The clean programs of detectors/controls/controls.json;
each control is a case of one pseudo-bug.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct

from evaluation.model import CONTROL, Text
from runner.bugs.bug import Bug, Target
from runner.bugs.case import Case, GroundTruth, Oracle, Site
from runner.bugs.catalog import check, read_json
from runner.bugs.figures import Plot
from runner.bugs.labels import Labels
from runner.bugs.program import CaseProgram, Variant
from runner.errors import CatalogError
from runner.field_types import Scalar


class Control(Struct, frozen=True, forbid_unknown_fields=True):
    """One clean program: the script of that name beside controls.json."""

    title: Text
    accused: Annotated[Text, Meta(description="which naive rule would accuse it")]
    environment: Annotated[Text, Meta(description="another one than that of all")] | None = None
    parameters: (
        Annotated[
            dict[str, Scalar],
            Meta(description="what its script reads, in addition to those of all"),
        ]
        | None
    ) = None
    look_alike: (
        Annotated[
            tuple[Text, ...],
            Meta(
                description=(
                    "written for sanitizers: the invariants of `sanitizer` whose accusations it "
                    "resembles"
                )
            ),
        ]
        | None
    ) = None


class Described(Struct, frozen=True, forbid_unknown_fields=True):
    """controls.json: clean programs that a naive rule would accuse."""

    schema: Literal[1]
    environment: Text
    timeout_s: Annotated[float, Meta(gt=0)]
    parameters: dict[str, Scalar]
    references: Annotated[
        tuple[Text, ...],
        Meta(min_length=1, description="controls that serve as references of other programs"),
    ]
    controls: dict[str, Control]

    def __post_init__(self) -> None:
        """Raise ValueError for a reference that is no control."""
        for name in self.references:
            if name not in self.controls:
                raise ValueError(f"references: there is no control {name!r}")


# There is no fault to classify, nor a place where it is.
NO_LABELS, NO_SITE = Labels(location="user code", root_cause="", symptom=""), Site(file="", api="")


@dataclass(frozen=True)
class Controls:
    """The clean programs as cases of a bug whose only variant is `fixed`;
    `references` name some of them.

    `look_alikes` are those that were written for sanitizers, each with the invariants whose
    accusations it resembles.
    """

    bug: Bug
    references: tuple[str, ...]
    accused: Mapping[str, str]
    look_alikes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def targets(self) -> list[Target]:
        return [Target(self.bug, case, ("fixed",)) for case in self.bug.cases.values()]


def load(root: Path) -> Controls:
    """The controls under root/detectors; none, where that folder is missing. Raises
    CatalogError.
    """
    directory = root / "detectors" / "controls"
    path = directory / "controls.json"
    if not path.is_file():
        return Controls(_bug(directory, "", {}), (), {})
    described = check(read_json(path), Described, path)
    cases = {name: _case(name, directory, described) for name in described.controls}
    for name, case in cases.items():
        if not case.program.variants["fixed"].script.is_file():
            raise CatalogError(f"{path}: controls.{name}: there is no {name}.py beside it")
    accused = {name: control.accused for name, control in described.controls.items()}
    look_alikes = {
        name: control.look_alike
        for name, control in described.controls.items()
        if control.look_alike is not None
    }
    return Controls(
        _bug(directory, described.environment, cases), described.references, accused, look_alikes
    )


def _bug(directory: Path, environment: str, cases: dict[str, Case]) -> Bug:
    scripts = frozenset(
        variant.script for case in cases.values() for variant in case.program.variants.values()
    )
    title = "Clean programs that a naive rule would accuse"
    return Bug(CONTROL, directory, title, "", NO_LABELS, NO_SITE, environment, cases, scripts)


def _case(name: str, directory: Path, described: Described) -> Case:
    control = described.controls[name]
    variant = Variant(
        "fixed", directory / f"{name}.py", control.environment or described.environment
    )
    parameters = {**(control.parameters or {}), **described.parameters}
    program = CaseProgram({"fixed": variant}, parameters, described.timeout_s)
    return Case(CONTROL, name, control.title, program, Oracle(), GroundTruth(NO_SITE), Plot())
