"""Of `term-twice`: what it accuses, and what it does not."""

NAME = "term-twice"
PROGRAM = """
from torch.distributions import Gamma, LogNormal, Normal, kl_divergence


class Noise(nn.Module):
    def __init__(self):
        super().__init__()
        self.raw, self.prior = nn.Parameter(torch.zeros(4)), LogNormal(-4.0, 1.0)

    def penalty(self):
        return -self.prior.log_prob(F.softplus(self.raw)).sum()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head, self.noise = nn.Linear(6, 16), nn.Linear(16, 4), Noise()
        self.deviation = nn.Parameter(torch.zeros(4))

    def forward(self, x):
        return self.head(self.body(x).relu())


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for iteration in range({steps}):
    x, y = torch.randn(8, 6), torch.randn(8, 4)
    out = model(x)
    scale = F.softplus(model.noise.raw)
    fit = ((out - y).square() / scale).mean()
    {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def program(*lines, steps=5):
    return PROGRAM.format(loss="\n    ".join(lines), steps=steps)


# What a checkpoint computes again counts batches again, and nothing else does.
CHECKPOINTED = """
from torch.utils.checkpoint import checkpoint

body = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU())
head = nn.Linear(16, 4)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.01)
for iteration in range(5):
    x, y = torch.randn(8, 6), torch.randn(8, 4)
    first, second = (checkpoint(body, x, use_reentrant=False) for _ in range(2))
    loss = F.mse_loss(head(first), y) + F.mse_loss(head(second), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("batches", int(body[1].num_batches_tracked))
"""
DECAY = "(model.head.weight ** 2).sum()"
WRONG = {
    "a prior under two names": program(
        "loss = fit + model.noise.penalty() + model.noise.penalty()"
    ),
    "divided, and turned": program(
        "loss = fit + model.noise.penalty() / 8",
        "loss = loss + model.noise.penalty() / 8",
        "loss = -(-loss) / 8",
    ),
    "a penalty of all and of one": program(
        f"loss = fit + sum(p.pow(2).sum() for p in model.parameters()) + {DECAY}"
    ),
    "the same error": program("loss = F.mse_loss(out, y) + F.mse_loss(out, y) + fit"),
    "a divergence": program(
        "posterior = Normal(model.noise.raw, model.deviation.exp())",
        "loss = fit",
        "for name in ('raw', 'noise'):",
        "    loss = loss + kl_divergence(posterior, Normal(torch.zeros(4), 1)).mean()",
    ),
    "for each reading": program(
        "losses = (out - y).square().sum(1) + model.noise.penalty() + model.noise.penalty()",
        "loss = losses.mean()",
    ),
}
ITERATIONS = dict.fromkeys(WRONG, 3)
APIS = dict.fromkeys(WRONG, "torch.Tensor.add")
LINES = dict.fromkeys(WRONG, "loss.backward()")
OUTPUTS = {"a checkpoint": ("batches 20", 1)}
RIGHT = {
    "a checkpoint": CHECKPOINTED,
    "once": program("loss = fit + model.noise.penalty()"),
    "the mean of two tasks, each with the penalty": program(
        "loss = (fit + model.noise.penalty() + (fit.square() + model.noise.penalty())) / 2",
    ),
    "the same, by a factor": program(
        "loss = 0.5 * (fit + model.noise.penalty() + (fit.square() + model.noise.penalty()))",
    ),
    "twice on purpose": program(
        "penalty = model.noise.penalty()", "loss = fit + penalty + penalty"
    ),
    "two parameters": program(
        f"loss = fit + {DECAY} + (model.body.weight ** 2).sum()",
    ),
    "two priors of one parameter": program(
        "prior = LogNormal(-3.0, 1.0)",
        "loss = fit + model.noise.penalty() - prior.log_prob(F.softplus(model.noise.raw)).sum()",
    ),
    "both directions": program(
        "half, other = out.split(4)",
        "loss = F.cosine_embedding_loss(half, other.detach(), torch.ones(4)) + fit",
        "loss = loss + F.cosine_embedding_loss(other, half.detach(), torch.ones(4))",
    ),
    "rows and columns": program(
        "logits = out @ out.T",
        "places = torch.arange(8)",
        "loss = F.cross_entropy(logits, places) + F.cross_entropy(logits.T, places)",
    ),
    "draws": program(
        "posterior = Normal(model.noise.raw, model.deviation.exp())",
        "loss = 0",
        "for draw in range(2):",
        "    drawn = posterior.rsample()",
        "    loss = loss + ((out - y) * drawn).square().mean()",
        "    loss = loss + kl_divergence(posterior, Normal(torch.zeros(4), 1)).mean()",
        "loss = loss / 2",
    ),
    "batches": program(
        "loss = 0",
        "for batch in range(2):",
        "    x, y = torch.randn(8, 6), torch.randn(8, 4)",
        f"    loss = loss + F.mse_loss(model(x), y) + {DECAY}",
    ),
    "dropout": program(
        "loss = sum(F.mse_loss(F.dropout(model(x), 0.5), y) for draw in range(2))",
    ),
    "steps of a path": program(
        "loss, state = 0, out",
        "for step in range(3):",
        "    state = state * scale",
        "    loss = loss + (state - y).square().mean()",
    ),
    "a function of its own": program(
        "class Scaled(torch.autograd.Function):",
        "    @staticmethod",
        "    def forward(ctx, values, factor):",
        "        ctx.factor = factor",
        "        return values * factor",
        "    @staticmethod",
        "    def backward(ctx, gradient):",
        "        return gradient * ctx.factor, None",
        "loss = Scaled.apply(scale.log(), 1.0).sum() + Scaled.apply(scale.log(), 2.0).sum() + fit",
    ),
    "two passes": program("loss = fit + model.noise.penalty() + model.noise.penalty()", steps=2),
}
