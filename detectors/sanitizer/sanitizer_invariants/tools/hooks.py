"""Moments that the launcher does not tell, and that invariants can have methods for as well:

- `after_view(tensor, result)`: `view` or `reshape` of a plain tensor of floating point;
- `after_seed(seed)` and `after_generator(state)`: `manual_seed` and `set_rng_state` of torch, which
  `fork_rng` calls as well;
- `after_sample(distribution, value)` and `after_log_prob(distribution, value, result)`: of what
  `torch.distributions` has;
- `after_read(content)`: of what `torch.load` has read;
- `before_convert(module)` and `after_convert(module)`: around `to`, `to_empty`, `half`;
- `before_parameter(module, name, parameter)`: a parameter becomes one of a module, by assignment or
  `register_parameter`;
- `before_registration(parent, name, module)`: a module becomes an attribute of another one;
- `after_function(function, arguments, result)`: of `apply` of a `torch.autograd.Function` that
  torch has not written, where its result has gradients;
- `after_recurrence(module, arguments, options, output)`: a cell, an `nn.RNN`, `nn.LSTM` or `nn.GRU`
  was called, by another module or not;
- `before_metric(name, metric, arguments, options)`: `update` or `reset` of an object that has
  `update`, `compute` and `reset`, and is not called by another such object;
- `after_comparison(left, right, result)`: `left == right` or `left != right` of plain tensors, by
  operators or methods, has more elements than either;
- `after_choice(name, tensor, dim, frame)`: `argmax`, `argmin`, `topk`, or `max` and `min` along an
  axis, of a plain tensor of floating point; `frame` is the caller's;
- `after_softmax(tensor, result, dim, frame)`: `softmax` of a plain tensor, by the program or a
  module of `nn.Softmax`, and not by another function of torch;
- `before_activation(name, tensor, frame)`: `relu` is about to write over a plain tensor; `frame` is
  the caller's;
- `after_next(iterator, is_over, is_loop)`: the iterator of a DataLoader has given a batch, or was
  found to be over, by a loop or by a call of `next`;
- `after_indices(source, iterator, indices, order)`: a batch sampler that torch has not written has
  given the indices of the next batch; `order` is a hash of the permutations of 20 numbers or more
  that `torch.randperm` gave meanwhile, None where there was none.
"""

import contextlib
import ctypes
import dis
import functools
import hashlib
import inspect
import sys
import threading
import types

import torch
import torch._dynamo
import torch.utils.data.dataloader
from torch.distributions import Distribution
from torch.overrides import TorchFunctionMode
from torch.utils._device import DeviceContext

from sanitizer_invariants.tools.identity import IdentitySet
from sanitizer_invariants.tools.samples import find_source, is_of_torch

# Dynamo takes what this function returns for a constant.
is_compiling = (
    getattr(getattr(torch, "compiler", None), "is_compiling", None) or torch._dynamo.is_compiling
)
# A function in C up to torch 2.4 at least, and in Python from 2.8 at the latest.
skip_code = (
    getattr(torch._C._dynamo.eval_frame, "skip_code", None) or torch._dynamo.eval_frame.skip_code
)
RANDPERM = torch.randperm
# From torch 2.8 at the latest a default device lies below all modes, and says so as it leaves; that
# of `with torch.device(...)` does not, and has no device from before.
IS_DEVICE_LOWEST = "_len_torch_function_stack" in DeviceContext.__exit__.__code__.co_names
set_eval_frame = torch._C._dynamo.eval_frame.set_eval_frame
VIEWS = ("view", "reshape")
PLAIN = (torch.Tensor, torch.nn.Parameter)
CHOICES = ("argmax", "argmin", "max", "min", "topk")
# Shorter permutations may be the same by chance; the first numbers of longer ones tell them apart.
LEAST, NUMBERS = 20, 64


class Depth(threading.local):
    """How deep a thread is in calls of one kind."""

    value = 0


class Listener:
    """Who listens now. The hooks are installed once in a process, for all that follow."""

    def __init__(self):
        self.sanitizer, self.program, self.hooked = None, None, set()

    def listen(self, sanitizer, program):
        """Tell this sanitizer from now on, in the place of an earlier one; None: nobody."""
        self.sanitizer, self.program = sanitizer, program

    def teller(self, moment):
        """A function that tells a moment."""

        def tell(*arguments):
            method = getattr(self.sanitizer, moment, None)
            if method is not None and not self.program.is_hidden:
                method(*arguments)

        return tell


LISTENER = Listener()


def uncompiled(tell):
    """A function that Dynamo does not follow, as it would where it has left off compiling."""

    def tell_aside(*arguments):
        callback = set_eval_frame(None)
        try:
            tell(*arguments)
        finally:
            set_eval_frame(callback)

    skip_code(tell_aside.__code__)
    return tell_aside


class Saving:
    """Whether the program keeps what backward passes need by hooks of its own."""

    is_hooked, is_watched = False, False


def may_read_saved():
    """Whether what a graph keeps can be read without any effect: where the program unpacks it, as
    checkpoints do, its forward pass would run again.
    """
    return not Saving.is_hooked


def watch_saving():
    bare = torch.autograd.graph.saved_tensors_hooks.__enter__

    @functools.wraps(bare)
    def enter(saving):
        if LISTENER.program is not None and not LISTENER.program.is_hidden:
            Saving.is_hooked = True
        return bare(saving)

    skip_code(enter.__code__)
    torch.autograd.graph.saved_tensors_hooks.__enter__ = enter


def install(sanitizer, program):
    """Hook what the invariants of a sanitizer have methods for."""
    LISTENER.listen(sanitizer, program)
    if not Saving.is_watched:
        Saving.is_watched = True
        watch_saving()
    for moment, hook in HOOKS.items():
        if hasattr(sanitizer, moment) and moment not in LISTENER.hooked:
            LISTENER.hooked.add(moment)
            hook(LISTENER.teller(moment))


def hook_views(tell):
    for name in VIEWS:
        setattr(torch.Tensor, name, watch_view(getattr(torch.Tensor, name), tell))


def watch_view(bare, tell):
    """A method that changes the shape of a tensor, with its results told."""

    @functools.wraps(bare)
    def view(tensor, *arguments, **options):
        result = bare(tensor, *arguments, **options)
        # Where tensors stand for others their sizes may not be known.
        is_plain = type(tensor) in PLAIN and not is_compiling()
        if is_plain and result.is_floating_point():
            tell(tensor, result)
        return result

    skip_code(view.__code__)
    return view


def hook_samples(tell):
    for distribution in list_distributions():
        if "sample" in vars(distribution):
            distribution.sample = watch_distribution(distribution.sample, tell)


def hook_log_probs(tell):
    for distribution in list_distributions():
        if "log_prob" in vars(distribution):
            distribution.log_prob = watch_distribution(distribution.log_prob, tell)


def list_distributions():
    """The classes of distributions that torch has."""
    values = vars(torch.distributions).values()
    classes = [value for value in values if isinstance(value, type)]
    return {value for value in classes if issubclass(value, Distribution)}


def watch_distribution(bare, tell):
    """A method of a distribution, with the results of its outermost calls told."""
    depth = Depth()

    @functools.wraps(bare)
    def call(distribution, *arguments, **options):
        if is_compiling() or depth.value:
            return bare(distribution, *arguments, **options)
        depth.value += 1
        try:
            result = bare(distribution, *arguments, **options)
        finally:
            depth.value -= 1
        tell(distribution, *arguments, *options.values(), result)
        return result

    skip_code(call.__code__)
    return call


def hook_reads(tell):
    torch.load = torch.serialization.load = watch_read(torch.load, tell)


def watch_read(bare, tell):
    """A function that reads a file, with its content told."""

    @functools.wraps(bare)
    def load(*arguments, **options):
        content = bare(*arguments, **options)
        tell(content)
        return content

    skip_code(load.__code__)
    return load


def hook_before_convert(tell):
    torch.nn.Module._apply = watch_convert(torch.nn.Module._apply, before=tell)


def hook_after_convert(tell):
    torch.nn.Module._apply = watch_convert(torch.nn.Module._apply, after=tell)


def watch_convert(bare, before=None, after=None):
    """The method that converts a module, with its outermost calls told."""
    depth = Depth()

    @functools.wraps(bare)
    def convert(module, *arguments, **options):
        is_outermost = depth.value == 0 and not is_compiling()
        if is_outermost and before is not None:
            before(module)
        depth.value += 1
        try:
            result = bare(module, *arguments, **options)
        finally:
            depth.value -= 1
        if is_outermost and after is not None:
            after(module)
        return result

    skip_code(convert.__code__)
    return convert


def hook_parameters(tell):
    def before(module, name, parameter):
        if isinstance(parameter, torch.nn.Parameter) and not is_compiling():
            tell(module, name, parameter)

    torch.nn.modules.module.register_module_parameter_registration_hook(before)


def hook_registrations(tell):
    # A hook that returns something puts it in the place of the module.
    def before(parent, name, module):
        if isinstance(module, torch.nn.Module):
            tell(parent, name, module)

    torch.nn.modules.module.register_module_module_registration_hook(before)


def hook_functions(tell):
    # In torch 2.14 it is written in C, and has no function of Python inside.
    bare = torch.autograd.Function.__dict__["apply"]

    @functools.wraps(torch.autograd.Function.apply)
    def apply(function, *arguments, **options):
        result = bare.__get__(None, function)(*arguments, **options)
        if is_compiling() or options or function.__module__.startswith("torch."):
            return result
        results = result if isinstance(result, tuple) else (result,)
        if any(getattr(value, "grad_fn", None) is not None for value in results):
            tell(function, arguments, result)
        return result

    skip_code(apply.__code__)
    torch.autograd.Function.apply = classmethod(apply)


def hook_recurrences(tell):
    for base in (torch.nn.RNNBase, torch.nn.RNNCellBase):
        base.__call__ = watch_recurrence(tell)


def watch_recurrence(tell):
    """The call of a module, with its result told."""
    tell = uncompiled(tell)

    def call(module, *arguments, **options):
        # Looked up now: whoever traces modules puts another function there.
        output = torch.nn.Module.__call__(module, *arguments, **options)
        if not is_compiling():
            tell(module, arguments, options, output)
        return output

    skip_code(call.__code__)
    return call


def hook_seeds(tell):
    hook_random("manual_seed", tell)


def hook_generators(tell):
    hook_random("set_rng_state", tell)


def hook_random(name, tell):
    """Tell the argument of a function of `torch.random`, which `torch` has as well."""
    bare = getattr(torch.random, name)

    @functools.wraps(bare)
    def call(*arguments, **options):
        result = bare(*arguments, **options)
        if not is_compiling():
            tell(*arguments, *options.values())
        return result

    skip_code(call.__code__)
    setattr(torch.random, name, call)
    setattr(torch, name, call)


def hook_metrics(tell):
    """Metrics that are modules are hooked when the first of their class is made,
    others when an optimizer is.
    """
    metrics = MetricClasses(tell)
    make_module, make_optimizer = torch.nn.Module.__init__, torch.optim.Optimizer.__init__

    @functools.wraps(make_module)
    def initialise_module(module, *arguments, **options):
        make_module(module, *arguments, **options)
        if not is_compiling():
            metrics.follow(type(module))

    @functools.wraps(make_optimizer)
    def initialise_optimizer(optimizer, *arguments, **options):
        metrics.follow_all()
        make_optimizer(optimizer, *arguments, **options)

    for function in (initialise_module, initialise_optimizer):
        skip_code(function.__code__)
    torch.nn.Module.__init__ = initialise_module
    torch.optim.Optimizer.__init__ = initialise_optimizer


class MetricClasses:
    """The classes whose objects are metrics: what they have in common is a protocol."""

    def __init__(self, tell):
        self.tell, self.depth = tell, Depth()
        self.visited, self.wrappers = IdentitySet(), IdentitySet()

    def follow_all(self):
        """Hook the classes that there are by now."""
        waiting, visited = [object], set()
        for kind in waiting:
            new = [lower for lower in type.__subclasses__(kind) if id(lower) not in visited]
            visited.update(map(id, new))
            waiting += new
            if find_definer(kind, "compute") is not None:
                self.follow(kind)

    def follow(self, kind):
        """Hook a class if it is one of metrics."""
        # A metaclass with an `==` of its own may have classes without a hash.
        is_odd = type(kind).__hash__ is None or type(kind).__eq__ is not type.__eq__
        if is_odd or kind in self.visited:
            return
        self.visited.add(kind)
        if is_metric_class(kind):
            for name in ("update", "reset"):
                definer = find_definer(kind, name)
                bare = vars(definer)[name]
                if bare not in self.wrappers:
                    wrapper = self.watch(bare, name)
                    self.wrappers.add(wrapper)
                    setattr(definer, name, wrapper)

    def watch(self, bare, name):
        """A method of metrics, with its outermost calls told."""
        depth, tell = self.depth, self.tell

        @functools.wraps(bare)
        def call(metric, *arguments, **options):
            if is_compiling() or depth.value:
                return bare(metric, *arguments, **options)
            tell(name, metric, arguments, options)
            depth.value += 1
            try:
                return bare(metric, *arguments, **options)
            finally:
                depth.value -= 1

        skip_code(call.__code__)
        return call


def is_metric_class(kind):
    """Whether a class has `update`, `compute` and `reset`, the last two without arguments."""
    methods = []
    for name in ("update", "compute", "reset"):
        definer = find_definer(kind, name)
        if definer is None or not isinstance(vars(definer)[name], types.FunctionType):
            return False
        methods.append(vars(definer)[name])
    if any((method.__module__ or "").partition(".")[0] == "torch" for method in methods):
        return False
    return all(takes_nothing(method) for method in methods[1:])


def find_definer(kind, name):
    """The class among the bases of one that defines a name."""
    return next((base for base in kind.__mro__ if name in vars(base)), None)


def takes_nothing(method):
    """Whether a method can be called without arguments."""
    try:
        inspect.signature(method).bind(None)
    except (TypeError, ValueError):
        return False
    return True


def hook_comparisons(tell):
    for name in ("__eq__", "__ne__", "eq", "ne"):
        setattr(torch.Tensor, name, watch_comparison(getattr(torch.Tensor, name), tell))


def watch_comparison(bare, tell):
    """A method that compares tensors, with the results told that are larger than both."""

    @functools.wraps(bare)
    def compare(*arguments, **options):
        result = bare(*arguments, **options)
        is_plain = len(arguments) == 2 and all(type(value) in PLAIN for value in arguments)
        if is_plain and not is_compiling():
            first, second = arguments
            if first.numel() < result.numel() > second.numel():
                tell(first, second, result)
        return result

    skip_code(compare.__code__)
    return compare


def hook_choices(tell):
    for name in CHOICES:
        setattr(torch.Tensor, name, watch_choice(name, getattr(torch.Tensor, name), tell))
        function = watch_choice(name, getattr(torch, name), tell)
        function.__module__, function.__qualname__ = "torch", name
        setattr(torch, name, function)
        # TorchScript would read its source.
        torch.jit._builtins._register_builtin(function, f"aten::{name}")


def watch_choice(name, bare, tell):
    """A function that chooses among numbers, with what it chose from told."""
    place = 2 if name == "topk" else 1
    default = -1 if name == "topk" else None

    @functools.wraps(bare)
    def choose(*arguments, **options):
        result = bare(*arguments, **options)
        is_plain = not is_compiling() and arguments and type(arguments[0]) in PLAIN
        # `max` of a whole tensor, or of two, is a number, and no choice.
        is_number = name in ("max", "min") and isinstance(result, torch.Tensor)
        if is_plain and not is_number and arguments[0].is_floating_point():
            dim = options.get("dim", options.get("axis", default))
            dim = arguments[place] if len(arguments) > place else dim
            tell(name, arguments[0], dim, sys._getframe(1))
        return result

    skip_code(choose.__code__)
    return choose


def hook_softmax(tell):
    torch.Tensor.softmax = watch_softmax(torch.Tensor.softmax, tell)
    torch.softmax = watch_softmax(torch.softmax, tell)
    torch.softmax.__module__, torch.softmax.__qualname__ = "torch", "softmax"
    torch.jit._builtins._register_builtin(torch.softmax, "aten::softmax")


def watch_softmax(bare, tell):
    """A softmax, with its results told where torch itself has not asked for it."""

    @functools.wraps(bare)
    def softmax(*arguments, **options):
        result = bare(*arguments, **options)
        if is_compiling() or not isinstance(result, torch.Tensor) or type(result) not in PLAIN:
            return result
        frame = sys._getframe(1)
        if frame.f_code.co_name == "softmax" and is_inside(frame):
            # `functional.softmax` calls the method; TorchScript reads its source, so it stays.
            frame = frame.f_back
        tensor = arguments[0] if arguments else options.get("input")
        dim = options.get("dim", arguments[1] if len(arguments) > 1 else None)
        if type(tensor) in PLAIN and isinstance(dim, int) and not is_inside(frame):
            tell(tensor, result, dim % max(result.dim(), 1), frame)
        return result

    skip_code(softmax.__code__)
    return softmax


def is_inside(frame):
    """Whether a function of torch has called, other than the module of the function."""
    name = frame.f_globals.get("__name__", "")
    return name.startswith("torch.") and name != "torch.nn.modules.activation"


def hook_activations(tell):
    # Layers of torch ask whether an activation is `functional.relu` itself, and TorchScript reads
    # the source of functions: what it calls is watched.
    torch.relu_ = watch_relu(torch.relu_, tell)
    torch.relu_.__module__, torch.relu_.__qualname__ = "torch", "relu_"
    torch.jit._builtins._register_builtin(torch.relu_, "aten::relu_")


def watch_relu(bare, tell):
    """What `relu` calls to write over its input, told before."""

    @functools.wraps(bare)
    def relu_(tensor):
        if not is_compiling() and type(tensor) in PLAIN:
            tell("relu", tensor, sys._getframe(1))
        return bare(tensor)

    skip_code(relu_.__code__)
    return relu_


def hook_nexts(tell):
    # The iterators of other packages inherit from this one.
    base = torch.utils.data.dataloader._BaseDataLoaderIter
    bare = base.__next__

    @functools.wraps(bare)
    def step(iterator):
        try:
            batch = bare(iterator)
        except StopIteration:
            tell(iterator, True, is_in_loop(sys._getframe(1)))
            raise
        tell(iterator, False, False)
        return batch

    base.__next__ = step


def is_in_loop(frame):
    """Whether a frame is at the head of a loop; the launcher's hook may lie between."""
    if frame.f_code.co_name == "step" and "_watched_loader" in frame.f_code.co_consts:
        frame = frame.f_back
    name = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    return name.startswith("FOR_ITER")


def hook_indices(tell):
    base = torch.utils.data.dataloader._BaseDataLoaderIter
    bare = base._next_index

    @functools.wraps(bare)
    def take(iterator):
        source = find_source(iterator)
        if source is None or is_of_torch(source):
            return bare(iterator)
        recorder = OrderRecorder()
        with lowest(recorder):
            indices = bare(iterator)
        tell(source, iterator, indices, recorder.order())
        return indices

    base._next_index = take


class OrderRecorder(TorchFunctionMode):
    """Keeps a hash of the permutations that are drawn."""

    def __init__(self):
        super().__init__()
        self.digest, self.is_drawn = hashlib.sha256(), False

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if function is RANDPERM and not is_compiling():
            self.note(result)
        return result

    def note(self, result):
        """Note a permutation whose numbers can be read without a function of torch."""
        is_readable = (
            type(result) is torch.Tensor
            and result.device.type == "cpu"
            and result.layout == torch.strided
            and result.is_contiguous()
        )
        if is_readable and len(result) >= LEAST:
            size = min(len(result), NUMBERS) * result.element_size()
            first = ctypes.string_at(result.data_ptr(), size)
            self.digest.update(describe_order(len(result), first))
            self.is_drawn = True

    def order(self):
        return self.digest.digest() if self.is_drawn else None


def describe_order(length, first):
    """What a hash is made of: the length of a permutation, and the bytes of its first numbers."""
    return f"{length} ".encode() + first


@contextlib.contextmanager
def lowest(mode):
    """A mode lies below all others of this thread inside, and is gone afterwards.

    A sampler that gives its indices inside of a mode enters it in one call and leaves it in a later
    one: what it takes off the stack has to be its own.
    """
    others = take_modes()
    is_below = IS_DEVICE_LOWEST and others and hasattr(others[-1], "old_device")
    put_modes([*others[:-1], mode, others[-1]] if is_below else [*others, mode])
    try:
        yield
    finally:
        put_modes([other for other in take_modes() if other is not mode])


def take_modes():
    """The modes of this thread, the highest first, which are taken off their stack."""
    count = torch._C._len_torch_function_stack()
    return [torch._C._pop_torch_function_stack() for _ in range(count)]


def put_modes(modes):
    for mode in reversed(modes):
        torch._C._push_on_torch_function_stack(mode)


HOOKS = {
    "after_next": hook_nexts,
    "after_indices": hook_indices,
    "after_softmax": hook_softmax,
    "before_activation": hook_activations,
    "after_choice": hook_choices,
    "after_comparison": hook_comparisons,
    "before_metric": hook_metrics,
    "after_seed": hook_seeds,
    "after_generator": hook_generators,
    "after_view": hook_views,
    "after_sample": hook_samples,
    "after_log_prob": hook_log_probs,
    "after_read": hook_reads,
    "before_convert": hook_before_convert,
    "after_convert": hook_after_convert,
    "before_parameter": hook_parameters,
    "before_registration": hook_registrations,
    "after_function": hook_functions,
    "after_recurrence": hook_recurrences,
}
