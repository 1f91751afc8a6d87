"""Toys of `random-evaluation`: what it accuses, and what it does not."""

NAME = "random-evaluation"
PROGRAM = """
import random
import numpy as np
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

log = []


class Flip:
    def __call__(self, image):
        return image.flip(-1) * random.uniform(0.5, 1.5)


class Images(Dataset):
    def __init__(self, transform=None):
        self.images, self.transform = torch.randn(64, 8), transform
        self.labels = [index % 3 for index in range(64)]

    def __len__(self):
        return 64

    def __getitem__(self, index):
        image, label = self.images[index], self.labels[index]
        {item}


def blur(image):
    return image + torch.randn(8) * 0.1


def shift(image):
    return torch.roll(image, 1) * float(np.random.uniform(0.5, 1.5))


generator = np.random.default_rng(0)


def draw(image):
    return image * float(generator.uniform(0.5, 1.5))


def note(image):
    log.append(len(log))
    return blur(image)


data = Images({transform})
train, valid = {split}
train_loader, valid_loader = DataLoader(train, 8, shuffle=True), DataLoader(valid, 8)
model = nn.Linear(8, {outputs})
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        {loss}.backward()
        optimizer.step()
    {mode}
    with torch.no_grad():
        for x, y in valid_loader:
            model(x)
    model.train()
"""
SPLIT = "random_split(data, [48, 16])"


def program(transform="", split=SPLIT, item=None, mode="model.eval()", task=None):
    item = item or "return (self.transform(image) if self.transform else image), label"
    outputs, loss = task or (3, "F.cross_entropy(model(x), y)")
    return PROGRAM.format(
        transform=transform, split=split, item=item, mode=mode, outputs=outputs, loss=loss
    )


PARTS = "Subset(data, range(48)), Subset({}, range(48, 64))"
WRONG = {
    "an object": program("Flip()"),
    "noise of torch": program("blur"),
    "numpy": program("shift", PARTS.format("data")),
    "in the dataset": program(
        item="return image * (1 if torch.rand(()) < 0 else torch.rand(8)), torch.tensor(label)"
    ),
    "a part of a part": program("blur", "random_split(Subset(data, range(60)), [48, 12])"),
}
RIGHT = {
    "no transform": program(),
    "a fixed one": program("lambda image: image * 2"),
    "another dataset": program("blur", PARTS.format("Images()")),
    "a random one of its own": program("blur", PARTS.format("Images(blur)")),
    "the whole": program("blur", "data, data"),
    "removing noise": program(
        item="return image + torch.randn(8), image", task=(8, "F.mse_loss(model(x), y)")
    ),
    "a random target": program(
        item="sign = random.choice([0, 1]); return image * (2 * sign - 1.0), sign"
    ),
    "a cache": program(
        "blur", item="log.append(index); return self.transform(image), label"
    ),
    "a function that keeps something": program("note"),
    "a generator of its own": program("draw"),
    "training mode": program("blur", mode="pass"),
    "tensors": program(split="random_split(TensorDataset(data.images, torch.tensor(data.labels)), [48, 16])"),
}  # fmt: skip
APIS = dict.fromkeys(WRONG, "torch.utils.data.random_split")
