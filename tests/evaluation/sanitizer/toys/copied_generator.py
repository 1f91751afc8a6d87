"""Of `copied-generator`: what it accuses, and what it does not."""

NAME = "copied-generator"
PROGRAM = """
import random
from torch.utils.data import DataLoader, Dataset, get_worker_info
{imports}

shared = torch.Generator().manual_seed(1)

class Noise:
    def __init__(self):
        self.generator = torch.Generator().manual_seed(3)

    def __call__(self, x):
        return x + torch.randn(4, generator=self.generator)

class Data(Dataset):
    def __init__(self):
        self.points, self.random, self.transform = torch.randn(64, 4), {made}, {transform}

    def __len__(self):
        return 64

    def __getitem__(self, index):
        x = self.points[index]
        return {sample}

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader = DataLoader(Data(), 16, shuffle=True, num_workers={workers}, {options})
for epoch in range(2):
    for x in loader:
        optimizer.zero_grad()
        (model(x) - 1).square().mean().backward()
        optimizer.step()
"""


def program(sample, made="None", workers=2, options="", transform="None", imports=""):
    return PROGRAM.format(
        sample=sample, made=made, workers=workers, options=options, transform=transform,
        imports=imports,
    )  # fmt: skip


OWN = "x + self.random.random()"
OF_TORCH = "x + torch.randn(4, generator=self.random)"
MADE = "torch.Generator().manual_seed(2)"
WRONG = {
    "random": program(OWN, "random.Random(1)"),
    "torch": program(OF_TORCH, MADE),
    "of a transform": program("self.transform(x)", transform="Noise()"),
    "of transforms": program("[f(x) for f in self.transform][0]", transform="[Noise()]"),
    "of the module": program("x + torch.randn(4, generator=shared)"),
    "one worker": program(OF_TORCH, MADE, 1),
}
LINES = dict.fromkeys(WRONG, "for x in loader")
APIS = dict.fromkeys(WRONG, "torch.utils.data.DataLoader")
RIGHT = {
    "no workers": program(OWN, "random.Random(1)", 0),
    "seeded for each worker": program(
        OF_TORCH,
        MADE,
        options="worker_init_fn=lambda number: loader.dataset.random.manual_seed(number)",
    ),
    "asks for the worker": program(
        "x + torch.randn(4, generator=self.random.manual_seed(get_worker_info().id * 100 + index))",
        MADE,
    ),
    "unused": program("x + torch.randn(4)", MADE),
    "one that stays": program(OF_TORCH, MADE, 1, "persistent_workers=True"),
    "the global one": program("x + torch.rand(1) + random.random()"),
}
