"""Of `not-a-number`: what it accuses, in which iteration, and what it does not."""

NAME = "not-a-number"
PROGRAM = """
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
{before}
optimizer = torch.optim.{optimizer}
for iteration in range({steps}):
    x, y = torch.randn(16, 4), torch.randint(3, (16,))
    output = model(x)
    loss = F.cross_entropy(output, y)
    {loss}
    optimizer.zero_grad()
    loss.backward()
    {after}
    optimizer.step()
    {end}
"""


def program(
    loss="pass",
    after="pass",
    end="pass",
    before="pass",
    optimizer="SGD(model.parameters(), lr=0.01)",
    steps=12,
):
    parts = {"loss": loss, "after": after, "end": end, "before": before}
    return PROGRAM.format(optimizer=optimizer, steps=steps, **parts)


LARGE = "for p in model.parameters(): p.grad.mul_(1e38)"
WRONG = {
    "a root at 0": program("loss = loss + 0.1 * (output - output.detach()).pow(2).sum().sqrt()"),
    "a branch left out": program(
        "safe = torch.where(output > 100, (output - 100).sqrt(), output * 0); loss = loss + safe.sum()",
    ),
    "later": program("loss = loss / (iteration != 30)", steps=64),
    "a step too far": program(optimizer="SGD(model.parameters(), lr=1e10)", after=LARGE),
    "one weight": program(after="if iteration == 2: model[2].bias.grad[1] = float('inf')"),
    "half precision": program(
        "loss = loss + 0.1 * (output - output.detach()).pow(2).sum().sqrt()",
        before="model = model.to(torch.bfloat16); torch.set_default_dtype(torch.bfloat16)",
    ),
}  # fmt: skip
ITERATIONS = {
    "a root at 0": 1, "a branch left out": 1, "later": 50, "a step too far": 1, "one weight": 3,
    "half precision": 1,
}  # fmt: skip
PARAMETERS = {"a root at 0": "0.weight", "one weight": "2.bias"}
LINES = dict.fromkeys(WRONG, "optimizer.step()")
MASK = "model.register_parameter('mask', nn.Parameter(torch.tensor([0.0, float('-inf')])))"
RIGHT = {
    "plain": program(),
    "a mask": program("loss = loss + model.mask[0] ** 2", before=MASK),
    "large and finite": program(
        "loss = loss + model.far.sum() * 0",
        before="model.register_parameter('far', nn.Parameter(torch.full((64,), 3e38)))",
    ),
    "half precision": program(
        before="model = model.half().float(); nn.init.constant_(model[0].weight, 6e4); "
        "model = model.to(torch.bfloat16); torch.set_default_dtype(torch.bfloat16)",
    ),
    "it ends": program(
        "loss = loss / (iteration != 3)", end="if not loss.isfinite(): break"
    ),
    "skipped": program(
        "loss = loss / (iteration != 3)", after="if not loss.isfinite(): continue"
    ),
    "weights are loaded again": program(
        "kept = {n: v.clone() for n, v in model.state_dict().items()}; loss = loss / (iteration != 3)",
        end="if not loss.isfinite(): model.load_state_dict(kept)",
    ),
    "complex": program(
        "loss = loss + model.phase.abs().sum()",
        before="model.phase = nn.Parameter(torch.ones(3, dtype=torch.complex64))",
    ),
}  # fmt: skip
