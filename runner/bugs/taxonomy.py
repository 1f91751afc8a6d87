"""The closed lists that bugs are counted by; docs/taxonomy.md defines every entry, and where it
comes from.
"""

from collections.abc import Mapping
from typing import Literal, get_args

Location = Literal["user code", "framework", "compiler", "library", "hardware"]
Cause = Literal[
    "missing API call",
    "wrong API use",
    "wrong shape or type",
    "wrong logic",
    "shared state",
    "misplaced effect",
    "wrong specialisation",
    "bad data",
    "numerics",
    "concurrency",
]
Effect = Literal[
    "no learning",
    "poor model",
    "instability",
    "wrong evaluation",
    "wrong resume",
    "diverging replicas",
    "wasted work",
]
Stage = Literal[
    "data",
    "model",
    "loss",
    "backward",
    "optimizer",
    "scheduler",
    "evaluation",
    "distributed",
    "checkpoint",
]
Realism = Literal["original", "adapted", "re-created"]

# The keys of `labels` with a closed list, in the order in which they are shown.
LISTS: Mapping[str, tuple[str, ...]] = {
    "location": get_args(Location),
    "cause": get_args(Cause),
    "effect": get_args(Effect),
    "stage": get_args(Stage),
}
REALISM: tuple[str, ...] = get_args(Realism)
