"""Does every gradient go through None or zero between two steps that use it?

The right pattern of a training loop is periodic: nothing, gradients, a step, nothing again. Whoever clears them, and
however, at some moment between two steps each gradient is None or zero; this monitor looks when `zero_grad` is done,
when `backward` begins and when `step` begins. A gradient that never was, and that has changed in place since the last
step, is the sum of this and an earlier iteration. One that has not changed is only used again, and one that is another
tensor was assigned by the program: neither is accumulation. (`backward(create_graph=True)` adds out of place, unseen.)
"""


def is_clear(gradient):
    if gradient is None:
        return True
    return not bool((gradient.coalesce().values() if gradient.is_sparse else gradient).any())


class Cycle:
    def __init__(self, model, optimizer, emit):
        self.optimizer, self.emit = optimizer, emit
        self.stepping = False
        self.used = {}  # parameters whose gradient was used and not seen clear since -> the gradient, its version then
        self.names = {id(p): name for name, p in model.named_parameters()} if model is not None else {}

    def look(self):
        if self.used and not self.stepping:
            self.used = {p: state for p, state in self.used.items() if not is_clear(p.grad)}

    def after_zero_grad(self, iteration):
        self.look()

    def before_backward(self, iteration, loss):
        self.look()

    def before_step(self, iteration):
        self.look()
        grown = [p for p, (gradient, version) in self.used.items() if p.grad is gradient and p.grad._version != version]
        if grown:
            self.emit(
                "not-periodic",
                f"gradients of {len(grown)} parameters were never None or zero since the last step, and have changed",
                severity="error",
                api="torch.optim.Optimizer.zero_grad",
                parameter=self.names.get(id(grown[0])),
            )
        self.stepping = True

    def after_step(self, iteration):
        self.stepping = False
        parameters = [parameter for group in self.optimizer.param_groups for parameter in group["params"]]
        self.used = {p: (p.grad, p.grad._version) for p in parameters if p.grad is not None}


def attach(model, optimizer, emit):
    return Cycle(model, optimizer, emit)
