"""The scaffold of a new bug: a directory with every file that a bug has, each gap marked TODO."""

import re
from pathlib import Path

from runner.bugs.config import RESERVED_IDS
from runner.bugs.program import VARIANTS
from runner.environments import spec
from runner.errors import CatalogError, ResultsError, UsageError
from runner.verdicts.affected import version_order

SKELETON = Path(__file__).with_name("skeleton")
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


def default_environment(root: Path) -> str:
    """The newest environment of PyTorch alone that is built here, so that nothing is downloaded;
    else the newest one.

    Raises CatalogError where `root` has no environment.
    """
    names = [name for name in spec.names(root) if name.startswith("torch-")] or spec.names(root)
    if not names:
        raise CatalogError(f"{root / 'environments'} holds no environment")
    built = [name for name in names if spec.find(spec.load(root, name))]
    return max(built or names, key=version_order)


def new(name: str, directory: Path, root: Path, environment_name: str) -> list[Path]:
    """Make the directory of a bug called `name`; returns its files. `root` holds the environments.

    The scripts of both variants are the same working program: their difference is still to be
    written. Raises UsageError for an invalid ID, an existing directory or an unknown environment,
    ResultsError where it cannot write.
    """
    if not ID.fullmatch(name):
        raise UsageError(
            f"{name!r} is no ID; expected letters, digits, dots, dashes: PyTorch-115607, "
            "SO-60335387"
        )
    if name in RESERVED_IDS:
        raise UsageError(f"{name!r} is taken, for a folder of results; choose another ID")
    environments = spec.names(root)
    if environment_name not in environments:
        raise spec.unknown(environment_name, environments)
    if directory.exists():
        raise UsageError(f"{directory} is there already; name another ID, or another directory")
    _refuse_alike(name, root)
    sources = {"README.md": "README.md", "config.json": "config.json"}
    sources |= {f"{variant}.py": "script.py" for variant in VARIANTS}
    try:
        directory.mkdir(parents=True)
        for target, source in sources.items():
            text = (SKELETON / source).read_text(encoding="utf-8")
            text = re.sub(r"\bID\b", name, text).replace("ENVIRONMENT", environment_name)
            (directory / target).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ResultsError(f"{directory}: cannot be written: {error.strerror}") from error
    return [directory / target for target in sources]


def _refuse_alike(name: str, root: Path) -> None:
    """Raise UsageError where the ID of a bug differs in case alone: results of both would go into
    one folder on some file systems.
    """
    for bug in (root / "bugs").glob("*"):
        if bug.name != name and bug.name.lower() == name.lower():
            raise UsageError(f"there is {bug.name}, which differs in case alone; name another ID")
