"""Programs that a hook could break end as they do alone under the sanitizer,
which accuses none of them.
"""

import pytest
from support import toys

TRAINING = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
points, labels = torch.randn(8, 4), torch.randint(2, (8,))
for _ in range(3):
    optimizer.zero_grad()
    loss = {loss}
    loss.backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    model(points)
"""
SCRIPTED = """
import io


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.1), nn.Linear(4, 2))

    def forward(self, points):
        return self.layers(points)


file = io.BytesIO()
model = {model}
""" + TRAINING.format(loss="F.cross_entropy(model(points), labels)")
MODELS = {
    "scripted": "torch.jit.script(Net())",
    "a scripted part": "nn.Sequential(torch.jit.script(Net()), nn.Identity())",
    "traced": "torch.jit.trace(Net().eval(), torch.ones(1, 4)).train()",
    "loaded": (
        "(torch.jit.save(torch.jit.script(Net()), file), file.seek(0), torch.jit.load(file))[-1]"
    ),
}
SCRIPTED_LOSS = """
@torch.jit.script
def weighted(output, labels):
    both = F.cross_entropy(output, labels) + F.mse_loss(output, torch.zeros_like(output))
    return both + F.kl_div(output, output.detach(), reduction="sum")


model = nn.Linear(4, 2)
""" + TRAINING.format(loss="weighted(model(points), labels)")
EACH_LOSS = """
import inspect

from trainbugs_launcher import calls, hooks

names = [name for name in hooks.LOSSES if getattr(F, name).__code__.co_filename == calls.__file__]
assert len(names) > 15, names


def fault(function):
    try:
        torch.jit.script(function)
    except Exception as error:
        return type(error)


for name in names:
    assert fault(getattr(F, name)) == fault(inspect.unwrap(getattr(F, name))), name
"""
PER_SAMPLE = """
from torch.func import functional_call, grad, vmap

model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.0), nn.Linear(4, 2))
parameters = {name: each.detach() for name, each in model.named_parameters()}


def loss_of(parameters, point, label):
    return F.cross_entropy(functional_call(model, parameters, (point[None],)), label[None])


per_sample = vmap(grad(loss_of), (None, 0, 0))
""" + TRAINING.format(loss="F.cross_entropy(model(points), labels)").replace(
    "    loss.backward()\n", "    loss.backward()\n    per_sample(parameters, points, labels)\n"
)
TABLE = """
CALLS = []
TABLE = {
    torch.Tensor.sub: "sub", torch.Tensor.subtract: "subtract", torch.Tensor.__rsub__: "rsub", torch.sub: "torch.sub",
}


class Logged(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), options=None):
        if "sub" in function.__name__:
            CALLS.append(TABLE[function])
        return super().__torch_function__(function, types, arguments, options or {})


column, row = torch.ones(2, 1), torch.ones(2).as_subclass(Logged)
column - row, row - column, 1 - row, torch.sub(row, 1), row.subtract(1)
assert CALLS == ["sub", "sub", "rsub", "torch.sub", "subtract"], CALLS
"""
SYMBOLIC = """
class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, points, labels):
        output = self.layer(points)
        return F.cross_entropy(output, labels) - (output - output.detach()).abs().mean()


model = torch.fx.symbolic_trace(Whole())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(8, 4), torch.randint(2, (8,))).backward()
    optimizer.step()
"""
FULL_GRAPH = """
model = nn.Linear(4, 2)
column, row = torch.ones(3, 1, requires_grad=True), torch.ones(3)


def whole(points, labels):
    return F.cross_entropy(model(points), labels) + (column - row).square().mean()


whole = torch.compile(whole, backend="eager", fullgraph=True)
""" + TRAINING.format(loss="whole(points, labels)")
CLIPPED = """
model = nn.Linear(4, 2)
""" + TRAINING.format(loss="F.cross_entropy(model(points), labels)").replace(
    "    optimizer.step()\n",
    "    nn.utils.clip_grad_norm_(parameters=model.parameters(), max_norm=0.1)\n"
    "    nn.utils.clip_grad_value_(model.parameters(), clip_value=0.1)\n"
    "    assert all(each.grad.norm() <= 0.1 for each in model.parameters())\n"
    "    optimizer.step()\n",
)
PROGRAMS = {
    **{name: SCRIPTED.format(model=model) for name, model in MODELS.items()},
    "scripted loss": SCRIPTED_LOSS,
    "each loss scripted": EACH_LOSS,
    "gradients of each sample": PER_SAMPLE,
    "table of functions": TABLE,
    "symbolic trace": SYMBOLIC,
    "a whole graph": FULL_GRAPH,
    "clipped by keyword": CLIPPED,
}


@pytest.fixture(scope="module")
def reports(torch_python, tmp_path_factory):
    return toys.run(torch_python, tmp_path_factory.mktemp("toys"), PROGRAMS)


@pytest.mark.real
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_ends_well_and_is_not_accused(reports, name):
    assert reports[name].errors == {}
