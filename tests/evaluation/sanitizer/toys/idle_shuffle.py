"""Of `idle-shuffle`: what it accuses, and what it does not."""

NAME = "idle-shuffle"
PROGRAM = """
from torch.utils.data import BatchSampler, DataLoader, Sampler, TensorDataset


class Order(Sampler):
    def __init__(self):
        self.generator, self.epoch = torch.Generator(), 0

    def __len__(self):
        return 64

    def __iter__(self):
        self.epoch += 1
        self.generator.manual_seed({seed})
        order = torch.randperm(64, generator=self.generator).tolist()
        yield from {order}


class Batches(Order):
    def __len__(self):
        return 8

    def __iter__(self):
        order = list(Order.__iter__(self))
        yield from (order[begin : begin + 8] for begin in range(0, 64, 8))


model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data = TensorDataset(torch.randn(64, 4))
loader = DataLoader(data, {options})
for epoch in range({epochs}):
    for (batch,) in loader:
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        {end}
"""
SAMPLES, BATCHES = "batch_size=8, sampler=Order()", "batch_sampler=Batches()"


def program(order, options=SAMPLES, seed="self.epoch", end="pass", epochs=4):
    return PROGRAM.format(order=order, options=options, seed=seed, end=end, epochs=epochs)


WRONG = {
    "a set": program("set(order)", BATCHES),
    "sorted": program("sorted(order)"),
    "not used": program("range(64)"),
    "workers": program("set(order)", BATCHES + ", num_workers=2"),
    "workers that stay": program(
        "set(order)", BATCHES + ", num_workers=2, persistent_workers=True"
    ),
}
RIGHT = {
    "the order": program("order"),
    "batches in this order": program("order", BATCHES),
    "one order on purpose": program("order", seed="0"),
    "the least of them": program("sorted(order[:32]) + order[32:]"),
    "the sampler of torch": program("order", "batch_size=8, shuffle=True"),
    "none": program("order", "batch_size=8"),
    "two passes by length": program("sorted(order) if self.epoch < 3 else order"),
    "partners of some passes": program("sorted(order)", epochs=2),
    "one batch": program("sorted(order)", "batch_size=64, sampler=Order()"),
}
# The samples come in another order in each pass, and the pass ends early.
RIGHT["a pass that stops"] = program("order", end="break")
