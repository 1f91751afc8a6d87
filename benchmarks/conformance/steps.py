"""Every optimizer of torch.optim, compiled and ordinary, under what its users vary: a table of outcomes.

    python steps.py table.csv

It needs torch alone, and runs in whatever release the interpreter has. A row is an optimizer with one variation: three
matrices are trained for six iterations, once as ordinary Python and once with the step compiled by Dynamo with backend
eager, and parameters and state are compared after each iteration. The outcome is

- `same`: no number differs by more than rounding;
- `differs`: one does, silently; `first` is the iteration, `distance` the largest difference of a parameter or state in
  the end, over the largest number of that parameter or state, or over 1;
- `compiled fails`: the ordinary training works, the compiled one raises an error;
- `refused`: the ordinary training raises an error itself, so there is nothing to compare with.

Left out are combinations that the optimizer has no option for. Rows that the table has already are kept: it may be
stopped, and goes on.
"""

import csv
import inspect
import logging
import sys
import warnings
from functools import partial
from pathlib import Path

import torch
import torch._dynamo
from torch.optim import lr_scheduler

ITERATIONS = 6
# The iteration before which something is changed, and the one from which on it is as before.
CHANGE, BACK = 3, 5
RATE = 0.05
# Compiled code computes what depends on the step counter as a tensor, in single precision.
TOLERANCE = {torch.bfloat16: 5e-2}
USUAL_TOLERANCE = 1e-4
# What these optimizers need to be as their users have them; all others take their defaults.
DEFAULTS = {"SGD": {"momentum": 0.9}, "RMSprop": {"momentum": 0.9}}
OPTIONS = {
    "for-loop": {"foreach": False},
    "foreach": {"foreach": True},
    "fused": {"fused": True},
    "maximize": {"maximize": True},
    "weight decay": {"weight_decay": 0.1},
    "amsgrad": {"amsgrad": True},
    "nesterov": {"nesterov": True},
    "centered": {"centered": True},
    "decoupled weight decay": {"weight_decay": 0.1, "decoupled_weight_decay": True},
    "rate: tensor": {"lr": torch.tensor(RATE)},
    "rate: tensor of one dimension": {"lr": torch.tensor([RATE])},
}
SCHEDULERS = {
    "LambdaLR": lambda optimizer: lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.9**epoch),
    "StepLR": lambda optimizer: lr_scheduler.StepLR(optimizer, 2),
    "ExponentialLR": lambda optimizer: lr_scheduler.ExponentialLR(optimizer, 0.8),
    "CosineAnnealingLR": lambda optimizer: lr_scheduler.CosineAnnealingLR(optimizer, ITERATIONS),
    "OneCycleLR": lambda optimizer: lr_scheduler.OneCycleLR(
        optimizer, 2 * RATE, total_steps=ITERATIONS + 1
    ),
    "ReduceLROnPlateau": lambda optimizer: lr_scheduler.ReduceLROnPlateau(optimizer, patience=0),
}


def matrices(kind):
    """Three parameters of one kind."""
    parameters = [torch.randn(2, 3) for _ in range(3)]
    if kind == "non-contiguous":
        parameters = [torch.randn(3, 2).t() for _ in range(3)]
    elif kind == "a size 0":
        parameters[1] = torch.randn(0, 3)
    elif kind == "no dimension":
        parameters = [torch.randn(()) for _ in range(3)]
    elif kind in ("complex64", "float64", "bfloat16"):
        parameters = [torch.randn(2, 3, dtype=getattr(torch, kind)) for _ in range(3)]
    return [torch.nn.Parameter(parameter) for parameter in parameters]


def freeze(optimizer, parameters, iteration, which):
    for parameter in which(parameters):
        parameter.requires_grad_(not CHANGE <= iteration < BACK)


def load(optimizer, parameters, iteration):
    if iteration == CHANGE:
        optimizer.load_state_dict(optimizer.state_dict())


def reset(optimizer, parameters, iteration, which, method):
    if iteration == CHANGE:
        for parameter in which(parameters):
            method(optimizer.state, parameter)


def forget(state, parameter):
    del state[parameter]


def empty_momentum(state, parameter):
    # SGD's own sign for "no momentum yet".
    if "momentum_buffer" in state[parameter]:
        state[parameter]["momentum_buffer"] = None


def set_option(optimizer, parameters, iteration, name, value):
    if iteration == CHANGE:
        optimizer.param_groups[0][name] = value


def load_without_momentum(optimizer, parameters, iteration):
    """A checkpoint as torch 2.3.1 and older write it after training without momentum."""
    if iteration == 1:
        saved = optimizer.state_dict()
        saved["state"] = {index: {"momentum_buffer": None} for index in range(len(parameters))}
        optimizer.load_state_dict(saved)


def add_group(optimizer, parameters, iteration):
    if iteration == CHANGE:
        optimizer.add_param_group({"params": [parameters[-1]]})


def all_of(parameters):
    return parameters


def first_of(parameters):
    return parameters[:1]


def last_of(parameters):
    return parameters[-1:]


EVENTS = {
    "all frozen for a while": partial(freeze, which=all_of),
    "first frozen for a while": partial(freeze, which=first_of),
    "last frozen for a while": partial(freeze, which=last_of),
    "state loaded": load,
    "state of all forgotten": partial(reset, which=all_of, method=forget),
    "state of first forgotten": partial(reset, which=first_of, method=forget),
    "momentum of all None": partial(reset, which=all_of, method=empty_momentum),
    "momentum of first None": partial(reset, which=first_of, method=empty_momentum),
    "momentum of last None": partial(reset, which=last_of, method=empty_momentum),
    "rate changed": partial(set_option, name="lr", value=RATE / 2),
    "weight decay changed": partial(set_option, name="weight_decay", value=0.1),
    "maximize changed": partial(set_option, name="maximize", value=True),
    "group added": add_group,
}
KINDS = ["non-contiguous", "a size 0", "no dimension", "complex64", "float64", "bfloat16"]


def variations(optimizer_class):
    """Name → the keyword arguments of `train` by which it differs from the plain one."""
    signature = inspect.signature(optimizer_class).parameters
    yield "plain", {}
    for name, chosen in OPTIONS.items():
        if set(chosen) <= set(signature):
            yield name, {"chosen": chosen}
    for kind in KINDS:
        yield f"parameters: {kind}", {"kind": kind}
    yield "one parameter", {"count": 1}
    yield "a group for each parameter", {"grouped": True}
    yield "sparse gradients", {"sparse": True}
    for name, event in EVENTS.items():
        option = getattr(event, "keywords", {}).get("name", "lr")
        if option in signature and ("None" not in name or optimizer_class is torch.optim.SGD):
            yield name, {"event": event}
    if optimizer_class is torch.optim.SGD:
        late = partial(set_option, name="momentum", value=0.9)
        yield "momentum switched on", {"chosen": {"momentum": 0.0}, "event": late}
        yield (
            "one parameter, its momentum None",
            {"event": EVENTS["momentum of all None"], "count": 1},
        )
        yield "loaded without momentum", {"event": load_without_momentum}
        yield "one parameter, loaded without momentum", {"event": load_without_momentum, "count": 1}
    for name, scheduler in SCHEDULERS.items():
        yield f"scheduler: {name}", {"scheduler": scheduler}
    yield "no gradients for a while", {"lacking": all_of}
    yield "none for the first for a while", {"lacking": first_of}


def train(
    optimizer_class,
    compiled,
    chosen=None,
    kind="",
    count=3,
    grouped=False,
    sparse=False,
    event=None,
    scheduler=None,
    lacking=None,
):
    """Parameters and state after each iteration, by name."""
    sparse = sparse or optimizer_class is torch.optim.SparseAdam
    torch.manual_seed(0)
    parameters = matrices(kind)[:count]
    targets = [torch.randn_like(parameter) for parameter in parameters]
    options = {"lr": RATE, **DEFAULTS.get(optimizer_class.__name__, {}), **(chosen or {})}
    trained = parameters[:-1] if event is add_group else parameters
    groups = [{"params": [parameter]} for parameter in trained] if grouped else trained
    optimizer = optimizer_class(groups, **options)
    schedule = scheduler(optimizer) if scheduler else None
    torch._dynamo.reset()
    step = torch._dynamo.optimize("eager")(optimizer.step) if compiled else optimizer.step

    history = []
    for iteration in range(1, ITERATIONS + 1):
        if event:
            event(optimizer, parameters, iteration)
        optimizer.zero_grad()
        pairs = zip(parameters, targets, strict=True)
        used = [
            (parameter - target).abs().square().sum()
            for parameter, target in pairs
            if parameter.requires_grad
        ]
        if used:
            sum(used).backward()
        for parameter in parameters if sparse else ():
            if parameter.grad is not None:
                parameter.grad = parameter.grad.to_sparse(1)
        for parameter in lacking(parameters) if lacking and CHANGE <= iteration < BACK else ():
            parameter.grad = None
        step()
        if schedule:
            # A loss that does not fall: the plateau lowers the rate.
            schedule.step(*([1.0] if isinstance(schedule, lr_scheduler.ReduceLROnPlateau) else []))
        history.append(values(optimizer, parameters))
    return history


def values(optimizer, parameters):
    tensors = {
        f"parameter {index}": parameter.detach().clone()
        for index, parameter in enumerate(parameters)
    }
    for index, parameter in enumerate(parameters):
        for name, entry in optimizer.state.get(parameter, {}).items():
            if entry is not None:
                tensors[f"{name} of {index}"] = torch.as_tensor(entry).detach().clone()
    return tensors


def compared(expected, found):
    """The first iteration that differs, and the largest difference in the end; None,
    0 where all is the same.
    """
    first, largest = None, 0.0
    for iteration, (step_values, other) in enumerate(zip(expected, found, strict=True), 1):
        if set(step_values) != set(other):
            return first or iteration, float("inf")
        for name, value in step_values.items():
            apart = distance(value, other[name])
            if not apart <= TOLERANCE.get(value.dtype, USUAL_TOLERANCE):
                first = first or iteration
            if iteration == len(expected):
                largest = max(largest, apart)
    return first, largest


def distance(first, second):
    if first.shape != second.shape or first.dtype != second.dtype:
        return float("inf")
    if first.numel() == 0:
        return 0.0
    first, second = first.to_dense(), second.to_dense()
    return ((first - second).abs().max() / first.abs().max().clamp(min=1)).item()


def outcome(optimizer_class, settings):
    """The row's last columns."""
    try:
        expected = train(optimizer_class, compiled=False, **settings)
    except Exception as error:
        return {"outcome": "refused", "error": first_line(error)}
    try:
        compiled_values = train(optimizer_class, compiled=True, **settings)
    except Exception as error:
        return {"outcome": "compiled fails", "error": first_line(error)}
    first, largest = compared(expected, compiled_values)
    return {
        "outcome": "differs" if first else "same",
        "first": first or "",
        "distance": f"{largest:.3g}",
    }


def first_line(error):
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:120]


def optimizers():
    """Every optimizer class, in the order of names."""
    classes = [value for value in vars(torch.optim).values() if inspect.isclass(value)]
    subclasses = [
        optimizer_class
        for optimizer_class in classes
        if issubclass(optimizer_class, torch.optim.Optimizer)
        and optimizer_class is not torch.optim.Optimizer
    ]
    # LBFGS steps by a closure; SparseAdam has a kind of gradients of its own.
    return sorted(
        {optimizer_class for optimizer_class in subclasses if optimizer_class.__name__ != "LBFGS"},
        key=lambda optimizer_class: optimizer_class.__name__,
    )


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    path = Path(sys.argv[1])
    columns = ["torch", "optimizer", "variation", "outcome", "first", "distance", "error"]
    if not path.exists():
        path.write_text(",".join(columns) + "\n")
    with path.open(newline="") as stream:
        present = {(row["optimizer"], row["variation"]) for row in csv.DictReader(stream)}
    with path.open("a", newline="") as stream:
        writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
        for optimizer_class in optimizers():
            for name, settings in variations(optimizer_class):
                about = {
                    "torch": torch.__version__.split("+")[0],
                    "optimizer": optimizer_class.__name__,
                }
                if (optimizer_class.__name__, name) not in present:
                    writer.writerow(
                        {**about, "variation": name, **outcome(optimizer_class, settings)}
                    )
                    stream.flush()


if __name__ == "__main__":
    main()
