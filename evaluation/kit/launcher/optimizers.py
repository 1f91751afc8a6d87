"""Optimizers, watched while the program trains: each has a monitor of its own, if the monitor has `attach`."""

import functools
import inspect
import types
import weakref

import torch
import torch._dynamo

from .moments import OPTIMIZER_MOMENTS, names_in

MOMENTS = names_in(OPTIMIZER_MOMENTS)


class Watch:
    """One optimizer and its monitor. It lives as long as the optimizer does."""

    def __init__(self, optimizer, session):
        self.optimizer = weakref.ref(optimizer)
        self.session = session
        self.iteration, self.methods = 1, None

    @property
    def recorder(self):
        return self.session.recorder

    def call(self, moment, *arguments):
        """Tell a moment of this optimizer to its own monitor, and to the program's if that is about optimizers."""
        self.begin()
        optimizer = self.optimizer()
        if optimizer is None or self.session.program.is_hidden:
            return
        if self.methods and moment in self.methods:
            self.call_guarded(self.methods[moment], self.iteration, *arguments)
        if not arguments and moment != "end":
            self.session.teller.tell(moment, optimizer)
        if moment == "after_step":
            if optimizer in self.session.adopted:
                # One that never steps is of something else that the process did.
                self.session.adopted.discard(optimizer)
                self.recorder.begin_loop()
            self.iteration += 1
            self.session.program.count_step(optimizer)

    def begin(self):
        """Attach the monitor, unless it is attached already."""
        if self.methods is None:
            self.call_guarded(self._attach)

    def call_guarded(self, call, *arguments):
        """Call a part of the monitor; if it fails, that is reported."""
        # Compiled code may keep a watch whose optimizer is gone.
        if self.recorder.error is not None or self.optimizer() is None:
            return
        try:
            call(*arguments)
        except Exception as error:
            self.recorder.fail(error)

    def _attach(self):
        attach, optimizer = self.session.attach, self.optimizer()
        if attach is None:
            self.methods = {}
            return
        options = {}
        if "program" in inspect.signature(attach).parameters:
            options["program"] = self.session.program
        monitor = attach(find_owner(optimizer), optimizer, self.emit, **options)
        self.methods = {name: getattr(monitor, name) for name in MOMENTS if hasattr(monitor, name)}

    def emit(self, code, message, severity="warning", api=None, parameter=None, iteration=None):
        """Raise an alarm; `iteration` is the optimizer's own, the alarm's is that of the program."""
        optimizer, program = self.optimizer(), self.session.program
        earlier = 0
        if optimizer is not None:
            earlier = program.iteration_of(optimizer) - self.iteration
        number = earlier + (iteration or self.iteration)
        self.recorder.alarm(
            number, str(code), str(message), severity, api, parameter, self.session.iteration
        )

    def end(self):
        """Tell the monitor that the training has ended."""
        if self.methods is not None:
            self.iteration -= 1
            self.call("end")

    def holds(self, module):
        """Whether the optimizer has a parameter of this module."""
        optimizer = self.optimizer()
        ids = set() if optimizer is None else ids_of_parameters(optimizer)
        return any(id(parameter) in ids for parameter in module.parameters())


class FirstForward:
    """Attaches the monitors before a forward pass. Until then `nn.Module` is called through it; Dynamo never is.

    A forward hook would not do: the hooks and the `forward` of the module that is called have been looked up by then.
    """

    def __init__(self):
        self.bare, self.is_compiling = torch.nn.Module.__call__, False

    def wait(self):
        if not self.is_compiling:
            torch.nn.Module.__call__ = self.wrapper()

    def wrapper(self):
        @functools.wraps(self.bare)
        def call(module, *arguments, **options):
            self.begin_all()
            return self.bare(module, *arguments, **options)

        return call

    def begin_all(self):
        torch.nn.Module.__call__ = self.bare
        for watch in list(WATCHES):
            watch.begin()


WATCHES = weakref.WeakSet()
FORWARD = FirstForward()
MODULES = weakref.WeakSet()
STEPS = weakref.WeakSet()


def ids_of_parameters(optimizer):
    return {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}


def find_owner(optimizer):
    """The outermost module that holds all of the optimizer's parameters, if there is one."""
    ids = ids_of_parameters(optimizer)
    owners = []
    for module in list(MODULES):
        if ids <= {id(parameter) for parameter in module.parameters()}:
            owners.append(module)
    return max(owners, key=lambda module: sum(1 for _ in module.modules()), default=None)


def surround(call, before, after):
    """`call` with two more calls around it, which Dynamo neither compiles nor looks into."""
    before, after = torch._dynamo.disable(before), torch._dynamo.disable(after)

    @functools.wraps(call)
    def surrounded(*arguments, **options):
        before()
        result = call(*arguments, **options)
        after()
        return result

    return surrounded


def watch_optimizer(optimizer, session):
    """Wrap an optimizer's methods; they stay methods, because schedulers look at what they are bound to."""
    watch = Watch(optimizer, session)
    WATCHES.add(watch)
    for name in ("zero_grad", "step"):
        bare = getattr(type(optimizer), name)
        before = functools.partial(watch.call, f"before_{name}")
        after = functools.partial(watch.call, f"after_{name}")
        function = surround(bare, before, after)
        function.bare, function.before, function.after = bare, before, after
        setattr(optimizer, name, types.MethodType(function, optimizer))
    STEPS.add(optimizer.step.__func__)
    FORWARD.wait()


def hook_optimizers(session):
    """Watch the optimizers that are made from now on."""
    bare = torch.optim.Optimizer.__init__

    @functools.wraps(bare)
    def init(self, *arguments, **options):
        bare(self, *arguments, **options)
        session.recorder.begin_loop()
        if session.has_monitor and not session.program.quiet:
            session.program.add_optimizer(self)
            watch_optimizer(self, session)

    torch.optim.Optimizer.__init__ = init


def adopt(session, optimizers, modules):
    """Watch optimizers and modules that were there before the session was."""
    for module in modules:
        MODULES.add(module)
        session.program.add_module(module)
    session.adopted.update(optimizers)
    for optimizer in optimizers:
        session.program.add_optimizer(optimizer)
        if getattr(optimizer.step, "__func__", None) not in STEPS:
            watch_optimizer(optimizer, session)


def hook_modules(session):
    """Watch the modules that get parameters or parts from now on, and their `zero_grad`."""

    def register(module, name, part):
        MODULES.add(module)
        session.program.add_module(module)

    torch.nn.modules.module.register_module_parameter_registration_hook(register)
    torch.nn.modules.module.register_module_module_registration_hook(register)
    bare = torch.nn.Module.zero_grad

    @functools.wraps(bare)
    def zero_grad(self, *arguments, **options):
        watches = [watch for watch in list(WATCHES) if watch.holds(self)]
        for watch in watches:
            watch.call("before_zero_grad")
        bare(self, *arguments, **options)
        for watch in watches:
            watch.call("after_zero_grad")

    torch.nn.Module.zero_grad = torch._dynamo.disable(zero_grad)


def hook_backward(session):
    """Watch `backward`."""
    bare = torch.autograd.backward

    @functools.wraps(bare)
    def backward(tensors, *arguments, **options):
        tell_backward("before_backward", tensors, session)
        bare(tensors, *arguments, **options)
        tell_backward("after_backward", tensors, session)

    torch.autograd.backward = torch._dynamo.disable(backward)


def tell_backward(moment, tensors, session):
    """Tell a moment of `backward` to the monitors of all optimizers, and to the program's."""
    for watch in list(WATCHES):
        watch.call(moment, tensors)
    session.teller.tell(moment, tensors)
