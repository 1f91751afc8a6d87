"""How is it seen what a program does besides its optimizers? For launcher_program: a function for each kind of moment.

Dynamo meets the wrappers in two ways. Where it compiles a function that calls one, the wrapper is nothing but the call
of what it wraps. Where it looks for functions to compile, wrappers are skipped, as the functions of torch are.
"""

import functools
import inspect
import threading

import torch
import torch._dynamo
import torch.nn.functional as F  # noqa: N812
from torch.fx import GraphModule
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, dataloader

# Dynamo takes what this function returns for a constant.
is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None) or torch._dynamo.is_compiling
# A function in C up to torch 2.4 at least, and in Python from 2.8 at the latest.
skip_code = getattr(torch._C._dynamo.eval_frame, "skip_code", None) or torch._dynamo.eval_frame.skip_code
set_eval_frame = torch._C._dynamo.eval_frame.set_eval_frame

# Where torch has both, `get` raises an error outside of a compilation.
tracing_context = getattr(torch._guards.TracingContext, "try_get", None) or torch._guards.TracingContext.get

LOSSES = (
    "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "poisson_nll_loss",
    "gaussian_nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "hinge_embedding_loss",
    "margin_ranking_loss", "soft_margin_loss", "multi_margin_loss", "multilabel_soft_margin_loss",
    "cosine_embedding_loss", "triplet_margin_loss", "ctc_loss",
)  # fmt: skip
DIFFERENCES = ("__sub__", "__rsub__", "sub", "subtract")
CLIPPERS = ("clip_grad_norm_", "clip_grad_value_")


class Depth(threading.local):
    """How deep in calls of one kind a thread is: the outermost one is told."""

    value = 0


def skipped(function):
    """Dynamo does not begin to compile here; it goes on to look at what is called."""
    skip_code(function.__code__)
    return function


def uncompiled(call):
    """`call`, with nothing of it looked at by Dynamo: as by `torch._dynamo.disable`, in a small part of its time."""

    @functools.wraps(call)
    def wrapper(*what):
        callback = set_eval_frame(None)
        try:
            call(*what)
        finally:
            set_eval_frame(callback)

    return skipped(wrapper)


@skipped
def is_tracing():
    """Whether Dynamo calls this with tensors that hold no numbers, while it compiles."""
    return tracing_context() is not None


@skipped
def is_compiled_code(module):
    """Whether a module is what Dynamo has made of a function, or a wrapper of that."""
    return isinstance(module, GraphModule) or isinstance(getattr(module, "_modules", {}).get("_orig_mod"), GraphModule)


def outermost(bare, before=None, after=None, depth=None):
    """`bare` with calls around the outermost of its calls: `before(arguments, options)`, `after(…, result)`."""
    depth = depth or Depth()

    @functools.wraps(bare)
    def wrapper(*arguments, **options):
        if is_compiling() or depth.value or is_tracing():
            return bare(*arguments, **options)
        if before is not None:
            before(arguments, options)
        depth.value += 1
        try:
            result = bare(*arguments, **options)
        finally:
            depth.value -= 1
        if after is not None:
            after(arguments, options, result)
        return result

    return skipped(wrapper)


def install(tell, wants):
    """Hook what a monitor asks for: `wants(*moments)` says so, `tell(moment, *what)` tells it."""
    for hook, moments in HOOKS.items():
        if wants(*moments):
            hook(tell, wants)


def hook_forward(tell, wants):
    """Calls of modules: the outermost one, and where it is asked for each one inside of it."""
    bare, depth, inner = torch.nn.Module.__call__, Depth(), wants("inner_forward")

    @functools.wraps(bare)
    def call(module, *arguments, **options):
        if is_compiling() or is_tracing():
            return bare(module, *arguments, **options)
        if depth.value:
            if inner:
                tell("inner_forward", module)
            return bare(module, *arguments, **options)
        told = not is_compiled_code(module)
        if told:
            tell("before_forward", module, arguments, options)
        depth.value += 1
        try:
            output = bare(module, *arguments, **options)
        finally:
            depth.value -= 1
        if told:
            tell("after_forward", module, arguments, options, output)
        return output

    torch.nn.Module.__call__ = skipped(call)


def told_compiled(function, called, tell):
    """A compiled function, `called` in the place of `function`, whose calls are told."""

    def before(arguments, options):
        tell("before_compiled", function, arguments, options)

    def after(arguments, options, result):
        tell("after_compiled", function, arguments, options, result)

    return outermost(called, torch._dynamo.disable(before), torch._dynamo.disable(after))


def hook_losses(tell, wants):
    depth = Depth()
    for name in LOSSES:
        bare = getattr(F, name)
        setattr(F, name, outermost(bare, after=told_loss(name, inspect.signature(bare), tell), depth=depth))


def told_loss(name, signature, tell):
    defaults = {each.name: each.default for each in signature.parameters.values()}

    def after(arguments, options, output):
        # The call has succeeded, so that these are its arguments.
        given = dict(zip(defaults, arguments))  # noqa: B905
        tell("after_loss", name, {**defaults, **given, **options}, output)

    return after


def hook_differences(tell, wants):
    def after(arguments, options, output):
        if len(arguments) == 2 and all(isinstance(each, torch.Tensor) for each in arguments):
            tell("after_difference", *arguments, output)

    depth = Depth()
    for owner, name in [*((torch.Tensor, name) for name in DIFFERENCES), (torch, "sub"), (torch, "subtract")]:
        setattr(owner, name, outermost(getattr(owner, name), after=after, depth=depth))


def hook_clipping(tell, wants):
    for name in CLIPPERS:
        bare = getattr(torch.nn.utils, name)

        def clip(parameters, limit, *arguments, bare=bare, **options):
            tell("before_clip", parameters)
            # A generator can be read once only: by the function, or here.
            given = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
            norm = bare(given, limit, *arguments, **options)
            tell("after_clip", given, limit, norm)
            return norm

        clip = functools.wraps(bare)(torch._dynamo.disable(clip))
        setattr(torch.nn.utils, name, clip)
        setattr(torch.nn.utils.clip_grad, name, clip)


def hook_loaders(tell, wants):
    make, following = DataLoader.__iter__, dataloader._BaseDataLoaderIter.__next__

    @functools.wraps(make)
    def iterate(loader):
        tell("before_epoch", loader)
        found = make(loader)
        found._watched_loader = loader
        return found

    @functools.wraps(following)
    def step(iterator):
        batch = following(iterator)
        tell("after_batch", getattr(iterator, "_watched_loader", None), batch)
        return batch

    DataLoader.__iter__ = iterate
    dataloader._BaseDataLoaderIter.__next__ = step
    dataloader._BaseDataLoaderIter.next = step


def hook_schedulers(tell, wants):
    made, stepped = Depth(), Depth()

    def after(moment):
        return lambda arguments, options, result: made.value or tell(moment, arguments[0])

    def before(arguments, options):
        if not made.value:
            tell("before_schedule", arguments[0])

    for one in scheduler_classes():
        if "__init__" in vars(one):
            one.__init__ = outermost(one.__init__, after=after("after_scheduler"), depth=made)
        if "step" in vars(one):
            one.step = outermost(one.step, before, after("after_schedule"), stepped)


def scheduler_classes():
    base = getattr(lr_scheduler, "LRScheduler", None) or lr_scheduler._LRScheduler
    return [
        one
        for one in vars(lr_scheduler).values()
        if isinstance(one, type) and (issubclass(one, base) or one is lr_scheduler.ReduceLROnPlateau)
    ]


def hook_loads(tell, wants):
    depth = Depth()

    def after(arguments, options, result):
        tell("after_load", arguments[0])

    optimizers = [one for one in vars(torch.optim).values() if isinstance(one, type)]
    for one in {torch.nn.Module, torch.optim.Optimizer, *optimizers, *scheduler_classes()}:
        if "load_state_dict" in vars(one):
            one.load_state_dict = outermost(one.load_state_dict, after=after, depth=depth)


def hook_modes(tell, wants):
    """`train` and `eval`, with what they were called on: a compiled module hands them to the one inside of it."""
    depth = Depth()
    bare = torch.nn.Module.train

    @functools.wraps(bare)
    def train(module, mode=True):
        depth.value += 1
        try:
            result = bare(module, mode)
        finally:
            depth.value -= 1
        if not depth.value:
            tell("after_mode", module, mode)
        return result

    torch.nn.Module.train = torch._dynamo.disable(train)
    compiled = torch._dynamo.eval_frame.OptimizedModule
    look_up = compiled.__getattr__

    def get(module, name):
        found = look_up(module, name)
        if name not in ("train", "eval") or is_compiling():
            return found

        def through(*arguments):
            result = found(*arguments)
            tell("after_mode", module, name == "train" and (not arguments or bool(arguments[0])))
            return result

        return through

    compiled.__getattr__ = get


HOOKS = {
    hook_forward: ("before_forward", "inner_forward", "after_forward"),
    hook_losses: ("after_loss",),
    hook_differences: ("after_difference",),
    hook_clipping: ("before_clip", "after_clip"),
    hook_loaders: ("before_epoch", "after_batch"),
    hook_schedulers: ("after_scheduler", "before_schedule", "after_schedule"),
    hook_loads: ("after_load",),
    hook_modes: ("after_mode",),
}
