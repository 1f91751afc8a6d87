"""Which detectors are there? Reads detectors/<name>/detector.json, or that of any directory, into frozen objects."""

from pathlib import Path
from typing import Any

from evaluation.model import Detector, Rule
from runner.bugs.catalog import check_schema, read_json
from runner.errors import CatalogError, UsageError

SCHEMA = Path(__file__).with_name("schema.json")
DEFAULT_TIMEOUT_S = 600.0


def names(root: Path) -> list[str]:
    """Names of all detectors under root/detectors."""
    return sorted(path.parent.name for path in (root / "detectors").glob("*/detector.json"))


def load(root: Path, name: str) -> Detector:
    """The detector of that name, or in that directory; raises UsageError or CatalogError."""
    if name in names(root):
        return read(root / "detectors" / name)
    if (Path(name) / "detector.json").is_file():
        return read(Path(name))
    raise UsageError(
        f"there is no detector {name!r}; expected one of {', '.join(names(root)) or '(none)'}, "
        "or a directory that holds detector.json"
    )


def read(directory: Path) -> Detector:
    """The detector in a directory; raises CatalogError naming the file, the key and the value."""
    path = directory / "detector.json"
    described = read_json(path)
    check_schema(described, path, SCHEMA, "detector")
    detector = _detector(described, directory.resolve())
    if detector.name != directory.resolve().name:
        raise CatalogError(f"{path}: name is {detector.name!r}, expected {directory.resolve().name!r}, its directory's")
    if not (directory / detector.program).is_file():
        raise CatalogError(f"{path}: there is no {detector.program} beside it")
    if ("reference_runs" in detector.needs) != ("references" in described):
        raise CatalogError(f"{path}: references and the need reference_runs go together; name both or none")
    if detector.in_launcher and detector.needs != {"in_process"}:
        raise CatalogError(f"{path}: a monitor needs in_process and nothing else; write an adapter for more")
    _check_range(detector, path)
    return detector


def read_rules(path: Path) -> tuple[Rule, ...]:
    """The alarm rules in a detector.json, wherever it lies; raises CatalogError."""
    described = read_json(path)
    check_schema(described, path, SCHEMA, "detector")
    return _detector(described, path.parent).rules


def supports(detector: Detector, torch: str | None) -> bool:
    """Whether a version of torch is in the detector's range; a detector that only reads source supports all."""
    from packaging.specifiers import SpecifierSet

    return torch is None or SpecifierSet(detector.torch).contains(torch.split("+")[0], prereleases=True)


def _check_range(detector: Detector, path: Path) -> None:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        SpecifierSet(detector.torch)
    except InvalidSpecifier as error:
        raise CatalogError(f"{path}: torch is {detector.torch!r}, expected a range like >=2.0,<3") from error


def _detector(described: Any, directory: Path) -> Detector:
    return Detector(
        name=described["name"],
        version=described["version"],
        title=described["title"],
        source=described["source"],
        directory=directory,
        needs=frozenset(described["needs"]),
        torch=described.get("torch", ""),
        program=described.get("monitor") or described["adapter"],
        in_launcher="monitor" in described,
        references=tuple(described.get("references", ("none",))),
        rules=tuple(_rule(name, rule) for name, rule in described["alarm_rules"].items()),
        timeout_s=float(described.get("timeout_s", DEFAULT_TIMEOUT_S)),
    )


def _rule(name: str, rule: Any) -> Rule:
    return Rule(
        name=name,
        minimum_severity=rule.get("minimum_severity", "warning"),
        codes=tuple(rule.get("codes", ())),
        at_least=rule.get("at_least", 1),
    )
