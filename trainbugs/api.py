"""The Python interface, for notebooks: `load` the catalogue, `run` bugs, read `results` as a pandas table.

>>> import trainbugs
>>> trainbugs.load().bug("PyTorch-115607").title
>>> outcome = trainbugs.run("PyTorch-115607/simple")[0]
>>> outcome.verdict.outcome
'REPRODUCED'
>>> trainbugs.results()  # one row per record
"""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from runner.bugs.catalog import Catalog, default_root

if TYPE_CHECKING:
    import pandas as pd

    from runner.session.options import OptionValues
    from runner.verdicts.outcome import Outcome


def load(root: Path | None = None) -> Catalog:
    """The catalogue: `.ids()`, `.bug(ID)`. `root` holds the folders bugs and environments; default: this checkout."""
    return Catalog(root or default_root())


def run(*names: str, root: Path | None = None, **options: "Unpack[OptionValues]") -> "list[Outcome]":
    """Run BUG[/CASE[/VARIANT]] … and judge them: one Outcome (verdict, records, drift) per case.

    The options are those of `trainbugs run`, by the names of `runner.session.options.Options`: `seeds=[0, 1]`,
    `device="cuda"`, `python="/path/to/python"`. Missing environments are built (gigabytes). Raises TrainbugsError for
    an unknown bug or option, or an environment that cannot be built.
    """
    from runner.progress.lines import on_stderr
    from runner.session.options import from_values
    from runner.session.session import run_targets

    catalog, chosen = load(root), from_values(options)
    targets = catalog.select(names, elsewhere=chosen.elsewhere)
    return run_targets(catalog, targets, chosen, on_stderr())


def results(*bugs: str, folder: Path | str = "results") -> "pd.DataFrame":
    """The run records of a results folder, all or those of some bugs, as a table: one row per record of a script.

    Files that cannot be read are left out, each with a warning.
    """
    from runner.results.export import frame
    from runner.results.store import Store

    records = Store(Path(folder)).records(bugs)
    for problem in records.problems:
        warnings.warn(problem, stacklevel=2)
    return frame(records)
