"""Which clean programs are there? Reads detectors/controls/controls.json; each control is a case of one pseudo-bug."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.catalog.detectors import SCHEMA
from evaluation.model import CONTROL
from runner.bugs.catalog import check_schema, read_json
from runner.bugs.model import Bug, Case, GroundTruth, Labels, Oracle, Plot, Program, Site, Target, Variant
from runner.errors import CatalogError

# There is no fault to classify, nor a place where it is.
NO_LABELS, NO_SITE = Labels(location="user code", root_cause="", symptom=""), Site(file="", api="")


@dataclass(frozen=True)
class Controls:
    """The clean programs as cases of a bug whose only variant is `fixed`; `references` name some of them."""

    bug: Bug
    references: tuple[str, ...]
    accused: dict[str, str]

    def targets(self) -> list[Target]:
        return [Target(self.bug, case, ("fixed",)) for case in self.bug.cases.values()]


def load(root: Path) -> Controls:
    """The controls under root/detectors; none, where that folder is missing. Raises CatalogError."""
    directory = root / "detectors" / "controls"
    path = directory / "controls.json"
    if not path.is_file():
        return Controls(_bug(directory, "", {}), (), {})
    described = read_json(path)
    check_schema(described, path, SCHEMA, "controls")
    controls = described["controls"]
    cases = {name: _case(name, directory, described) for name in controls}
    for name, case in cases.items():
        if not case.program.variants["fixed"].script.is_file():
            raise CatalogError(f"{path}: controls.{name}: there is no {name}.py beside it")
    unknown = sorted(set(described["references"]) - set(controls))
    if unknown:
        raise CatalogError(f"{path}: references: there is no control {unknown[0]!r}")
    accused = {name: control["accused"] for name, control in controls.items()}
    return Controls(_bug(directory, described["environment"], cases), tuple(described["references"]), accused)


def _bug(directory: Path, environment: str, cases: dict[str, Case]) -> Bug:
    scripts = frozenset(variant.script for case in cases.values() for variant in case.program.variants.values())
    title = "Clean programs that a naive rule would accuse"
    return Bug(CONTROL, directory, title, "", NO_LABELS, NO_SITE, environment, cases, scripts)


def _case(name: str, directory: Path, described: Any) -> Case:
    control = described["controls"][name]
    variant = Variant("fixed", directory / f"{name}.py", control.get("environment", described["environment"]))
    program = Program({"fixed": variant}, described["parameters"], described["timeout_s"])
    return Case(CONTROL, name, control["title"], program, Oracle(), GroundTruth(NO_SITE), Plot())
