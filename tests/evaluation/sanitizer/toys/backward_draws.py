"""Of `backward-draws`: what it accuses, and what it does not."""

NAME = "backward-draws"
PROGRAM = """
from torch.utils.checkpoint import checkpoint

class Noise(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        return gradient + 0.01 * torch.randn_like(gradient)

model = nn.Sequential(nn.Linear(4, 8), nn.{layer}, nn.Linear(8, 2))
{before}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4, requires_grad=True), torch.randint(2, (16,))
for iteration in range(3):
    optimizer.zero_grad()
    F.cross_entropy({out}, y).backward()
    optimizer.step()
"""
NOISE = "model[0].weight.register_hook(lambda g: g + 0.01 * torch.randn_like(g))"


def program(out="model(x)", layer="Dropout()", before=""):
    return PROGRAM.format(out=out, layer=layer, before=before)


def checkpointed(preserved, reentrant):
    return f"checkpoint(model, x, preserve_rng_state={preserved}, use_reentrant={reentrant})"


QUEUE = "queue = torch.multiprocessing.Queue(); queue.put(0)"
WRONG = {
    "other numbers": program(checkpointed(False, False)),
    "reentrant": program(checkpointed(False, True)),
    "beside a queue": program(checkpointed(False, False), before=QUEUE),
}
# A layer whose gradient gets noise, below more nodes than are looked at.
LARGE = """
layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(700))
optimizer = torch.optim.SGD(layers.parameters(), lr=1e-3)
layers[0].weight.register_hook(lambda g: g + 1e-3 * torch.randn_like(g))
for iteration in range(2):
    x = torch.randn(4, 2)
    for layer in layers:
        x = x + 0.01 * layer(x).tanh()
    optimizer.zero_grad()
    x.square().mean().backward()
    optimizer.step()
"""
# Another thread draws while the backward pass goes on.
THREAD = """
import threading, time

def augment():
    while True:
        torch.randn(8)
        time.sleep(0.001)

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
threading.Thread(target=augment, daemon=True).start()
for iteration in range(3):
    optimizer.zero_grad()
    out = model(torch.randn(16, 4))
    out.register_hook(lambda gradient: time.sleep(0.05))
    out.square().mean().backward()
    optimizer.step()
"""
RIGHT = {
    "plain": program(),
    "the same numbers": program(checkpointed(True, False)),
    "reentrant, the same": program(checkpointed(True, True)),
    "nothing random": program(checkpointed(False, False), "ReLU()"),
    "a function of its own": program("Noise.apply(model(x))"),
    "noise by a hook": program(before=NOISE),
    "noise by a hook, large": LARGE,
    "a thread": THREAD,
}
