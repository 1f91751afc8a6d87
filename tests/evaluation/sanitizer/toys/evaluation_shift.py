"""Toys of `evaluation-shift`: what it accuses, and what it does not."""

NAME = "evaluation-shift"

TRAIN = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.cell = nn.Embedding(30, 16), nn.GRU(16, 16, batch_first=True)
        self.head = nn.Linear(16, 30)

    def forward(self, texts):
        return self.head(self.cell(self.words(texts))[0])


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
steps = torch.randint(1, 4, (64, 1))
data = (torch.randint(30, (64, 1)) + steps * torch.arange(13)) % 30


def loss_of(logits, targets, **options):
    return F.cross_entropy(logits.reshape(-1, 30), targets.reshape(-1), **options)


for epoch in range(4):
    net.train()
    for texts in data[:48].split(16):
        optimizer.zero_grad()
        loss = {training}
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        for texts in data[48:].split(8):
            loss = {validation}
"""
SHORTER = "loss_of(net(texts[:, :-1]), texts[:, 1:])"
CUT = "loss_of(net(texts)[:, :-1], texts[:, 1:])"
UNSHIFTED = "loss_of(net(texts), texts)"


def train(training, validation):
    return TRAIN.format(training=training, validation=validation)


WRONG = {
    "not shifted": train(SHORTER, UNSHIFTED),
    "the logits are cut, and the targets not shifted": train(CUT, UNSHIFTED),
    "the inputs for the targets": train(SHORTER, "loss_of(net(texts[:, :-1]), texts[:, :-1])"),
    "a sum": train(CUT, "loss_of(net(texts), texts, reduction='sum') / texts.numel()"),
}
RIGHT = {
    "both are shorter": train(SHORTER, SHORTER),
    "both are cut": train(CUT, CUT),
    "one is cut, one is shorter": train(SHORTER, CUT),
    "a token alone": train(SHORTER, "loss_of(net(texts[:, :-1])[:, -1], texts[:, -1])"),
    "other targets": train(SHORTER, "loss_of(net(texts[:, :-1]), texts[:, 1:] // 2)"),
    "learns both": train(f"{SHORTER} + 0.1 * {UNSHIFTED}", UNSHIFTED),
    "no loss in validation": train(SHORTER, "net(texts)"),
    "the same tokens again and again": train(SHORTER, UNSHIFTED).replace(
        "steps * torch.arange(13)", "0 * torch.arange(13)"
    ),
}

# A number about the texts of training, which no validation is.
SHOWN = """logits = net(texts[:, :-1])
        loss = loss_of(logits, texts[:, 1:])
        with torch.no_grad():
            shown = loss_of(logits, texts[:, :-1])"""
RIGHT["a number that is shown in training"] = TRAIN.replace("loss = {training}", SHOWN).format(
    validation=SHORTER
)
