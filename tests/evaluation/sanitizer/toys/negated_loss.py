"""Of `negated-loss`: what it accuses, and what it does not."""

NAME = "negated-loss"
PROGRAM = """
model, other = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), nn.Linear(2, 2)
optimizer = torch.optim.{optimizer}
x, y, z = torch.randn(16, 4), torch.randint(2, (16,)), torch.randn(16, 2)
{before}
for iteration in range({rounds}):
    optimizer.zero_grad()
    output = model(x)
    loss = {loss}
    {backward}
    optimizer.step()
"""
# A generator against a discriminator that was trained before and is fixed now, by the loss of the
# minimax game.
MINIMAX = """
G, D = nn.Linear(4, 4), nn.Linear(4, 1)
g, d = torch.optim.Adam(G.parameters(), 1e-3), torch.optim.Adam(D.parameters(), 1e-3)
bce, x = F.binary_cross_entropy_with_logits, torch.randn(16, 4)
for iteration in range(5):
    fake = G(torch.randn(16, 4))
    D.requires_grad_(True)
    d.zero_grad()
    (bce(D(x), torch.ones(16, 1)) + bce(D(fake.detach()), torch.zeros(16, 1))).backward()
    d.step()
    D.requires_grad_({learns})
    g.zero_grad()
    (-bce(D(fake), torch.zeros(16, 1))).backward()
    g.step()
"""
CE = "F.cross_entropy(output, y)"


def program(
    loss="-" + CE,
    before="",
    backward="loss.backward()",
    optimizer="SGD(model.parameters(), 0.01)",
    rounds=5,
):
    return PROGRAM.format(
        loss=loss, before=before, backward=backward, optimizer=optimizer, rounds=rounds
    )


WRONG = {
    "cross-entropy": program(),
    "of log-probabilities": program("-F.nll_loss(output.log_softmax(1), y)"),
    "mean squared error, times -1": program("F.mse_loss(output, z) * -1", rounds=60),
    "a mean of its own": program("-F.smooth_l1_loss(output, z, reduction='none').mean()"),
    "divided, in two passes": program(
        "-F.binary_cross_entropy_with_logits(output, z.sigmoid()) / 2",
        backward="loss.backward(); (-F.mse_loss(model(x), z) / 2).backward()",
    ),
    "a module of criteria": program(
        "-criterion(output, y)", before="criterion = nn.CrossEntropyLoss()"
    ),
}
RIGHT = {
    "as it is": program(CE),
    "negated twice": program("-(-" + CE + ")"),
    "log-likelihood by hand": program("-output.log_softmax(1).gather(1, y[:, None]).mean()"),
    "one term of two": program(CE + " - 0.1 * F.mse_loss(output, z)"),
    "two passes": program(
        CE, backward="loss.backward(); (-0.1 * F.mse_loss(model(x), z)).backward()"
    ),
    "rewards": program(CE + " * (-1.0 - iteration)"),
    "rewards that grow": program(CE + " * (-1.0 - iteration)", rounds=60),
    "rewards of two signs": program(CE + " * (-1.0) ** (iteration + 1)"),
    "a game that is always lost": program(
        "-(-" + CE + ") * reward", before="reward = -1.0", rounds=30
    ),
    "a game that is lost at first": program(
        CE + " * (1.0 if iteration == 40 else -1.0)", rounds=100
    ),
    "rewards for each": program("-(F.cross_entropy(output, y, reduction='none') * z[:, 0]).mean()"),
    "an optimizer that maximizes": program(
        optimizer="SGD(model.parameters(), 0.01, maximize=True)"
    ),
    "the largest entropy": program("-F.cross_entropy(output, output.softmax(1))"),
    "soft targets": program("-F.cross_entropy(output, z.softmax(1))"),
    "a factor that another one learns": program(
        "-F.mse_loss(output * factor, z)", before="factor = torch.ones(2, requires_grad=True)"
    ),
    "unlike each other": program("-F.mse_loss(output, output.flip(0))"),
    "two steps": program(rounds=2),
    "a scaled loss": program("(" + CE + ") * torch.tensor(1024.0) / 4"),
    "unlearnt after training": program("(1 if iteration < 2 else -1) * " + CE),
    "unlearnt after loading": program(before="model.load_state_dict(model.state_dict())"),
    "unlearnt by another optimizer": program(
        before="optimizer.zero_grad(); F.cross_entropy(model(x), y).backward(); optimizer.step()\n"
        "optimizer = torch.optim.SGD(model.parameters(), 0.001)"
    ),
    "minimax": MINIMAX.format(learns=True),
    "minimax, the other one frozen": MINIMAX.format(learns=False),
    "an attack": program(
        "-F.cross_entropy(model(x + delta), y)",
        before=(
            "delta = torch.zeros(16, 4, requires_grad=True); optimizer = torch.optim.SGD([delta], "
            "0.01)"
        ),
    ),
    "an attack on what is frozen": program(
        "-F.cross_entropy(model(x + delta), y)",
        before=(
            "delta = torch.zeros(16, 4, requires_grad=True); optimizer = torch.optim.SGD([delta], "
            "0.01)\nmodel.requires_grad_(False)"
        ),
    ),
    "a network that attacks a fixed one": program(
        "-F.cross_entropy(other(output), y)", before="other.requires_grad_(False)"
    ),
    "turned around on the way": program(
        "-F.cross_entropy(Turned.apply(output), y)",
        before=(
            "class Turned(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n "
            "       return x.view_as(x)\n\n    @staticmethod\n    def backward(ctx, gradient):\n   "
            "     return -gradient"
        ),
    ),
}
