"""Of `empty-epoch`: what it accuses, and what it does not."""

NAME = "empty-epoch"
PROGRAM = """
from torch.utils.data import DataLoader, IterableDataset, TensorDataset


class Stream(IterableDataset):
    def __init__(self, count, again):
        self.rows, self.again = iter(torch.randn(count, 4)), again

    def __iter__(self):
        if self.again:
            self.rows = iter(torch.randn(16, 4))
        return self.rows


class Resumed:
    def __init__(self, count):
        self.count, self.left = count, 0

    def __len__(self):
        return self.count

    def __iter__(self):
        left, self.left = self.left, self.count
        return iter(range(self.count - left, self.count))


model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def train(batches):
    for batch in batches:
        (batch,) = batch if isinstance(batch, list) else [batch]
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def evaluate():
    with torch.no_grad():
        model(torch.randn(8, 4))


data = TensorDataset(torch.randn(32, 4))
train(DataLoader(data, batch_size=8))
loader = {loader}
{before}
for epoch in range(3):
    {epoch}
"""
PLAIN = "DataLoader(data, batch_size=8)"
BOTH = "train(loader); evaluate()"
USED_UP = "DataLoader(Stream(32, False), batch_size=8)"


def program(loader, epoch=BOTH, before="pass"):
    return PROGRAM.format(loader=loader, epoch=epoch, before=before)


LEFT_OVER = "DataLoader(data, batch_size=8, sampler=Resumed(32))"
ADVISED = {
    "a stream that is used up": program(USED_UP),
    "a stream, and no evaluation": program(USED_UP, "train(loader)"),
    "an iterator": program(f"iter({PLAIN})"),
    "an iterator that is counted": program(f"iter({PLAIN})", "train(b for _, b in enumerate(loader)); evaluate()"),
    "drop_last": program("DataLoader(data, batch_size=64, drop_last=True)"),
    "workers that stay": program(
        "DataLoader(Stream(32, False), batch_size=8, num_workers=1, persistent_workers=True)"
    ),
    "nothing is left": program(
        LEFT_OVER, before="loader.sampler.left = 32; train(loader); loader.sampler.left = 0"
    ),
}  # fmt: skip
ADVISED["nothing is left of the first pass"] = program(LEFT_OVER)
RIGHT = {
    "a loader": program(PLAIN),
    "workers": program("DataLoader(data, batch_size=8, num_workers=2, persistent_workers=True)"),
    "a stream that begins anew": program("DataLoader(Stream(32, True), batch_size=8)"),
    "no data": program("DataLoader(TensorDataset(torch.randn(0, 4)), batch_size=8)"),
    "what is left is gone through": program(
        LEFT_OVER,
        before="loader.sampler.left = 32; train(loader); loader.sampler.left = 0; train(loader)",
    ),
    "asked once more": program(f"iter({PLAIN})", "train([next(loader, torch.randn(2, 4)) for _ in range(3)])"),
    "a loop that stops": program(PLAIN, "train([batch for batch, _ in zip(loader, range(2))]); evaluate()"),
    "once alone": program(USED_UP, "train(loader if epoch == 0 else []); evaluate()"),
    "a list of batches": program("DataLoader(data, batch_sampler=[[0, 1], [2, 3]])"),
}  # fmt: skip
