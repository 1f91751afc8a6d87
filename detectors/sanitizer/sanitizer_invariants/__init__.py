"""All invariants. Each is a module in the folder of its theme;
`tools` holds what several of them use.
"""

import importlib
import pkgutil

from sanitizer_invariants.tools.invariant import Invariant

THEMES = (
    "checkpoints", "compilation", "data", "gradients", "losses", "metrics", "modes",
    "modules", "optimizers", "ranks", "schedules",
)  # fmt: skip
# The order in which invariants are told what happens.
ORDER = (
    "stale-gradients", "shadow-step", "no-gradient", "clip", "recompiles", "lost-parameters",
    "unregistered-module", "schedule", "dropout-in-evaluation", "evaluation-depends-on-grad",
    "mode", "trains-in-evaluation-mode", "probabilities-as-logits", "outer-difference",
    "same-batches", "ranks", "compiled-differs", "transparent-checkpoint", "zero-gradient",
    "token-weights", "scaled-clip", "clip-after-step", "constant-term", "focal-of-mean",
    "bounded-logits", "log-probabilities", "swapped-arguments", "order-of-samples",
    "mixed-samples", "padding-leaks", "skipped-token", "input-scale", "no-evaluation-mode",
    "stale-workers", "loads-nothing", "loads-itself", "shared-state", "frozen-moves",
    "rounded-away", "stuck-together", "backward-draws", "vanished-rate", "unused-schedule",
    "never-steps", "negated-loss", "view-for-transpose", "masked-mean", "unfed-normalisation",
    "frozen-in-name", "plain-parameter", "learnt-reward", "left-behind", "reads-ahead",
    "copied-input", "discarded-result", "cut-off", "shared-samples", "swapped-decay",
    "counted-padding", "sorted-classes", "early-schedule", "order-blind", "noisy-teacher",
    "not-a-number", "repeated-draws", "constant-loss", "learnt-target", "ratio-of-policies",
    "merged-differs", "loads-part", "loads-otherwise", "half-resumed", "untied",
    "batchnorm-options", "unfed-observer",
    "overwritten-loss", "mixed-texts", "ignores-input", "forgotten-state", "changed-data",
    "repeated-layer", "decay-groups", "masked-targets", "same-on-ranks", "copied-generator",
    "discarded-gradients", "clipped-parts", "foreign-sampler", "improper-targets",
    "dropped-samples", "packed-texts", "uneven-ranks", "silent-samples",
    "diverging-optimizer", "idle-option", "resumes-otherwise", "wrong-backward",
    "discarded-function", "adapter-differs", "ignored-mask", "evaluation-shift",
    "stale-copy",
    "stands-still",
    "visible-targets",
    "term-twice",
    "counted-ignored",
    "schedule-outpaces",
    "schedule-too-long",
    "carried-state",
    "metric-reset", "metric-in-collection", "metric-types", "metric-ignores",
    "metric-flattened", "outer-comparison", "chooses-nan", "silent-batches",
    "random-evaluation", "idle-term", "softmax-twice", "softmax-of-one", "attention-axis",
    "overwritten-input", "learnt-padding", "reversed-weights", "frozen-target", "idle-layer",
    "ignored-gradient", "trained-validation", "undone-freezing", "thawed-parameter",
    "idle-ignore-index", "epochs-as-steps", "unlearnt-end", "empty-epoch", "idle-shuffle",
    "unscheduled-group", "skipped-steps",
)  # fmt: skip


def _discover():
    """The invariants of all themes, by name."""
    invariants = {}
    for theme in THEMES:
        package = importlib.import_module(f"{__name__}.{theme}")
        for entry in pkgutil.iter_modules(package.__path__):
            module = importlib.import_module(f"{package.__name__}.{entry.name}")
            invariants.update(_defined_in(module))
    return invariants


def _defined_in(module):
    """The invariants that a module defines, by name."""
    classes = [value for value in vars(module).values() if isinstance(value, type)]
    local = [value for value in classes if value.__module__ == module.__name__]
    return {value.NAME: value for value in local if issubclass(value, Invariant)}


def _in_order(invariants):
    if set(invariants) != set(ORDER):
        raise ImportError(f"ORDER and the themes differ in {sorted(set(invariants) ^ set(ORDER))}")
    return tuple(invariants[name] for name in ORDER)


ALL = _in_order(_discover())
