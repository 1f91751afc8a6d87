"""A callback for Lightning: `Trainer(callbacks=[WatchCallback()])` says at the end of a fit which
invariants of training it broke.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from evaluation.watching.in_process.watching import Watching
from evaluation.watching.report import WatchReport

# The two names under which Lightning is installed. A callback has to be of the one that trains.
PACKAGES = ("lightning.pytorch", "pytorch_lightning")


def _base() -> type[Any]:
    """The class of callbacks: of the package that the program has imported, else of one that is
    there. Raises ImportError where there is none.
    """
    imported = [name for name in PACKAGES if name in sys.modules]
    for name in (*imported, *PACKAGES):
        try:
            callbacks: Any = importlib.import_module(f"{name}.callbacks")
        except ModuleNotFoundError:
            continue
        base: type[Any] = callbacks.Callback
        return base
    raise ImportError("Lightning is not installed; `pip install lightning`")


class WatchCallback(_base()):  # type: ignore[misc]
    """Watches a fit from its setup to its end. The arguments are those of `watching`; `report` is
    what was seen.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._watching = Watching(**options)

    @property
    def report(self) -> WatchReport | None:
        """What was seen; None until the fit has ended."""
        return self._watching.report

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Begin before the optimizers are made."""
        if stage == "fit":
            self._watching.start((), list(pl_module.modules()))

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Tell what was seen before the program failed."""
        self._watching.stop(raises=False)

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """End with the fit."""
        if stage == "fit":
            self._watching.stop()
