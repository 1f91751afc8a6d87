"""The mechanical cures, by the names of the invariants that they mend."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from templates import compilation, data, gradients, losses, modes, schedules, state
from templates.program import Edit, NoCureError, Program, apply_edits

Cure = Callable[[Program, int], list[Edit]]
CURES: Mapping[str, Cure] = {
    "stale-gradients": gradients.clear_gradients,
    "no-gradient": gradients.order_of_calls,
    "discarded-gradients": gradients.clear_behind_steps,
    "clip": gradients.keep_parameters,
    "clip-after-step": gradients.clip_before_step,
    "clipped-parts": gradients.clip_before_step,
    "scaled-clip": gradients.unscale_before_clip,
    "never-steps": gradients.add_step,
    "lost-parameters": gradients.make_optimizer_later,
    "forgotten-state": gradients.make_optimizer_once,
    "unused-schedule": schedules.step_schedule,
    "early-schedule": schedules.step_by_epochs,
    "trains-in-evaluation-mode": modes.train_before_steps,
    "no-evaluation-mode": modes.evaluate_without_gradients,
    "noisy-teacher": modes.evaluate_other_network,
    "dropout-in-evaluation": modes.dropout_by_mode,
    "mode": modes.mode_of_compiled,
    "probabilities-as-logits": losses.give_logits,
    "bounded-logits": losses.unbound_logits,
    "log-probabilities": losses.give_log_probabilities,
    "swapped-arguments": losses.swap_arguments,
    "outer-difference": losses.one_shape,
    "constant-term": losses.keep_in_graph,
    "negated-loss": losses.negate_once,
    "learnt-target": losses.detach_target,
    "learnt-reward": losses.detach_advantage,
    "overwritten-loss": losses.add_up_losses,
    "counted-padding": losses.ignore_padding,
    "masked-mean": losses.mean_over_mask,
    "focal-of-mean": losses.focal_of_each,
    "same-batches": data.set_epochs,
    "sorted-classes": data.shuffle,
    "dropped-samples": data.keep_last_batch,
    "stale-workers": data.new_workers,
    "repeated-draws": data.seed_once,
    "changed-data": data.copy_items,
    "loads-itself": state.keep_copy,
    "shared-state": state.load_copy,
    "frozen-in-name": state.freeze_whole,
    "frozen-moves": state.clear_frozen,
    "swapped-decay": state.average_slowly,
    "repeated-layer": state.separate_layers,
    "unregistered-module": state.register_layers,
    "discarded-result": state.keep_result,
    "ranks": state.call_wrapper,
    "shadow-step": compilation.plain_steps,
    "compiled-differs": compilation.uncompiled,
    "recompiles": compilation.rate_as_tensor,
    "evaluation-depends-on-grad": compilation.without_fast_path,
    "transparent-checkpoint": compilation.transparent,
    "backward-draws": compilation.transparent,
    "mixed-texts": compilation.batch_first,
    "batchnorm-options": compilation.momentum_by_name,
}


@dataclass(frozen=True)
class Accusation:
    """An alarm of error severity: the name of the invariant, and the line."""

    invariant: str
    line: int


@dataclass(frozen=True)
class Repair:
    """A program after cures; `applied` are the invariants that were cured, `failed` says of the
    others why they were not.
    """

    text: str
    applied: tuple[str, ...]
    failed: tuple[str, ...]


def repair(text: str, accusations: Iterable[Accusation]) -> Repair:
    """The program with the cure of each accusation, one after the other, as far as they fit.

    Of each invariant the first accusation counts. Edits that overlap with those of an
    earlier accusation are left out. Lines are those of the text as it was.
    """
    first: dict[str, Accusation] = {}
    for item in accusations:
        first.setdefault(item.invariant, item)
    edits: list[Edit] = []
    applied: list[str] = []
    failed: list[str] = []
    for item in first.values():
        try:
            new_edits = [*edits, *cure(text, item)]
            compile(apply_edits(text, new_edits), "program.py", "exec", dont_inherit=True)
        except (NoCureError, SyntaxError, ValueError) as error:
            failed.append(f"{item.invariant}: {error}")
        else:
            edits = new_edits
            applied.append(item.invariant)
    return Repair(apply_edits(text, edits), tuple(applied), tuple(failed))


def cure(text: str, accusation: Accusation) -> list[Edit]:
    """The edits by which an accusation is cured; raises NoCureError, or SyntaxError."""
    function = CURES.get(accusation.invariant)
    if function is None:
        raise NoCureError("there is no mechanical cure")
    edits = function(Program(text), accusation.line)
    if apply_edits(text, edits) == text:
        raise NoCureError("the cure changes nothing")
    return edits


def describe() -> list[tuple[str, str]]:
    """The names of the invariants with what their cures do, in a line."""
    return [(name, " ".join((CURES[name].__doc__ or "").split())) for name in CURES]
