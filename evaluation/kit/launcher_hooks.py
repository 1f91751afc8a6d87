"""How is it seen what a program does besides its optimizers? For launcher_program: a function for each kind of moment.

Dynamo meets the wrappers in two ways. Where it compiles a function that calls one, the wrapper is nothing but the call
of what it wraps. Where it looks for functions to compile, wrappers are skipped, as the functions of torch are.
"""

import functools
import inspect
import threading
import types
import weakref

import launcher_numbers
import torch
import torch._dynamo
import torch.nn.functional as F  # noqa: N812
from launcher_numbers import is_compiling, skipped
from torch.fx import GraphModule
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, dataloader

set_eval_frame = torch._C._dynamo.eval_frame.set_eval_frame

# Where torch has both, `get` raises an error outside of a compilation.
tracing_context = (
    getattr(torch._guards.TracingContext, "try_get", None) or torch._guards.TracingContext.get
)

LOSSES = (
    "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "poisson_nll_loss",
    "gaussian_nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "hinge_embedding_loss",
    "margin_ranking_loss", "soft_margin_loss", "multi_margin_loss", "multilabel_margin_loss",
    "multilabel_soft_margin_loss", "cosine_embedding_loss", "triplet_margin_loss", "triplet_margin_with_distance_loss",
    "ctc_loss",
)  # fmt: skip
CLIPPERS = ("clip_grad_norm_", "clip_grad_value_")


class Depth(threading.local):
    """How deep in calls of one kind a thread is: the outermost one is told."""

    value = 0


def uncompiled(call):
    """`call`, with nothing of it looked at by Dynamo: as by `torch._dynamo.disable`, in a small part of its time."""

    @functools.wraps(call)
    def wrapper(*what):
        callback = set_eval_frame(None)
        try:
            return call(*what)
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
    # Those of a scripted module have no `get`.
    parts = getattr(module, "_modules", {})
    return isinstance(module, GraphModule) or (
        "_orig_mod" in parts and isinstance(parts["_orig_mod"], GraphModule)
    )


def outermost(bare, before=None, after=None, depth=None):
    """`bare` with calls around the outermost of its calls: `before(arguments, options)`, `after(…, result)`."""
    depth = depth or Depth()
    # By no global name: `scriptable` gives the wrapper those of `bare`.
    compiling, tracing = is_compiling, is_tracing

    @functools.wraps(bare)
    def wrapper(*arguments, **options):
        if compiling() or depth.value or tracing():
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


def scriptable(wrapper, bare):
    """`wrapper` for TorchScript, which reads the source of `bare` and looks up the names in it as the wrapper's."""
    made = types.FunctionType(
        wrapper.__code__, bare.__globals__, bare.__name__, closure=wrapper.__closure__
    )
    return functools.wraps(bare)(made)


def install(tell, wants):
    """Hook what a monitor asks for: `wants(*moments)` says so, `tell(moment, *what)` tells it."""
    for hook, moments in HOOKS.items():
        if wants(*moments):
            hook(tell, wants)


def hook_forward(tell, wants):
    """Calls of modules: the outermost one, and where it is asked for the first one of each module inside of it."""
    bare, depth, inner, known = (
        torch.nn.Module.__call__,
        Depth(),
        wants("inner_forward"),
        weakref.WeakSet(),
    )

    @functools.wraps(bare)
    def call(module, *arguments, **options):
        if is_compiling() or is_tracing():
            return bare(module, *arguments, **options)
        if depth.value:
            if inner and module not in known and tell("inner_forward", module):
                known.add(module)
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
        wrapper = outermost(bare, after=told_loss(name, inspect.signature(bare), tell), depth=depth)
        setattr(F, name, scriptable(wrapper, bare))


def told_loss(name, signature, tell):
    defaults = {each.name: each.default for each in signature.parameters.values()}

    def after(arguments, options, output):
        if not isinstance(output, torch.Tensor):
            return
        # The call has succeeded, so that these are its arguments.
        given = dict(zip(defaults, arguments))  # noqa: B905
        tell("after_loss", name, {**defaults, **given, **options}, output)

    return after


def hook_differences(tell, wants):
    """`x - y`, which is the one way to subtract that no `__torch_function__` is told of by its own name."""
    bare, tensor = torch.Tensor.__sub__, torch.Tensor

    @functools.wraps(bare)
    def subtract(left, right):
        result = bare(left, right)
        plain = type(left) is tensor and type(right) is tensor
        if (
            plain
            and left.numel() < result.numel() > right.numel()
            and not (is_compiling() or is_tracing())
        ):
            tell("after_difference", left, right, result)
        return result

    torch.Tensor.__sub__ = skipped(subtract)


def hook_clipping(tell, wants):
    for name in CLIPPERS:
        clip = told_clip(getattr(torch.nn.utils, name), tell)
        setattr(torch.nn.utils, name, clip)
        setattr(torch.nn.utils.clip_grad, name, clip)


def told_clip(bare, tell):
    limit = list(inspect.signature(bare).parameters)[1]

    @functools.wraps(bare)
    def clip(parameters, *arguments, **options):
        if is_compiling() or is_tracing():
            return bare(parameters, *arguments, **options)
        tell("before_clip", parameters)
        # A generator can be read once only: by the function, or here.
        given = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
        norm = bare(given, *arguments, **options)
        tell("after_clip", given, arguments[0] if arguments else options[limit], norm)
        return norm

    return skipped(clip)


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
        if isinstance(one, type)
        and (issubclass(one, base) or one is lr_scheduler.ReduceLROnPlateau)
    ]


def hook_loads(tell, wants):
    depth = Depth()

    def before(arguments, options):
        tell(
            "before_load",
            arguments[0],
            arguments[1] if len(arguments) > 1 else options["state_dict"],
        )

    def after(arguments, options, result):
        tell("after_load", arguments[0])

    optimizers = [one for one in vars(torch.optim).values() if isinstance(one, type)]
    for one in {torch.nn.Module, torch.optim.Optimizer, *optimizers, *scheduler_classes()}:
        if "load_state_dict" in vars(one):
            one.load_state_dict = outermost(one.load_state_dict, before, after, depth)


def hook_states(tell, wants):
    """The state dictionaries that modules give; those of their parts, of which they are made, are not told."""

    def after(arguments, options, result):
        tell("after_state", arguments[0], result)

    torch.nn.Module.state_dict = outermost(torch.nn.Module.state_dict, after=after)


def hook_modes(tell, wants):
    """`train` and `eval`, with what they were called on: a compiled module hands them to the one inside of it."""

    def after(arguments, options, result):
        module, *mode = arguments
        tell("after_mode", module, mode[0] if mode else options.get("mode", True))

    torch.nn.Module.train = outermost(torch.nn.Module.train, after=after)
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
    hook_loads: ("before_load", "after_load"),
    hook_states: ("after_state",),
    hook_modes: ("after_mode",),
    **launcher_numbers.HOOKS,
}
