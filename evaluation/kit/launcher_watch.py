"""How is an optimizer watched while the program trains? For the launcher, whose docstring says what is called when."""

import functools
import inspect
import types
import weakref

import launcher_hooks
import launcher_program
import torch
import torch._dynamo

MOMENTS = (
    "before_zero_grad", "after_zero_grad",
    "before_backward", "after_backward",
    "before_step", "after_step", "end",
)  # fmt: skip


class Watch:
    """One optimizer and its monitor. It lives as long as the optimizer does."""

    def __init__(self, optimizer, session):
        self.optimizer, self.session, self.recorder = (
            weakref.ref(optimizer),
            session,
            session.recorder,
        )
        self.iteration, self.methods = 1, None

    def call(self, moment, *what):
        """A moment of this optimizer, for its own monitor; those of its methods are the program's monitor's too."""
        self.begin()
        optimizer = self.optimizer()
        if optimizer is None or self.session.program.untold:
            return
        if self.methods and moment in self.methods:
            self.guarded(self.methods[moment], self.iteration, *what)
        if not what and moment != "end":
            self.session.teller.tell(moment, optimizer)
        if moment == "after_step":
            self.iteration += 1
            self.session.program.stepped(optimizer)

    def begin(self):
        if self.methods is None:
            self.guarded(self._attach)

    def guarded(self, call, *arguments):
        # Compiled code may keep a watch whose optimizer is gone.
        if self.recorder.error is None and self.optimizer() is not None:
            try:
                call(*arguments)
            except Exception as error:
                self.recorder.failed(error)

    def _attach(self):
        attach, optimizer = self.session.attach, self.optimizer()
        if attach is None:
            self.methods = {}
            return
        more = (
            {"program": self.session.program}
            if "program" in inspect.signature(attach).parameters
            else {}
        )
        monitor = attach(owner(optimizer), optimizer, self.emit, **more)
        self.methods = {name: getattr(monitor, name) for name in MOMENTS if hasattr(monitor, name)}

    def emit(self, code, message, severity="warning", api=None, parameter=None, iteration=None):
        """Raise an alarm; `iteration` is the optimizer's own, the alarm's is that of the program."""
        optimizer = self.optimizer()
        before = (
            0
            if optimizer is None
            else self.session.program.iteration_of(optimizer) - self.iteration
        )
        number = before + (iteration or self.iteration)
        seen = self.session.iteration
        self.recorder.alarm(number, str(code), str(message), severity, api, parameter, seen)

    def end(self):
        if self.methods is not None:
            self.iteration -= 1
            self.call("end")

    def holds(self, module):
        optimizer = self.optimizer()
        ids = (
            {id(p) for group in optimizer.param_groups for p in group["params"]}
            if optimizer is not None
            else set()
        )
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


def watch(optimizer, session):
    """Wrap one optimizer's methods; they stay methods, because schedulers look at what they are bound to."""
    found = Watch(optimizer, session)
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


def watch_optimizers(session):
    bare = torch.optim.Optimizer.__init__

    @functools.wraps(bare)
    def init(self, *arguments, **options):
        bare(self, *arguments, **options)
        session.recorder.begin_loop()
        if session.watches and not session.program.quiet:
            session.program.add_optimizer(self)
            watch(self, session)

    torch.optim.Optimizer.__init__ = init


def watch_modules(session):
    def register(module, name, part):
        MODULES.add(module)
        session.program.add_module(module)

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


def watch_backward(session):
    bare = torch.autograd.backward

    @functools.wraps(bare)
    def backward(tensors, *arguments, **options):
        for each in list(WATCHES):
            each.call("before_backward", tensors)
        session.teller.tell("before_backward", tensors)
        bare(tensors, *arguments, **options)
        for each in list(WATCHES):
            each.call("after_backward", tensors)
        session.teller.tell("after_backward", tensors)

    torch.autograd.backward = torch._dynamo.disable(backward)


class Compiler:
    """What `torch._dynamo.optimize` returns, except that a watched step is compiled bare and watched from outside."""

    def __init__(self, context, tell):
        self.context, self.tell = context, tell

    def __call__(self, function):
        FORWARD.compiles = True
        FORWARD.come()
        step = getattr(function, "__func__", None)
        if not isinstance(step, types.FunctionType) or step not in STEPS:
            # Calls of modules are seen as such.
            told = self.tell is not None and isinstance(
                function, (types.FunctionType, types.MethodType)
            )
            called = self.context(function)
            return launcher_hooks.told_compiled(function, called, self.tell) if told else called
        return around(
            self.context(types.MethodType(step.bare, function.__self__)), step.before, step.after
        )

    def __enter__(self):
        return self.context.__enter__()

    def __exit__(self, *error):
        return self.context.__exit__(*error)

    def __getattr__(self, name):
        return getattr(self.context, name)


def watch_compiler(session):
    bare, tells = torch._dynamo.optimize, session.teller.wants("before_compiled", "after_compiled")

    @functools.wraps(bare)
    def optimize(*arguments, **options):
        return Compiler(bare(*arguments, **options), session.teller.tell if tells else None)

    torch._dynamo.optimize = optimize


class Session:
    """What is watched, and for whom: `attach` and `watch` of a monitor's file, both optional."""

    def __init__(self, monitor, recorder):
        self.recorder, self.program, self.others = recorder, launcher_program.Program(recorder), 0
        self.attach = getattr(monitor, "attach", None)
        self.teller = launcher_program.Teller(self._begun(monitor), self.program, recorder)
        self.watches = monitor is not None

    def _begun(self, monitor):
        try:
            return monitor.watch(self.program, self.emit) if hasattr(monitor, "watch") else None
        except Exception as error:
            self.recorder.failed(error)
            return None

    def emit(
        self,
        code,
        message,
        severity="warning",
        api=None,
        parameter=None,
        iteration=None,
        where=None,
    ):
        """Raise an alarm; `iteration` is the program's, `where` a file and a line of `Program.here`."""
        number, seen = iteration or self.program.iteration, self.iteration
        self.recorder.alarm(number, str(code), str(message), severity, api, parameter, seen, where)

    def end(self):
        for each in list(WATCHES):
            each.end()
        self.teller.tell("end")

    @property
    def iteration(self):
        """The iteration of the program now; once other processes have ended, at least the one after their last."""
        return max(self.program.iteration, self.others + 1)

    def join(self, notes, iterations):
        """Tell the monitor what it has noted in each process, this one first; others have done so many iterations."""
        self.others = iterations
        self.teller.tell("join", notes)


def begin(monitor, recorder):
    """Watch what the program is going to do; without a monitor only the time of its first optimizer is noted."""
    session = Session(monitor, recorder)
    if session.watches:
        launcher_hooks.install(launcher_hooks.uncompiled(session.teller.tell), session.teller.wants)
        FORWARD.bare = torch.nn.Module.__call__
    watch_optimizers(session)
    if session.watches:
        watch_modules(session)
        watch_backward(session)
        watch_compiler(session)
    return session
