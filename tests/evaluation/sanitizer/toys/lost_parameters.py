"""Toys of `lost-parameters`: what it accuses, in which iteration, and what it does not."""

NAME = "lost-parameters"

TRAIN = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(2, 8), nn.Linear(8, 2)
    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))
model = Net()
{before}
optimizer = torch.optim.SGD({parameters}, lr=0.1)
{after}
points, labels = torch.randn(64, 2), torch.randint(2, (64,))
for iteration in range(1, 9):
    model.zero_grad()
    loss = F.cross_entropy(model(points), labels)
    loss.backward()
    {step}
"""


def train(after="", parameters="model.parameters()", step="optimizer.step()", before=""):
    return TRAIN.format(after=after, parameters=parameters, step=step, before=before)


HEAD = "model.head = nn.Linear(8, 2)"
NORM = "nn.utils.weight_norm(model.body)"
WRAPPED = """class WithLoss(nn.Module):
    def __init__(self, net, features):
        super().__init__()
        self.net, self.features = net, features
    def forward(self, x):
        x = self.net(x)
        return x + self.features(x)
features = nn.Linear(2, 2)
{change}
model = WithLoss(model, features)"""
OWN = """class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.more = nn.Parameter(torch.zeros(2, 2))
    def forward(self, x):
        return torch.logsumexp(x[:, :, None] + self.more[None], dim=1)
model.head = nn.Sequential(nn.Linear(8, 2), Scores())
model.head[0].requires_grad_(False)"""
LOADED = "model.head.load_state_dict(nn.Linear(8, 2).state_dict())"
LARGE = "model.head = nn.Sequential(nn.Linear(8, 64), nn.Linear(64, 2))"
BODY, EARLY = "model.body.parameters()", "model.head.parameters()"
COPIED = "import copy; model = copy.deepcopy(model)"
FAULTS = {
    "a new head": (3, train(HEAD)),
    "reparametrized": (3, train(NORM)),
    "a new part": (3, train("model.body = nn.Sequential(model.body, nn.Linear(8, 8))")),
    "later": (
        5,
        train(step="optimizer.step(); iteration != 2 or setattr(model, 'head', nn.Linear(8, 2))"),
    ),
    "in a second model": (3, train(HEAD, before="other = Net()")),
    "a head that was there": (3, train(parameters="model.body.parameters()")),
    "a matrix of its own": (3, train(before=OWN, parameters="model.body.parameters()")),
    "reparametrized before": (
        3,
        train(before="nn.utils.weight_norm(model.head)", parameters="model.body.parameters()"),
    ),
}
APART = """
encoder, decoder = nn.Linear(4, 2), nn.Linear(2, 4)
{before}
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
points = torch.randn(64, 4)
for iteration in range(1, 9):
    optimizer.zero_grad(); encoder.zero_grad(); decoder.zero_grad()
    F.mse_loss(decoder(torch.tanh(encoder(points))), points).backward()
    optimizer.step()
"""
LEARNT = """
first = torch.optim.SGD(decoder.parameters(), lr=0.1)
for _ in range(5):
    first.zero_grad()
    F.mse_loss(decoder(torch.randn(64, 2)), torch.randn(64, 4)).backward()
    first.step()
del first"""
FAULTS["a network of its own"] = (3, APART.format(before=""))
EACH = """optimizers = {}

def step_each():
    for parameter in model.parameters():
        if parameter not in optimizers:
            optimizers[parameter] = torch.optim.SGD([parameter], lr=0.1)
        optimizers[parameter].step()
"""
RIGHT = {
    "an optimizer for each, made at its first step": train(EACH, step="step_each()").replace(
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n", ""
    ),
    "an input that is learnt": APART.format(before="").replace(
        "encoder.parameters(), lr=0.1)\n", "[noise], lr=0.1)\n"
    ).replace("optimizer =", "noise = torch.zeros(64, 2, requires_grad=True)\noptimizer =").replace(
        "encoder(points))", "encoder(points) + noise)"
    ),
    "a network that has learnt": APART.format(before=LEARNT),
    "a frozen network": APART.format(before="decoder.requires_grad_(False)"),
    "a network in evaluation mode": APART.format(before="decoder.eval()"),
    "a loaded network": APART.format(before="decoder.load_state_dict(nn.Linear(2, 4).state_dict())"),
    "a large network": APART.format(
        before="decoder = nn.Sequential(nn.Linear(2, 40), nn.Linear(40, 4))"
    ),
    "plain": train(),
    "a new head, and a group for it": train(
        f"{HEAD}; optimizer.add_param_group({{'params': model.head.parameters()}})"
    ),
    "a new head, and an optimizer for "
    "it": train(f"{HEAD}; other = torch.optim.SGD(model.head.parameters(), lr=0.1)"),
    "frozen": train(f"{HEAD}; model.head.requires_grad_(False)"),
    "trained by hand": train(HEAD, step="optimizer.step(); [p.data.sub_(p.grad) for p in model.head.parameters()]"),
    "before the optimizer": train(before=HEAD),
    "not used": train("model.more = nn.Linear(2, 2)"),
    "looked at twice": train(HEAD, step="iteration != 2 or model.head.requires_grad_(False); optimizer.step()"),
    "a loaded loss": train(WRAPPED.format(change="features.load_state_dict(nn.Linear(2, 2).state_dict()); "
                                          "features.eval()")),
    "a loss in evaluation mode": train(WRAPPED.format(change="features.eval()")),
    "a loaded loss within the "
    "model": train("model.head.loss = nn.Linear(2, 2); model.head.loss.load_state_dict("
        "nn.Linear(2, 2).state_dict()); model.head.register_forward_hook(lambda head, given, x: x + head.loss(x))"),
    "a loss beside the model": train(WRAPPED.format(change="")),
    "a copied head": train(before=COPIED, parameters=BODY),
    "registered again": train("model.again = nn.Sequential(model.head)"),
}  # fmt: skip

WRONG = {name: program for name, (_, program) in FAULTS.items()}
ITERATIONS = {name: iteration for name, (iteration, _) in FAULTS.items()}
# Wasted work is advice.
ADVISED = {
    "features": train(parameters=EARLY),
    "small features": train(before="model.body = nn.Linear(2, 8, bias=False)", parameters=EARLY),
    "a loaded head": train(before=LOADED, parameters=BODY),
    "a head in evaluation mode": train(before="model.head.eval()", parameters=BODY),
    "an adapter": train(before=LARGE, parameters=BODY),
}
