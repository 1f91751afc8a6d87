"""Of `trained-validation`: what it accuses, and what it does not."""

NAME = "trained-validation"
PROGRAM = """
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset


class Rows(Dataset):
    def __init__(self, table):
        self.table = table

    def __len__(self):
        return len(self.table)

    def __getitem__(self, place):
        return self.table[place, :10], self.table[place, 10:]


table = torch.randn(120, 12)
{data}
training = DataLoader(learnt, batch_size=10, shuffle=True)
validation = DataLoader(judged, batch_size=20)
for fold in range({folds}):
    model = nn.Sequential(nn.Linear(10, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    {fold}
    for epoch in range(3):
        model.train()
        for x, y in training:
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            print(sum(F.mse_loss(model(x), y).item() for x, y in validation))
"""


def program(data, fold="pass", folds=1):
    return PROGRAM.format(data=data, fold=fold, folds=folds)


WRONG = {
    "indices of a part": program(
        "order = torch.randperm(120); learnt = Rows(table[order[:80]]); "
        "judged = Rows(table[torch.arange(80)])"
    ),
    "other classes": program(
        "learnt, judged = Rows(table[:90]), TensorDataset(table[60:, :10], table[60:, 10:])"
    ),
}
APIS = dict.fromkeys(WRONG, "torch.utils.data.DataLoader")
RIGHT = {
    "rows that stand twice": program(
        "table = torch.cat([table, table])[torch.randperm(240)]; "
        "learnt, judged = Rows(table[:180]), Rows(table[180:])"
    ),
    "apart": program("learnt, judged = Rows(table[:90]), Rows(table[90:])"),
    "what was trained on": program("learnt, judged = Rows(table[:90]), Rows(table[:40])"),
    "no loss": program("learnt, judged = Rows(table[:90]), Rows(table[60:])").replace(
        "F.mse_loss(model(x), y).item()", "model(x).mean().item()"
    ),
    "put back": program(
        "learnt, judged = Rows(table[:80]), Rows(table[80:])",
        "first = fold and first or {k: v.clone() for k, v in model.state_dict().items()}; "
        "model.load_state_dict(first)",
    ),
    "nearly all": program("learnt, judged = Rows(table[:114]), Rows(table)"),
    "few of them": program("learnt, judged = Rows(table[:80]), Rows(table[79:])"),
    "alike by accident": program(
        "table = table.sign(); learnt, judged = Rows(table[:80]), Rows(table[40:])"
    ),
    "folds": program(
        "learnt, judged = Rows(table[:80]), Rows(table[80:])",
        "parts = table.roll(40 * fold, 0); "
        "training = DataLoader(Rows(parts[:80]), batch_size=10, shuffle=True); "
        "validation = DataLoader(Rows(parts[80:]), batch_size=20)",
        folds=3,
    ),
    "noise": program(
        "learnt, judged = Rows(table[:80] + torch.randn(80, 12) / 9), Rows(table[40:])"
    ),
}
