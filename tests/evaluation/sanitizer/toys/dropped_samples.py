"""Of `dropped-samples`: what it accuses, and what it does not."""

NAME = "dropped-samples"
PROGRAM = """
from torch.utils.data import DataLoader, TensorDataset

def draw(count):
    return TensorDataset(torch.randn(count, 4), torch.randint(2, (count,)))

model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
train = DataLoader(draw(100), 16, shuffle=True, drop_last=True)
held_out = DataLoader(draw({count}), 16, drop_last={drop})
for epoch in range(2):
    model.train()
    for x, y in train:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for x, y in {data}:
            correct = (model(x).argmax(1) == y).sum()
            {stop}
"""


def program(count, drop=True, data="held_out", stop="pass"):
    return PROGRAM.format(count=count, drop=drop, data=data, stop=stop)


WRONG = {"a tenth": program(142), "a third": program(24)}
LINES = dict.fromkeys(WRONG, "correct = ")
ADVISED = {"a few": program(322)}
RIGHT = {
    "all": program(142, False),
    "whole batches": program(144),
    "the training data": program(142, data="train"),
    "before the training": program(142, False)
    .replace(
        "for epoch in range(2):",
        "model.eval()\nwith torch.no_grad():\n    for x, y in train: "
        "model(x)\nfor epoch in range(2):",
    )
    .replace("draw(100)", "draw(24)"),
    "a look": program(142, stop="break"),
}
SILENT = True
