"""Of `focal-of-mean`: what it accuses, and what it does not."""

NAME = "focal-of-mean"
PROGRAM = """
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randint(2, (16,))
weight = nn.Parameter(torch.tensor(0.0))
for iteration in range(3):
    optimizer.zero_grad()
    {loss}
    loss.backward()
    optimizer.step()
"""


def program(loss):
    return PROGRAM.format(loss=loss)


WRONG = {
    "focal": program("ce = F.cross_entropy(model(x), y); loss = (1 - torch.exp(-ce)) ** 2 * ce"),
    "focal of the logarithm": program(
        "log = -F.cross_entropy(model(x), y); loss = -((1 - log.exp()) ** 2) * log"
    ),
    "focal, weighted": program(
        "ce = F.cross_entropy(model(x), y); loss = 0.25 * (1 - torch.exp(-ce)) ** 2 * 2 * ce"
    ),
    "focal by nll": program(
        "ce = F.nll_loss(model(x).log_softmax(1), y); loss = ((1 - (-ce).exp()) ** 2 * ce).mean()"
    ),
}
RIGHT = {
    "single losses": program(
        "ce = F.cross_entropy(model(x), y, reduction='none'); loss = ((1 - torch.exp(-ce)) ** 2 * "
        "ce).mean()"
    ),
    "one sample": program(
        "ce = F.cross_entropy(model(x[:1]), y[:1]); loss = (1 - torch.exp(-ce)) ** 2 * ce"
    ),
    "perplexity": program("loss = F.cross_entropy(model(x), y).exp()"),
    "for the log": program("loss = F.cross_entropy(model(x), y); torch.exp(-loss)"),
    "odds of one text": program(
        "good, bad = -F.cross_entropy(model(x), y), -F.cross_entropy(model(-x), y); "
        "odds = (good - bad) - (torch.log1p(-good.exp()) - torch.log1p(-bad.exp())); "
        "loss = -good - 0.1 * F.logsigmoid(odds)"
    ),
    "uncertainty": program("loss = torch.exp(-weight) * F.cross_entropy(model(x), y) + weight"),
}
