"""Of `merged-differs`: what it accuses, in which line, and what it does not."""

NAME = "merged-differs"
PROGRAM = """
import copy

from torch.ao.quantization import fuse_modules


class Adapted(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.base, self.is_merged = nn.Linear(inner, outer), False
        self.down, self.up = nn.Linear(inner, 2, bias=False), nn.Linear(2, outer, bias=False)

    def forward(self, x):
        if self.is_merged:
            return self.base(x)
        return self.base(x) + 4 * self.up(self.down(x))

    @torch.no_grad()
    def merge(self, {options}):
        self.base.weight += {delta}
        self.is_merged = True


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.other = nn.Conv1d(1, 4, 3), nn.BatchNorm1d(4), nn.BatchNorm1d(4)
        self.layer, self.head, self.drop = Adapted(16, 8), nn.Linear(8, 3), nn.Dropout()

    def forward(self, x):
        x = self.other(self.bn(self.conv(x)) ** 2)
        return self.head(torch.relu(self.layer(self.drop(x.flatten(1)))))

    def fuse(self):
        self.layer.merge()
        return self

    def merge_and_unload(self):
        network = copy.deepcopy(self)
        network.layer.merge()
        return network


def fuse_bn(network, part="bn"):
    norm = getattr(network, part)
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    with torch.no_grad():
        network.conv.weight *= scale[:, None, None]
        network.conv.bias.copy_({bias})
    setattr(network, part, nn.Identity())


class Wrapper(nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x):
        return {wrapped}


model = Wrapper(Block())
if {is_bare}:
    model = model.network
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for iteration in range(8):
    x, y = torch.randn(32, 1, 6), torch.randint(3, (32,))
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
{mode}
{merge}
{use}
"""
DELTA = "4 * self.up.weight @ self.down.weight"
BIAS = "(network.conv.bias - norm.running_mean) * scale + norm.bias"


TEXTS = {"bias": BIAS, "use": "model(x)", "mode": "model.eval()", "options": "alpha=1"}


def program(merge, delta=DELTA, wrapped=None, **texts):
    texts = {**TEXTS, **texts, "merge": merge, "delta": delta}
    return PROGRAM.format(wrapped=wrapped or "x", is_bare=wrapped is None, **texts)


NO_SCALE = "self.up.weight @ self.down.weight"
NO_BIAS = "network.conv.bias * scale + norm.bias"
FUSED = "model = fuse_modules(model, [['conv', '{}']])"
WRAPPED = "model = model.network.merge_and_unload()"
WRONG = {
    "no scale": program("model.layer.merge()", NO_SCALE),
    "in training mode": program("model.layer.merge()", NO_SCALE, mode="model.train()"),
    "a method inside of a method": program("model.fuse()", NO_SCALE),
    "is kept": program("model.layer.merge()", NO_SCALE, use="state = model.state_dict()"),
    "is not used": program("model.layer.merge()", NO_SCALE, use=""),
    "bias": program("fuse_bn(model)", bias=NO_BIAS),
    "torch, another normalisation": program(FUSED.format("other")),
    "wrapped": program(WRAPPED, NO_SCALE, wrapped="self.network(x)"),
    "no adapter any more": program("model.layer.merge()", "0 * self.base.weight"),
}
LINES = {"no scale": "model.layer.merge()", "bias": "fuse_bn(model)"}
APIS = {"torch, another normalisation": "torch.ao.quantization.fuse_modules"}
REPAIR = "model.layer.merge()\nwith torch.no_grad(): model.layer.base.weight += 3 * model.layer.up.weight @ model.layer.down.weight"  # noqa: E501
RIGHT = {
    "a method": program("model.layer.merge()"),
    "in training mode": program("model.layer.merge()", mode="model.train()"),
    "of the network": program("model = model.fuse()"),
    "a function": program("fuse_bn(model)"),
    "torch": program(FUSED.format("bn")),
    "a scale": program("model.layer.merge(0.5)", NO_SCALE),
    "another normalisation": program("fuse_bn(model, 'other')"),
    "needs an argument": program("model.layer.merge(0.5)", NO_SCALE, options="alpha"),
    "then by hand": program(REPAIR, NO_SCALE),
    "then loaded": program(
        "state = {name: value.clone() for name, value in model.state_dict().items()}\n"
        "model.layer.merge(); model.load_state_dict(state)", NO_SCALE,
    ),
    "wrapped": program(WRAPPED, wrapped="self.network(x)"),
    "not only wrapped": program(WRAPPED, wrapped="self.network(x) ** 3"),
    "half": program("model.bfloat16(); model.layer.merge()", use="model(x.bfloat16())"),
}  # fmt: skip
