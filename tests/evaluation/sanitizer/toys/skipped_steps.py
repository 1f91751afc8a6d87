"""Of `skipped-steps`: what it accuses, and what it does not."""

NAME = "skipped-steps"
PROGRAM = """
from collections import defaultdict

from torch.cuda.amp import GradScaler
from torch.cuda.amp.grad_scaler import OptState


class Scaler(GradScaler):
    # On a CPU the scaler of this torch is switched off.
    def __init__(self):
        super().__init__(enabled=False)
        self._enabled, self.count = True, 0
        self.update()

    def update(self):
        self._per_optimizer_states = defaultdict(
            lambda: dict(stage=OptState.READY, found_inf_per_device=dict())
        )

    def _check_scale_growth_tracker(self, name):
        return None, None

    def unscale_(self, optimizer):
        self.count += 1
        state = self._per_optimizer_states[id(optimizer)]
        state["found_inf_per_device"]["cpu"] = torch.tensor(float(not {made}))


model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler, other = Scaler(), torch.optim.SGD([model.bias], lr=0.1)
for iteration in range(60):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(torch.randn(16, 4)), torch.randint(2, (16,)))
    loss.backward()
    {step}
"""


def program(made, step="scaler.step(optimizer); scaler.update()"):
    return PROGRAM.format(made=made, step=step)


# It does not inherit from torch's.
OWN = """


class Own:
    def __init__(self, parameters, lr):
        self.param_groups, self.lr = [dict(params=list(parameters))], lr

    def zero_grad(self):
        for parameter in self.param_groups[0]["params"]:
            parameter.grad = None

    def step(self):
        with torch.no_grad():
            for parameter in self.param_groups[0]["params"]:
                parameter -= self.lr * parameter.grad


model ="""
WRONG = {
    "all": program("False"),
    "all but the first": program("self.count == 1"),
    "all of an optimizer of its own": program("False")
    .replace("torch.optim.SGD(m", "Own(m")
    .replace("\n\nmodel =", OWN, 1),
}
RIGHT = {
    "none": program("True"),
    "the first twenty": program("self.count > 20"),
    "each second one": program("self.count % 2"),
    "another optimizer inside": program(
        "False", "scaler.step(optimizer); scaler.update(); other.step()"
    ),
    "no scaler": program("False", "optimizer.step()"),
    "an optimizer of its own": program("True")
    .replace("torch.optim.SGD(m", "Own(m")
    .replace("\n\nmodel =", OWN, 1),
    "a scale that comes down slowly": program("self.count > 50")
    .replace("self._enabled, self.count", "self._enabled, self._backoff_factor, self.count")
    .replace("= True, 0", "= True, 0.9, 0"),
}
