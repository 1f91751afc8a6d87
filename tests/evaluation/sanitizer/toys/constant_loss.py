"""Of `constant-loss`: what it accuses, in which iteration, and what it does not."""

NAME = "constant-loss"
PROGRAM = """
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
{before}
optimizer = torch.optim.SGD(model.parameters(), lr={rate})
for iteration in range(40):
    x, y = torch.randn(16, 4), torch.randint(3, (16,))
    {data}
    scores = model(x).log_softmax(1)
    chosen, other = scores.gather(1, y[:, None]), scores.gather(1, (y[:, None] + 1) % 3)
    {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def program(loss, before="pass", data="pass", rate=0.01):
    return PROGRAM.format(loss=loss, before=before, data=data, rate=rate)


DPO = "margin = (chosen - other) - (chosen - other).detach(); loss = -F.logsigmoid(0.1 * margin).mean()"
WRONG = {
    "its own reference": program(DPO),
    "clipped": program("loss = F.cross_entropy(model(x), y).clamp(max=0.123)"),
    "dead units": program(
        "loss = F.cross_entropy(model(x), y)",
        "model[1], model[2] = nn.ReLU(), nn.Linear(8, 3, bias=False); nn.init.constant_(model[0].bias, -50.0)",
    ),
    "collapsed": program(
        "anchor, near, far = model(x) * 0, model(-x) * 0, model(x + 1) * 0; "
        "loss = F.triplet_margin_loss(anchor, near, far, margin=0.2)"
    ),
}  # fmt: skip
ITERATIONS = {"its own reference": 22}
APIS = {"its own reference": "torch.Tensor.backward"}
LINES = {"its own reference": "optimizer.step()"}
RIGHT = {
    "it learns": program("loss = F.cross_entropy(model(x), y)"),
    "zero": program("loss = (F.cross_entropy(model(x), y) * 0).relu()"),
    "a whole number": program("loss = (1 + 0 * model(x)).relu().mean()"),
    "the same batch": program(
        DPO, data="batch = globals().setdefault('batch', (x, y)); x, y = batch"
    ),
    "no rate": program(DPO, rate=0.0),
    "a surrogate": program("loss = -0.7 * (chosen - chosen.detach()).exp().mean()"),
    "half precision": program(
        "loss = (F.cross_entropy(model(x).float(), y) * 0 + 0.3).bfloat16()"
    ),
    "one loss differs": program(
        "loss = F.cross_entropy(model(x), y); loss = loss if iteration == 12 else loss.clamp(max=0.123)"
    ),
    "a tiny noise": program("loss = 3e-6 + 0 * model(x).mean()"),
    "two batches": program(
        DPO, data="pairs = globals().setdefault('pairs', [(x, y), (x + 1, y)]); x, y = pairs[iteration % 2]"
    ),
}  # fmt: skip
