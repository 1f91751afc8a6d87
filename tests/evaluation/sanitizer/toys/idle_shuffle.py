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
    "the order of the first pass": program("vars(self).setdefault('first', order)"),
    "workers": program("set(order)", BATCHES + ", num_workers=2"),
    "workers that stay": program(
        "set(order)", BATCHES + ", num_workers=2, persistent_workers=True"
    ),
}
# Samples may be sorted by what they are.
ADVISED = {"from short to long": program("sorted(order, key=lambda index: index * 37 % 64)")}
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


LOADER = "read(DataLoader(data, batch_size=8, sampler=Order()))"
# What samplers do to torch, and torch to them, is what it would be alone: each program prints what
# it has seen.
OWN = """
import threading
from torch.overrides import TorchFunctionMode
from torch.utils.data import DataLoader, Sampler, TensorDataset

bare, data = torch.randperm, TensorDataset(torch.arange(64.0)[:, None])
seen = set()


class Order(Sampler):
    def __init__(self):
        pass

    def __len__(self):
        return 64

    def __iter__(self):
        {order}


def read(loader, passes=4, batches=99):
    for epoch in range(passes):
        for _ in zip(range(batches), loader):
            count = torch._C._len_torch_function_stack()
            modes = [torch._C._get_function_stack_at(place) for place in range(count)]
            seen.update(type(mode).__name__ for mode in modes)


{end}
"""


def own(order, end=LOADER):
    return OWN.format(order=order, end=end)


# The second thread begins inside of the first one's sampler, and ends after it.
TWO = """
inside, over = threading.Event(), threading.Event()


class Second(Order):
    def __iter__(self):
        inside.set()
        over.wait(9)
        yield from bare(64).tolist()


second = threading.Thread(target=read, args=[DataLoader(data, sampler=Second())])
read(DataLoader(data, sampler=Order()))
over.set()
second.join()
print("bare" if torch.randperm is bare and bare(4, device="meta").is_meta else "replaced")
"""
STARTS = """if not inside.is_set():
            second.start()
            inside.wait(9)
        yield from bare(64).tolist()"""
REPLACES = """mine = torch.randperm = lambda count: bare(count).flip(0)
        yield from torch.randperm(64).tolist()[:8]
        print("own" if torch.randperm is mine else "lost")
        yield from torch.randperm(64).tolist()[8:]
        torch.randperm = bare"""
COUNTING = """class Counting(TorchFunctionMode):
    count = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        Counting.count += 1
        return function(*args, **(kwargs or {}))


class Order"""
# Enters in the first call, and leaves in the last.
WITHIN = """with {mode}:
            for index in torch.randperm(64).tolist():
                yield index"""
LEFT = (
    LOADER
    + "\nprint('empty' if torch._C._len_torch_function_stack() == 0 else 'left', *sorted(seen))"
)
ENDLESS = """generator = torch.Generator().manual_seed(0)
        while True:
            yield from torch.randperm(64, generator=generator).tolist()"""
HASH = """def __hash__(self):
        raise RuntimeError("no hash")

    def __eq__(self, other):
        raise RuntimeError("no equality")
"""
RIGHT |= {
    "two threads": own(STARTS, TWO),
    "a sampler that replaces the function": own(REPLACES),
    "a mode of its own": own(WITHIN.format(mode="Counting()"), LEFT).replace(
        "class Order", COUNTING, 1
    ),
    "a device": own(WITHIN.format(mode='torch.device("cpu")'), LEFT),
    "a default device": own(
        "yield from torch.randperm(64).tolist()",
        "torch.set_default_device('cpu')\n" + LEFT.replace("== 0", "== 1"),
    ),
    "a default device of its own": own(
        "torch.set_default_device('cpu')\n"
        "        yield from torch.randperm(64).tolist()\n"
        "        torch.set_default_device(None)",
        LEFT,
    ),
    "without numbers": own(
        "torch.randperm(64, device='meta')\n        yield from bare(64).tolist()"
    ),
    "an evaluation of some samples": own("yield from sorted(torch.randperm(64)[:100].tolist())"),
    "a pass without end": own(ENDLESS, LOADER[:-1] + ", batches=100)"),
    "a sampler that fails": own(
        "torch.randperm(64)\n        raise KeyError('mine')\n        yield",
        f"try:\n    {LOADER}\nexcept KeyError:\n    print('mine')\n" + LEFT.split("\n")[1],
    ),
    "a sampler without hash": own(
        "yield from torch.randperm(64).view(8, 8).tolist()\n\n    " + HASH,
        LEFT.replace("batch_size=8, sampler", "batch_sampler"),
    ),
}
OUTPUTS = {
    "two threads": ("bare", 1),
    "a sampler that replaces the function": ("own", 4),
    "a mode of its own": ("empty Counting\n", 1),
    "a device": ("empty DeviceContext\n", 1),
    "a default device": ("empty DeviceContext\n", 1),
    "a default device of its own": ("empty DeviceContext\n", 1),
    "a sampler that fails": ("empty", 1),
    "a sampler without hash": ("empty", 1),
}
