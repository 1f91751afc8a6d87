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
Realism = Literal["original", "adapted", "our own"]
HarmKind = Literal["reported", "enlarged", "measured", "constructed"]
CodeAtFault = Literal["installed", "rewritten", "re-created", "injected"]
FixKind = Literal["released", "proposed", "work-around"]
UpstreamState = Literal["fixed", "open", "documented", "by design", "unknown"]
SourceRead = Literal["whole", "part", "second-hand"]
Split = Literal["development", "test"]

# The keys of `labels` with a closed list, in the order in which they are shown.
LISTS: Mapping[str, tuple[str, ...]] = {
    "location": get_args(Location),
    "cause": get_args(Cause),
    "effect": get_args(Effect),
    "stage": get_args(Stage),
}
REALISM: tuple[str, ...] = get_args(Realism)
# The declared facts with a closed list, in the order in which they are shown.
DECLARED: Mapping[str, tuple[str, ...]] = {
    "harm": get_args(HarmKind),
    "code_at_fault": get_args(CodeAtFault),
    "state_upstream": get_args(UpstreamState),
    "source_read": get_args(SourceRead),
    "split": get_args(Split),
}
FIXES: tuple[str, ...] = get_args(FixKind)
