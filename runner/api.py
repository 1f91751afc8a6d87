"""The Python interface, for notebooks: `load` the catalogue, `run` bugs, read `results` as a pandas table.

import runner

runner.load().bug("PyTorch-115607").title
outcome = runner.run("PyTorch-115607/simple")[0]
outcome.verdict.outcome          # 'REPRODUCED'
runner.results()                 # one row per record
"""

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from runner.catalog import Catalog, default_root

if TYPE_CHECKING:
    import pandas as pd

    from runner.outcome import Outcome


def load(root: Path | None = None) -> Catalog:
    """The catalogue: `.ids()`, `.bug(ID)`. `root` holds the folders bugs and environments; default: this checkout."""
    return Catalog(root or default_root())


def run(
    *names: str,
    seeds: Iterable[int] | None = None,
    device: str = "auto",
    python: Path | str | None = None,
    environment: str | None = None,
    data: Path | str | None = None,
    force: bool = False,
    timeout_s: float | None = None,
    inject: bool = False,
    jobs: int = 1,
    gpus: Iterable[int] = (),
    repeat: int = 1,
    results: Path | str = "results",
    root: Path | None = None,
) -> "list[Outcome]":
    """Run BUG[/CASE[/VARIANT]] … and judge them: one Outcome (verdict, records, drift) per case.

    Arguments are those of `trainbugs run`. Builds what environments are missing (gigabytes). Raises TrainbugsError.
    """
    from runner.progress import on_stderr
    from runner.session import Session
    from runner.settings import Options, default_data

    catalog = load(root)
    options = Options(
        results=Path(results),
        seeds=tuple(seeds) if seeds is not None else None,
        device=device,
        python=Path(python) if python else None,
        environment=environment,
        data=Path(data).absolute() if data else default_data(),
        force=force,
        timeout_s=timeout_s,
        inject=inject,
        jobs=jobs,
        gpus=tuple(gpus),
        repeat=repeat,
    )
    targets = catalog.select(names, elsewhere=inject or environment is not None)
    return Session(catalog, options, on_stderr()).run(targets)


def results(*bugs: str, folder: Path | str = "results") -> "pd.DataFrame":
    """All run records of a results folder as one table, or those of some bugs: one row per record of a script.

    Files that cannot be read are left out, each with a warning.
    """
    from runner.store import Store
    from runner.table import frame

    records = Store(Path(folder)).records(bugs)
    for problem in records.problems:
        warnings.warn(problem, stacklevel=2)
    return frame(records)
