"""Toys of `evaluation-depends-on-grad`: what it accuses, in which iteration,
and what it does not.
"""

NAME = "evaluation-depends-on-grad"

PROGRAM = """
class Fast(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.tanh()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.into, self.head, self.calls = nn.Linear(8, 8), nn.Linear(8, 2), 0
        self.norm = nn.BatchNorm1d(8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(self.layer, 2)

    def forward(self, x):
        x = self.into(x)
        {middle}
        return self.head(x)

model = {model}
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
points, labels = torch.randn(64, 8), torch.randint(2, (64,))
mask = torch.zeros(4, 16, dtype=torch.bool)
mask[1, 10:] = True
for iteration in range(6):
    model.train()
    optimizer.zero_grad()
    F.cross_entropy(model(points), labels).backward()
    optimizer.step()
    if iteration % 3 == 1:
        model.eval()
        with torch.{mode}():
            model(points)
            {more}
"""


def program(middle, mode="no_grad", model="Net()", more="pass"):
    return PROGRAM.format(middle=middle, mode=mode, model=model, more=more)


# What it takes to copy a layer is not to be noticed.
COPIED = """
class Layer(nn.Linear):
    def __init__(self):
        super().__init__(2, 2)
        self.shift = 1.0
{copy}
    def forward(self, x):
        return super().forward(x) + self.shift

model, points, labels = Layer(), torch.randn(64, 2), torch.randint(2, (64,))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for iteration in range(3):
    model.train()
    optimizer.zero_grad()
    F.cross_entropy(model(points), labels).backward()
    optimizer.step()
    model.eval()
    state = torch.get_rng_state()
    with torch.no_grad():
        model(points)
    print("unchanged" if torch.equal(state, torch.get_rng_state()) else "drawn")
"""
WRONG = {
    "wrong kernel without "
    "gradients": program("x = x * 1.001 if not x.requires_grad else x", "inference_mode"),
    "wrong module": program("x = self.norm(x)").replace("class Net", """
def wrong(module, x, bare=nn.BatchNorm1d.forward):
    return bare(module, x) if x.requires_grad else bare(module, x + 1)

wrong.__module__ = 'torch.nn'
nn.BatchNorm1d.forward = wrong

class Net"""),
}  # fmt: skip
RIGHT = {
    "plain": program("x = F.relu(self.norm(x))"),
    "inference mode": program("x = F.relu(self.norm(x))", "inference_mode"),
    "attention": program("x = self.encoder(x.view(4, 16, 8)).view(64, 8)"),
    "padding": program("x = self.encoder(x.view(4, 16, 8), src_key_padding_mask=mask).view(64, 8)"),
    "fast path": program("x = self.layer(x.view(4, 16, 8), src_key_padding_mask=mask).view(64, 8)"),
    "random numbers": program("x = x + torch.randn_like(x)"),
    "remembers": program("self.calls += 1; x = x * self.calls"),
    "asks for the mode": program("x = x.round() if not torch.is_grad_enabled() else x.tanh()"),
    "other outputs": program("x = x if torch.is_grad_enabled() else x").replace(
        "return self.head(x)", "x = self.head(x); return x if x.requires_grad else (x, 1)"),
    "in place": program("x = x.relu_()", more="model(points.clone())"),
    "own gradient": program("x = Fast.apply(x)"),
    "hooks": program("x = x * 1.001 if not x.requires_grad else x",
                     model="Net()\nmodel.head.register_forward_hook(lambda *a: print('called'))"),
    "prints": program("print('called')"),
    "a copy is a new one": COPIED.format(copy="""
    def __deepcopy__(self, memo):
        twin = Layer()
        twin.load_state_dict(self.state_dict())
        return twin
"""),
    "takes itself apart": COPIED.format(copy="""
    def __getstate__(self):
        self.__dict__.pop("shift", None)
        return self.__dict__
"""),
    "odd inputs": program("pass", more="empty = model(points[:0]); model(torch.full((2, 8), float('nan')))"),
}  # fmt: skip

# Its gradient is not the derivative.
OTHERS = {"own gradient": ["wrong-backward"]}
ITERATIONS = dict.fromkeys(WRONG, 3)
APIS = dict.fromkeys(WRONG, "torch.nn.Module.__call__") | {"wrong module": "torch.nn.BatchNorm1d"}
# The program prints what it prints alone: so many times this word.
OUTPUTS = {
    "prints": ("called", 8), "hooks": ("called", 8), "a copy is a new one": ("unchanged", 3),
    "takes itself apart": ("unchanged", 3),
}  # fmt: skip
