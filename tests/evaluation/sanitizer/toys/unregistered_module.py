"""Toys of `unregistered-module`: what it accuses, in which iteration, and what it does not."""

NAME = "unregistered-module"

TRAIN = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = {hidden}
        self.head = nn.Linear(2, 2)
    def forward(self, x):
        for layer in self.hidden:
            x = torch.tanh(layer(x))
        return self.head(x)
model = Net()
{before}
optimizer = torch.optim.SGD({parameters}, lr=0.1)
points, labels = torch.randn(64, 2), torch.randint(2, (64,))
for iteration in range(1, 9):
    optimizer.zero_grad()
    {forward}
    loss.backward()
    {step}
"""
FORWARD = "loss = F.cross_entropy(model(points), labels)"


def train(hidden="[nn.Linear(2, 2)]", before="", parameters="model.parameters()", forward=FORWARD,
          step="optimizer.step()"):  # fmt: skip
    return TRAIN.format(
        hidden=hidden, before=before, parameters=parameters, forward=forward, step=step
    )


FAULTS = {
    "in a list": (3, train()),
    "in a list of blocks": (3, train("[nn.Sequential(nn.Linear(2, 2), nn.Tanh())]")),
    "one of two": (3, train("(nn.Linear(2, 2), nn.Linear(2, 2))", parameters="[*model.parameters(), "
                            "*model.hidden[0].parameters()]")),
}  # fmt: skip
RIGHT = {
    "registered": train("nn.ModuleList([nn.Linear(2, 2)])"),
    "of the optimizer": train(parameters="[*model.parameters(), *model.hidden[0].parameters()]"),
    "of another optimizer": train(before="other = torch.optim.SGD(model.hidden[0].parameters(), lr=0.1)"),
    "frozen": train(before="model.hidden[0].requires_grad_(False)"),
    "loaded": train(before="model.hidden[0].load_state_dict(nn.Linear(2, 2).state_dict())"),
    "loaded as a whole": train(before="import io; file = io.BytesIO(); torch.save(nn.Linear(2, 2), file)\nfile.seek(0)"
                               "; model.hidden[0] = torch.load(file, weights_only=False)"),
    "a copy of a teacher": train(before="import copy; model.hidden[0] = copy.deepcopy(nn.Linear(2, 2))"),
    "in evaluation mode": train(before="model.hidden[0].eval()"),
    "without gradients": train(forward="\n    ".join(["with torch.no_grad(): model(points)", "x = model.head(points)",
                                                      "loss = F.cross_entropy(x, labels)"])),
    "trained by hand": train(step="optimizer.step(); [p.data.sub_(p.grad) for p in model.hidden[0].parameters()]"),
    "without parameters": train("[nn.Tanh()]"),
}  # fmt: skip

WRONG = {name: program for name, (_, program) in FAULTS.items()}
ITERATIONS = {name: iteration for name, (iteration, _) in FAULTS.items()}
