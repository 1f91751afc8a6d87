"""The moments of a training: the methods that a monitor's object may have, and when the launcher calls them.

This table is the only one. The hooks take their moments from it, and docs/detectors.md shows it.
"""

from typing import NamedTuple


class Moments(NamedTuple):
    """Moments that belong together: the names of the methods, their arguments, and when they are called.

    `hook` names the function in hooks.py that calls them; moments without a hook are watched under every monitor.
    """

    names: tuple
    arguments: str
    when: str
    hook: str = ""


# Methods of the object that `attach` returns; each gets the iteration first.
OPTIMIZER_MOMENTS = (
    Moments(
        ("before_zero_grad", "after_zero_grad"),
        "iteration",
        "around `zero_grad` of the optimizer, or of a module that holds some of its parameters",
    ),
    Moments(
        ("before_backward", "after_backward"),
        "iteration, tensors",
        "around `backward`; the second argument is what `backward` was called on",
    ),
    Moments(("before_step", "after_step"), "iteration", "around the optimizer's `step`"),
    Moments(("end",), "iteration", "last, with the number of the last iteration"),
)

# Methods of the object that `watch` returns.
PROGRAM_MOMENTS = (
    Moments(
        ("before_zero_grad", "after_zero_grad", "before_step", "after_step"),
        "optimizer",
        "as above",
    ),
    Moments(("before_backward", "after_backward"), "tensors", "around `backward`"),
    Moments(
        ("before_forward", "after_forward"),
        "module, arguments, options(, output)",
        "around a call of a module that is not made by another module",
        hook="modules",
    ),
    Moments(
        ("inner_forward",),
        "module",
        "before the first call of each module inside of one",
        hook="modules",
    ),
    Moments(
        ("after_loss",),
        "name, arguments by name, output",
        "a loss function of `torch.nn.functional` was called, as loss modules do",
        hook="losses",
    ),
    Moments(
        ("after_difference",),
        "left, right, result",
        "`left - right` has more elements than either; of plain tensors, and of no other way to "
        "subtract",
        hook="differences",
    ),
    Moments(
        ("before_clip",),
        "parameters",
        "`clip_grad_norm_` or `clip_grad_value_` is called, with this, which may be a generator",
        hook="clipping",
    ),
    Moments(
        ("after_sum",),
        "constant, result",
        "`x + y` of single numbers, one with gradients; `constant` is the one without",
        hook="sums",
    ),
    Moments(
        ("after_number",),
        "tensors, value",
        "a single number with gradients is taken out of the graph, by `item()`, `float()`, "
        "`tolist()`, `detach()` or `torch.tensor(tensors)`",
        hook="numbers",
    ),
    Moments(
        ("after_scale", "after_unscale"),
        "scaler, outputs or optimizer",
        "a `GradScaler` has scaled a loss, or unscaled gradients",
        hook="scalers",
    ),
    Moments(("before_scaled_step",), "scaler, optimizer", "its `step` is called", hook="scalers"),
    Moments(
        ("after_clip",),
        "parameters, limit, norm",
        "after it; `parameters` is a list of what it was given",
        hook="clipping",
    ),
    Moments(
        ("before_epoch", "after_batch"),
        "loader(, batch)",
        "a DataLoader is iterated over; it has given a batch",
        hook="loaders",
    ),
    Moments(
        ("after_scheduler",), "scheduler", "a learning rate scheduler was made", hook="schedulers"
    ),
    Moments(
        ("before_schedule", "after_schedule"),
        "scheduler",
        "around its `step`; those of schedulers inside of it are not told",
        hook="schedulers",
    ),
    Moments(
        ("before_load", "after_load"),
        "object(, state)",
        "around `load_state_dict` of a module, optimizer or scheduler",
        hook="loads",
    ),
    Moments(
        ("after_state",), "module, state", "a module has given its state dictionary", hook="states"
    ),
    Moments(
        ("after_mode",),
        "module, training",
        "after `train()` and `eval()`, on a compiled module too",
        hook="modes",
    ),
    Moments(
        ("before_compiled", "after_compiled"),
        "function, arguments, options(, result)",
        "around a call of a function that `torch.compile` was given",
    ),
    Moments(("end",), "", "last"),
    Moments(
        ("join",),
        "notes",
        "in the first process alone: what `program.note` was given in each one",
    ),
)


def names_in(table):
    """The names of all moments of a table, in its order."""
    return tuple(name for moments in table for name in moments.names)


def names_by_hook():
    """The names of the moments that each hook calls."""
    names = {}
    for moments in PROGRAM_MOMENTS:
        if moments.hook:
            names[moments.hook] = names.get(moments.hook, ()) + moments.names
    return names
