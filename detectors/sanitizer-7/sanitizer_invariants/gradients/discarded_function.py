"""What a function of the program's own gives is a part of a loss."""

from sanitizer_invariants.tools.invariant import Invariant

STEPS = 8


class DiscardedFunction(Invariant):
    """The backward pass of a `torch.autograd.Function` runs where its forward pass runs before each
    step.

    Why: who writes `backward` by hand wants gradients to go through it. A function that scales or
    adds a loss in its backward pass (an auxiliary loss of experts, a reversal of gradients) gives
    its input back, and where its result is thrown away nothing fails: the loss is not learnt from.

    Said when the program ends, after eight steps of an optimizer or more with a call between each
    two of them, if `backward` of no call has run: a loss may be added later.

    Advice: a library may stitch gradients to numbers that no loss asks for, as the times of a
    solver.

    Excepted: calls without gradients, and functions that are called now and then only.

    Cost: a hook on a node of the graph for each call until `backward` has run.
    """

    NAME, SEVERITY = "discarded-function", "info"
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        self.waiting, self.decided = {}, set()

    def after_function(self, function, arguments, result):
        if function in self.decided:
            return
        calls = self.waiting.setdefault(function, Calls(self.program.here()))
        calls.has_called = True
        for value in result if isinstance(result, tuple) else (result,):
            node = getattr(value, "grad_fn", None)
            if node is not None:
                node.register_hook(self._decide_by(function))

    def _decide_by(self, function):
        def ran(*gradients):
            self.decided.add(function)
            self.waiting.pop(function, None)

        return ran

    def after_step(self, optimizer):
        for function, calls in list(self.waiting.items()):
            if calls.steps < STEPS and not calls.has_called:
                # Not before each step.
                self.decided.add(function)
                del self.waiting[function]
                continue
            calls.steps, calls.has_called = calls.steps + 1, False

    def end(self):
        for function, calls in self.waiting.items():
            if calls.steps >= STEPS:
                self._report(function, calls)

    def _report(self, function, calls):
        self.report(
            f"{function.__name__} is applied before each of {STEPS} steps, and its backward never "
            "runs: what it returns is a part of no loss",
            api=f"{function.__name__}.apply",
            where=calls.where,
        )


class Calls:
    """The calls of a function: where the first one is, and in how many steps there were some."""

    def __init__(self, where):
        self.where, self.steps, self.has_called = where, 0, False
