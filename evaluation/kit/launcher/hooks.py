"""Hooks in torch that see what a program does besides the steps of its optimizers: a function for each kind of moment.

calls.py says how Dynamo meets the wrappers. `tell(moment, *arguments)` tells the monitor, and `wants(*moments)` says
whether it has a method for one of them.
"""

import functools
import inspect
import weakref

import torch
import torch._dynamo
import torch.nn.functional as F  # noqa: N812
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, dataloader

from . import scalars
from .calls import (
    Depth,
    is_compiled_code,
    is_compiling,
    is_tracing,
    outermost,
    scriptable,
    skipped,
)
from .moments import names_by_hook

LOSSES = (
    "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div",
    "poisson_nll_loss", "gaussian_nll_loss", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "hinge_embedding_loss", "margin_ranking_loss",
    "soft_margin_loss", "multi_margin_loss", "multilabel_margin_loss",
    "multilabel_soft_margin_loss", "cosine_embedding_loss", "triplet_margin_loss",
    "triplet_margin_with_distance_loss", "ctc_loss",
)  # fmt: skip
CLIPPERS = ("clip_grad_norm_", "clip_grad_value_")


def install(tell, wants):
    """Put in the hooks that a monitor has methods for."""
    names = names_by_hook()
    for name, hook in HOOKS.items():
        if wants(*names[name]):
            hook(tell, wants)


def hook_modules(tell, wants):
    """Calls of modules: the outermost one, and if the monitor wants it, the first one of each module inside of it."""
    bare, depth = torch.nn.Module.__call__, Depth()
    wants_inner, reported = wants("inner_forward"), weakref.WeakSet()

    @functools.wraps(bare)
    def call(module, *arguments, **options):
        if is_compiling() or is_tracing():
            return bare(module, *arguments, **options)
        if depth.value:
            if wants_inner and module not in reported and tell("inner_forward", module):
                reported.add(module)
            return bare(module, *arguments, **options)
        is_watched = not is_compiled_code(module)
        if is_watched:
            tell("before_forward", module, arguments, options)
        depth.value += 1
        try:
            output = bare(module, *arguments, **options)
        finally:
            depth.value -= 1
        if is_watched:
            tell("after_forward", module, arguments, options, output)
        return output

    torch.nn.Module.__call__ = skipped(call)


def hook_losses(tell, wants):
    """Calls of loss functions."""
    depth = Depth()
    for name in LOSSES:
        bare = getattr(F, name)
        after = tell_loss(name, inspect.signature(bare), tell)
        wrapper = outermost(bare, after=after, depth=depth)
        setattr(F, name, scriptable(wrapper, bare))


def tell_loss(name, signature, tell):
    """A function that tells of a call of a loss, with its arguments by name."""
    defaults = {parameter.name: parameter.default for parameter in signature.parameters.values()}

    def after(arguments, options, output):
        if not isinstance(output, torch.Tensor):
            return
        # The call has succeeded, so that these are its arguments.
        positional = dict(zip(defaults, arguments))  # noqa: B905
        tell("after_loss", name, {**defaults, **positional, **options}, output)

    return after


def hook_differences(tell, wants):
    """`x - y`, which is the one way to subtract that no `__torch_function__` hears of by its own name."""
    bare, tensor = torch.Tensor.__sub__, torch.Tensor

    @functools.wraps(bare)
    def subtract(first, second):
        result = bare(first, second)
        is_plain = type(first) is tensor and type(second) is tensor
        is_larger = is_plain and first.numel() < result.numel() > second.numel()
        if is_larger and not (is_compiling() or is_tracing()):
            tell("after_difference", first, second, result)
        return result

    torch.Tensor.__sub__ = skipped(subtract)


def hook_clipping(tell, wants):
    """Calls of the functions that clip gradients."""
    for name in CLIPPERS:
        clip = watch_clip(getattr(torch.nn.utils, name), tell)
        setattr(torch.nn.utils, name, clip)
        setattr(torch.nn.utils.clip_grad, name, clip)


def watch_clip(bare, tell):
    """A function that clips, with its calls told."""
    limit = list(inspect.signature(bare).parameters)[1]

    @functools.wraps(bare)
    def clip(parameters, *arguments, **options):
        if is_compiling() or is_tracing():
            return bare(parameters, *arguments, **options)
        tell("before_clip", parameters)
        # A generator can be read once only: by the function, or here.
        is_single = isinstance(parameters, torch.Tensor)
        tensors = [parameters] if is_single else list(parameters)
        norm = bare(tensors, *arguments, **options)
        tell("after_clip", tensors, arguments[0] if arguments else options[limit], norm)
        return norm

    return skipped(clip)


def hook_loaders(tell, wants):
    """Iterations over data loaders, and their batches."""
    make_iterator, make_batch = DataLoader.__iter__, dataloader._BaseDataLoaderIter.__next__

    @functools.wraps(make_iterator)
    def iterate(loader):
        tell("before_epoch", loader)
        iterator = make_iterator(loader)
        iterator._watched_loader = loader
        return iterator

    @functools.wraps(make_batch)
    def step(iterator):
        batch = make_batch(iterator)
        tell("after_batch", getattr(iterator, "_watched_loader", None), batch)
        return batch

    DataLoader.__iter__ = iterate
    dataloader._BaseDataLoaderIter.__next__ = step
    dataloader._BaseDataLoaderIter.next = step


def hook_schedulers(tell, wants):
    """Learning rate schedulers: when they are made, and when they step."""
    making, stepping = Depth(), Depth()

    def telling(moment):
        def tell_moment(arguments, options, result=None):
            if not making.value:
                tell(moment, arguments[0])

        return tell_moment

    before_step, after_step = telling("before_schedule"), telling("after_schedule")
    after_making = telling("after_scheduler")
    for scheduler in scheduler_classes():
        methods = vars(scheduler)
        if "__init__" in methods:
            scheduler.__init__ = outermost(scheduler.__init__, after=after_making, depth=making)
        if "step" in methods:
            scheduler.step = outermost(scheduler.step, before_step, after_step, stepping)


def scheduler_classes():
    """The classes of schedulers that torch has."""
    base = getattr(lr_scheduler, "LRScheduler", None) or lr_scheduler._LRScheduler
    plateau = lr_scheduler.ReduceLROnPlateau
    classes = [value for value in vars(lr_scheduler).values() if isinstance(value, type)]
    return [value for value in classes if issubclass(value, base) or value is plateau]


def hook_loads(tell, wants):
    """Calls of `load_state_dict`."""
    depth = Depth()

    def before(arguments, options):
        state = arguments[1] if len(arguments) > 1 else options["state_dict"]
        tell("before_load", arguments[0], state)

    def after(arguments, options, result):
        tell("after_load", arguments[0])

    optimizers = [value for value in vars(torch.optim).values() if isinstance(value, type)]
    classes = {torch.nn.Module, torch.optim.Optimizer, *optimizers, *scheduler_classes()}
    for loading in classes:
        if "load_state_dict" in vars(loading):
            loading.load_state_dict = outermost(loading.load_state_dict, before, after, depth)


def hook_states(tell, wants):
    """State dictionaries that modules return, without those of their parts."""

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
        value = look_up(module, name)
        if name not in ("train", "eval") or is_compiling():
            return value

        def change_mode(*arguments):
            result = value(*arguments)
            is_training = name == "train" and (not arguments or bool(arguments[0]))
            tell("after_mode", module, is_training)
            return result

        return change_mode

    compiled.__getattr__ = get


# In the order in which they wrap; moments.py says what each of them tells.
HOOKS = {
    "modules": hook_modules,
    "losses": hook_losses,
    "differences": hook_differences,
    "clipping": hook_clipping,
    "loaders": hook_loaders,
    "schedulers": hook_schedulers,
    "loads": hook_loads,
    "states": hook_states,
    "modes": hook_modes,
    "sums": scalars.hook_sums,
    "numbers": scalars.hook_numbers,
    "scalers": scalars.hook_scalers,
}
