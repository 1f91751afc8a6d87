"""The detectors there are: detectors/<name>/detector.json, or that of any directory."""

import ast
from pathlib import Path

from msgspec.structs import asdict

from evaluation.model import Description, Detector
from runner.bugs.catalog import check, read_json
from runner.errors import CatalogError, UsageError
from runner.files.folders import check_links
from runner.files.schema_errors import near
from runner.files.untrusted import UnsafeError, read_bytes, shown

# They look for something else, or know the published programs by heart: what they find tells how
# easily it is found.
NEGATIVE_CONTROLS = frozenset({"anomaly-mode", "memory", "releases", "torchfix"})
# What the launcher looks for in the file of a monitor.
ENTRIES = frozenset({"attach", "watch"})
MAX_MONITOR_BYTES = 10_000_000


def names(root: Path) -> list[str]:
    """Names of all detectors under root/detectors."""
    return sorted(path.parent.name for path in (root / "detectors").glob("*/detector.json"))


def load(root: Path, name: str) -> Detector:
    """The detector of that name, or in that directory; raises UsageError or CatalogError."""
    if name in names(root):
        return read(root / "detectors" / name)
    if (Path(name) / "detector.json").is_file():
        return read(Path(name))
    if len(Path(name).parts) > 1 or Path(name).exists():
        raise UsageError(
            f"{shown(Path(name))}: no folder with a detector.json; name the folder that holds yours"
        )
    catalogued = names(root)
    here = [path.parent.name for path in Path().glob("*/detector.json")]
    raise UsageError(
        f"there is no detector {name!r}{near(name, [*catalogued, *here])}; expected one of "
        f"{', '.join(catalogued) or '(none)'}, or a directory that holds detector.json"
    )


def read(directory: Path) -> Detector:
    """The detector in a directory; raises CatalogError naming the file, the key and the value.

    Also raises it for a link that leads out of the directory: a detector may come from anyone.
    """
    path = directory / "detector.json"
    try:
        check_links(directory)
    except (UnsafeError, OSError) as error:
        raise CatalogError(f"{shown(directory)}: {error}") from error
    detector = Detector(**asdict(read_description(path)), directory=directory.resolve())
    if detector.name != detector.directory.name:
        raise CatalogError(
            f"{path}: name is {detector.name!r}, expected {detector.directory.name!r}, its "
            "directory's"
        )
    if not (directory / detector.program).is_file():
        raise CatalogError(f"{path}: there is no {detector.program} beside it")
    if detector.monitor and not _may_define_entry(directory / detector.monitor):
        raise CatalogError(
            f"{shown(directory / detector.monitor)}: defines neither attach nor watch, so it would "
            "see nothing"
        )
    return detector


def read_description(path: Path) -> Description:
    """What a detector.json says, wherever it lies; raises CatalogError naming the file,
    the key and the value.
    """
    return check(read_json(path, path.parent), Description, path)


def _may_define_entry(path: Path) -> bool:
    """Whether a monitor may define what the launcher calls.

    A file that cannot be parsed may: each of its checks says what is wrong with it.
    """
    try:
        nodes = list(ast.walk(ast.parse(read_bytes(path, MAX_MONITOR_BYTES))))
    except (UnsafeError, SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return any(not ENTRIES.isdisjoint(_names_in(node)) for node in nodes)


def _names_in(node: ast.AST) -> tuple[str, ...]:
    """The names that a node gives, or may give, to something."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name):
            return (name,)
        case ast.alias(name="*"):
            return tuple(ENTRIES)
        case ast.alias(name=name, asname=other):
            return (other or name,)
        case ast.Constant(value=str(value)):
            return (value,)
    return ()
