"""Toys of `mode`: what it accuses, in which iteration, and what it does not."""

NAME = "mode"

# In torch 2.4 a compiled module hands what is set on it to the module inside, and keeps its own
# `training`.
STALE = """
from torch._dynamo.eval_frame import OptimizedModule

def hand_on(self, name, value):
    target = self._orig_mod if name == "training" and "_orig_mod" in self._modules else None
    setattr(target, name, value) if target is not None else nn.Module.__setattr__(self, name, value)

compiled = torch.compile(nn.Linear(2, 2), backend="eager")
OptimizedModule.__setattr__ = hand_on
"""
PROGRAM = """
class Frozen(nn.Linear):
    def train(self, mode=True):
        return super().train(False)

{before}
model = torch.compile({module}(2, 2), backend="eager")
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
points, labels = torch.randn(64, 2), torch.randint(2, (64,))
for iteration in range(6):
    if iteration == 2:
        {switch}
    {use}
    optimizer.zero_grad()
    F.cross_entropy(model(points), labels).backward()
    optimizer.step()
"""
READ = "learns = model.training"


def program(switch, use=READ, module="nn.Linear", before=STALE):
    return PROGRAM.format(switch=switch, use=use, module=module, before=before)


WRONG = {
    "eval": program("model.eval()"),
    "train": program("model.eval(); model.__dict__['training'] = False; model.train()"),
}
RIGHT = {
    "sound": program("model.eval()", before=""),
    "there and back": program("model.eval(); model.train()", before=""),
    "not asked": program("model.eval()", "pass"),
    "asks the module inside": program("model.eval()", "learns = model._orig_mod.training"),
    "set again": program("model.eval(); model.train()"),
    "stays frozen": program("model.train()", "learns = model.training", "Frozen", ""),
    "module inside": program("model._orig_mod.eval()", before=""),
}

ITERATIONS = dict.fromkeys(WRONG, 3)
APIS = {name: f"torch.nn.Module.{name}" for name in WRONG}
LINES = {name: f"model.{name}()" for name in WRONG}
