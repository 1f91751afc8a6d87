"""How is an optimizer watched while the program trains? For the launcher, whose docstring says what is called when."""

import functools
import time
import types
import weakref

import torch
import torch._dynamo

MOMENTS = (
    "before_zero_grad", "after_zero_grad",
    "before_backward", "after_backward",
    "before_step", "after_step", "end",
)  # fmt: skip


class Watch:
    """One optimizer and its monitor. It lives as long as the optimizer does."""

    def __init__(self, optimizer, attach, recorder):
        self.optimizer, self.attach, self.recorder = weakref.ref(optimizer), attach, recorder
        self.iteration, self.methods = 1, None

    def call(self, moment, *what):
        self.begin()
        if self.methods and moment in self.methods:
            self.guarded(self.methods[moment], self.iteration, *what)
        if moment == "after_step":
            self.iteration += 1

    def begin(self):
        if self.methods is None:
            self.guarded(self._attach)

    def guarded(self, call, *arguments):
        # Compiled code may keep a watch whose optimizer is gone.
        if self.recorder.error is None and self.optimizer() is not None:
            try:
                call(*arguments)
            except Exception as error:
                self.recorder.error = f"{type(error).__name__}: {error}"

    def _attach(self):
        optimizer = self.optimizer()
        monitor = self.attach(owner(optimizer), optimizer, self.emit)
        self.methods = {name: getattr(monitor, name) for name in MOMENTS if hasattr(monitor, name)}

    def emit(self, code, message, severity="warning", api=None, parameter=None, iteration=None):
        self.recorder.alarm(iteration or self.iteration, str(code), str(message), severity, api, parameter)

    def end(self):
        if self.methods is not None:
            self.iteration -= 1
            self.call("end")

    def holds(self, module):
        optimizer = self.optimizer()
        ids = {id(p) for group in optimizer.param_groups for p in group["params"]} if optimizer is not None else set()
        return any(id(parameter) in ids for parameter in module.parameters())


class FirstForward:
    """Attaches the monitors before a forward pass. Until then `nn.Module` is called through it; Dynamo never is.

    A forward hook would not do: the hooks and the `forward` of the module that is called have been looked up by then.
    """

    def __init__(self):
        self.bare, self.compiles = torch.nn.Module.__call__, False

    def wait(self):
        if not self.compiles:
            torch.nn.Module.__call__ = self.wrapper()

    def wrapper(self):
        @functools.wraps(self.bare)
        def call(module, *arguments, **options):
            self.come()
            return self.bare(module, *arguments, **options)

        return call

    def come(self):
        torch.nn.Module.__call__ = self.bare
        for each in list(WATCHES):
            each.begin()


WATCHES = weakref.WeakSet()
FORWARD = FirstForward()
MODULES = weakref.WeakSet()
STEPS = weakref.WeakSet()


def owner(optimizer):
    """The outermost module that holds all of the optimizer's parameters, if there is one."""
    wanted = {id(p) for group in optimizer.param_groups for p in group["params"]}
    found = [module for module in list(MODULES) if wanted <= {id(p) for p in module.parameters()}]
    return max(found, key=lambda module: sum(1 for _ in module.modules()), default=None)


def around(call, before, after):
    """`call` with two more calls around it, which Dynamo neither compiles nor looks into."""
    before, after = torch._dynamo.disable(before), torch._dynamo.disable(after)

    @functools.wraps(call)
    def watched(*arguments, **options):
        before()
        result = call(*arguments, **options)
        after()
        return result

    return watched


def watch(optimizer, attach, recorder):
    """Wrap one optimizer's methods; they stay methods, because schedulers look at what they are bound to."""
    found = Watch(optimizer, attach, recorder)
    WATCHES.add(found)
    for name in ("zero_grad", "step"):
        bare = getattr(type(optimizer), name)
        before = functools.partial(found.call, f"before_{name}")
        after = functools.partial(found.call, f"after_{name}")
        function = around(bare, before, after)
        function.bare, function.before, function.after = bare, before, after
        setattr(optimizer, name, types.MethodType(function, optimizer))
    STEPS.add(optimizer.step.__func__)
    FORWARD.wait()


def watch_optimizers(attach, recorder):
    bare = torch.optim.Optimizer.__init__

    @functools.wraps(bare)
    def init(self, *arguments, **options):
        bare(self, *arguments, **options)
        recorder.optimizers += 1
        recorder.started = recorder.started or time.perf_counter()
        if attach is not None:
            watch(self, attach, recorder)

    torch.optim.Optimizer.__init__ = init


def watch_modules():
    def register(module, name, part):
        MODULES.add(module)

    torch.nn.modules.module.register_module_parameter_registration_hook(register)
    torch.nn.modules.module.register_module_module_registration_hook(register)
    bare = torch.nn.Module.zero_grad

    @functools.wraps(bare)
    def zero_grad(self, *arguments, **options):
        concerned = [each for each in list(WATCHES) if each.holds(self)]
        for each in concerned:
            each.call("before_zero_grad")
        bare(self, *arguments, **options)
        for each in concerned:
            each.call("after_zero_grad")

    torch.nn.Module.zero_grad = torch._dynamo.disable(zero_grad)


def watch_backward():
    bare = torch.autograd.backward

    @functools.wraps(bare)
    def backward(tensors, *arguments, **options):
        for each in list(WATCHES):
            each.call("before_backward", tensors)
        bare(tensors, *arguments, **options)
        for each in list(WATCHES):
            each.call("after_backward", tensors)

    torch.autograd.backward = torch._dynamo.disable(backward)


class Compiler:
    """What `torch._dynamo.optimize` returns, except that a watched step is compiled bare and watched from outside."""

    def __init__(self, context):
        self.context = context

    def __call__(self, function):
        FORWARD.compiles = True
        FORWARD.come()
        step = getattr(function, "__func__", None)
        if not isinstance(step, types.FunctionType) or step not in STEPS:
            return self.context(function)
        return around(self.context(types.MethodType(step.bare, function.__self__)), step.before, step.after)

    def __enter__(self):
        return self.context.__enter__()

    def __exit__(self, *error):
        return self.context.__exit__(*error)

    def __getattr__(self, name):
        return getattr(self.context, name)


def watch_compiler():
    bare = torch._dynamo.optimize

    @functools.wraps(bare)
    def optimize(*arguments, **options):
        return Compiler(bare(*arguments, **options))

    torch._dynamo.optimize = optimize


def begin(attach, recorder):
    """Watch what the program is going to do; without `attach` only the time of its first optimizer is noted."""
    watch_optimizers(attach, recorder)
    if attach is not None:
        watch_modules()
        watch_backward()
        watch_compiler()


def end():
    for each in list(WATCHES):
        each.end()
