"""A callback for the Trainer of transformers: `Trainer(..., callbacks=[WatchCallback()])` says at
the end of a training which invariants it broke.
"""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from evaluation.watching.in_process.engine import live_objects
from evaluation.watching.in_process.watching import Watching
from evaluation.watching.report import WatchReport


class WatchCallback(TrainerCallback):  # type: ignore[misc]
    """Watches a training from its first step to its end. The arguments are those of `watching`;
    `report` is what was seen.
    """

    def __init__(self, **options: Any) -> None:
        self._watching = Watching(**options)

    @property
    def report(self) -> WatchReport | None:
        """What was seen; None until the training has ended."""
        return self._watching.report

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Begin with the model and the optimizer, which are there by now."""
        self._watching.start(*live_objects())

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """End with the training."""
        self._watching.stop()
