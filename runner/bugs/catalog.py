"""What bugs are there? Reads bugs/<ID>/config.json into frozen objects; nothing past this module sees a dict of it."""

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from runner.bugs.model import VARIANTS, Bug, Case, Expectation, Heatmap, Line, Panel, Series, Target, Variant, Versions
from runner.errors import CatalogError, UsageError
from runner.files import untrusted

MAX_CONFIG_BYTES = 1_000_000
SCHEMA = Path(__file__).with_name("schema.json")


@dataclass(frozen=True)
class Catalog:
    """The bugs under `root/bugs`, each read when it is asked for, so that a malformed one does not block the others."""

    root: Path

    def ids(self) -> tuple[str, ...]:
        directory = self.root / "bugs"
        return tuple(sorted(path.parent.name for path in directory.glob("*/config.json")))

    def active(self) -> tuple[str, ...]:
        """The IDs of bugs that are not retired; raises CatalogError for one that cannot be read."""
        return tuple(name for name in self.ids() if self.bug(name).retired is None)

    def bug(self, name: str) -> Bug:
        """The bug of that ID, or the bug directory at that path; raises UsageError or CatalogError."""
        if name in self.ids():
            return load_bug(self.root / "bugs" / name)
        if name and _holds_config(Path(name)):
            return load_bug(Path(name))
        raise UsageError(f"there is no bug {name!r}{_near(name, self.ids())}; `trainbugs list` shows all")

    def select(self, names: Iterable[str], elsewhere: bool = False) -> list[Target]:
        """Targets named by BUG, BUG/CASE or BUG/CASE/VARIANT, or by the path of a bug directory.

        For runs `elsewhere` than in a bug's own environment, BUG stands for its portable cases only.
        """
        return [target for name in names for target in self._select(name, elsewhere)]

    def _select(self, name: str, elsewhere: bool) -> list[Target]:
        bug, rest = self._split(name)
        if len(rest) > 2:
            raise UsageError(f"{name!r} has too many parts; expected BUG, BUG/CASE or BUG/CASE/VARIANT")
        if rest and rest[0] not in bug.cases:
            raise UsageError(f"{bug.id} has no case {rest[0]!r}; expected one of {', '.join(bug.cases)}")
        if rest[1:] and rest[1] not in VARIANTS:
            raise UsageError(f"{bug.id}/{rest[0]} has no variant {rest[1]!r}; expected one of {', '.join(VARIANTS)}")
        cases = [case for case in bug.cases.values() if case.name in rest[:1] or not rest]
        if elsewhere and not rest:
            cases = [case for case in cases if case.portable]
        return [Target(bug, case, tuple(rest[1:]) or VARIANTS) for case in cases]

    def _split(self, name: str) -> tuple[Bug, list[str]]:
        """The bug that a name begins with, and the rest; the catalogue's IDs come before paths."""
        first, *rest = name.strip("/").split("/")
        if first in self.ids():
            return self.bug(first), rest
        if name and _holds_config(Path(name)):
            return load_bug(Path(name)), []
        parts = Path(name).parts
        for depth in range(1, min(3, len(parts))):
            directory = Path(*parts[: len(parts) - depth])
            if _holds_config(directory):
                return load_bug(directory), list(parts[len(parts) - depth :])
        if Path(name).is_dir():
            raise UsageError(f"{name} is no bug directory: it holds no config.json")
        return self.bug(first), rest


def default_root() -> Path:
    """The directory that holds `bugs` and `environments`: the checkout that this package was installed from."""
    root = Path(__file__).resolve().parents[2]
    if not (root / "bugs").is_dir():
        raise CatalogError(f"{root} holds no folder bugs; install from a checkout with `pip install -e .`")
    return root


def _holds_config(directory: Path) -> bool:
    """Whether a config.json of any kind is there, also one that must not be read."""
    path = directory / "config.json"
    return path.is_symlink() or path.exists()


def load_bug(directory: Path) -> Bug:
    """Read and check `directory/config.json`; raises CatalogError naming the file, the key and the value.

    Also for a directory with files that are not safe to read: every bug may be a stranger's.
    """
    path = directory / "config.json"
    config = read_json(path, directory)
    try:
        untrusted.check_directory(directory)
    except (untrusted.UnsafeError, OSError) as error:
        raise CatalogError(f"{untrusted.shown(directory)}: {error}") from error
    check_schema(config, path)
    _check_expectations(config, path)
    directory = directory.resolve()
    if directory.name != config["id"] and directory.parent.name == "bugs":
        raise CatalogError(f"{path}: id is {config['id']!r}, expected the name of its directory, {directory.name!r}")
    return _bug(config, directory)


def read_json(path: Path, within: Path | None = None) -> Any:
    """The JSON in a short file of lines that can be printed; raises CatalogError.

    With `within`, no link may lead out of that folder.
    """
    try:
        value = untrusted.read_json(path, MAX_CONFIG_BYTES, within)
        untrusted.check_short(value)
    except untrusted.UnsafeError as error:
        raise CatalogError(f"{untrusted.shown(path)}: {error}") from error
    return value


def check_schema(config: Any, path: Path, schema: Path = SCHEMA, part: str | None = None) -> None:
    """Raise CatalogError for the first key of `config` that a schema, or the named part of it, does not allow."""
    from jsonschema.exceptions import best_match

    error = best_match(_validator(schema, part).iter_errors(config))
    if error is not None:
        text, key = (part if len(part) < 300 else part[:300] + "…" for part in (error.message, error.json_path))
        where = f"{schema.parent.name}/{schema.name}"
        raise CatalogError(f"{untrusted.shown(path)}: {key.removeprefix('$.')}: {text} (see {where})")


@cache
def _validator(schema: Path, part: str | None) -> Any:
    from jsonschema import Draft202012Validator

    whole = json.loads(schema.read_text(encoding="utf-8"))
    return Draft202012Validator(whole | {"$ref": f"#/$defs/{part}"} if part else whole)


def _near(name: str, names: Iterable[str]) -> str:
    lower = {candidate.lower(): candidate for candidate in names}
    close = [lower[match] for match in difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.4)]
    return f" (did you mean {' or '.join(close)}?)" if close else ""


def _bug(config: Any, directory: Path) -> Bug:
    labels, site, plot = config["labels"], config["site"], config["plot"]
    return Bug(
        id=config["id"],
        directory=directory,
        title=config["title"],
        source=config["source"],
        location=labels["location"],
        root_cause=labels["root_cause"],
        symptom=labels["symptom"],
        site_file=site["file"],
        site_line=site.get("line"),
        site_api=site["api"],
        environment=config["environment"],
        affected=_versions(config.get("affected")),
        fixed=_versions(config.get("fixed")),
        retired=_retired(config.get("status")),
        x=plot["x"],
        panels=tuple(_panel(panel) for panel in plot["panels"]),
        cases={name: _case(name, case, config, directory) for name, case in config["cases"].items()},
        variant_scripts=frozenset(
            directory / variant["script"] for case in config["cases"].values() for variant in case["variants"].values()
        ),
    )


def _check_expectations(config: Any, path: Path) -> None:
    """A case says something of both variants: else it could be REPRODUCED by a program that does nothing wrong."""
    for name, case in config["cases"].items():
        about = {item["variant"] for item in case["expectations"]}
        about |= {item["minus"] for item in case["expectations"] if "minus" in item}
        for variant in sorted(set(VARIANTS) - about):
            raise CatalogError(f"{path}: cases.{name}.expectations: no expectation is about variant {variant}")


def _case(name: str, case: Any, config: Any, directory: Path) -> Case:
    return Case(
        bug=config["id"],
        name=name,
        title=case["title"],
        benign=case.get("benign", False),
        portable=case.get("portable", True),
        data=tuple(case.get("data", ())),
        tools=tuple(case.get("needs", ())),
        processes=int(config.get("processes", 1)),
        trigger=int(case["trigger"]["iteration"]),
        trigger_why=case["trigger"]["why"],
        # In JSON's eyes 1.0 is an integer, too; a seed is part of a path.
        seeds=tuple(int(seed) for seed in case.get("seeds", config["seeds"])),
        timeout_s=case.get("timeout_s", config["timeout_s"]),
        parameters={**config["parameters"], **case.get("parameters", {})},
        volatile=frozenset(config.get("volatile", ())),
        variants={
            variant: Variant(variant, directory / entry["script"], entry.get("environment", config["environment"]))
            for variant, entry in case["variants"].items()
        },
        expectations=tuple(_expectation(entry) for entry in case["expectations"]),
        heatmap=_heatmap(case.get("heatmap")),
        memory_gb=case.get("memory_gb"),
    )


def _expectation(entry: Any) -> Expectation:
    value = entry["value"]
    return Expectation(
        statement=entry["statement"],
        variant=entry["variant"],
        series=_series(entry),
        reduce=entry["reduce"],
        op=entry["op"],
        value=tuple(value) if isinstance(value, list) else value,
        tolerance=entry.get("tolerance"),
    )


def _series(entry: Any) -> Series:
    return Series(entry["metric"], entry.get("where", {}), entry.get("minus"), entry.get("minus_where"))


def _panel(entry: Any) -> Panel:
    lines = tuple(Line(line["label"], _series(line), line.get("dashed", False)) for line in entry["lines"])
    return Panel(entry["label"], lines, entry.get("scale", "linear"))


def _heatmap(entry: Any) -> Heatmap | None:
    if entry is None:
        return None
    return Heatmap(**{**entry, "rows": tuple(entry["rows"]), "quiet": tuple(entry.get("quiet", ()))})


def _retired(entry: Any) -> str | None:
    return f"{entry['since']}: {entry['reason']}" if entry else None


def _versions(entry: Any) -> Versions | None:
    return Versions(entry["package"], tuple(entry["versions"]), entry.get("change")) if entry else None
