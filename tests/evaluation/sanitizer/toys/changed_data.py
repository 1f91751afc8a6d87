"""Of `changed-data`: what it accuses, and what it does not."""

NAME = "changed-data"
PROGRAM = """
import numpy
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset


class Images(Dataset):
    def __init__(self, arrays=False):
        self.images, self.labels = torch.rand(64, 3, 4), torch.randint(3, (64,))
        self.weights = torch.ones(64, 2)
        if arrays:
            self.images = self.images.numpy()

    def __len__(self):
        return 64

    def __getitem__(self, index):
        image = self.images[index]
        {item}
        return image, self.labels[index]


data = {data}
loader = DataLoader(data, 16, shuffle=True)
model = nn.Linear(12, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(4):
    for x, y in loader:
        {batch}
        optimizer.zero_grad()
        F.cross_entropy(model(x.flatten(1)), y).backward()
        optimizer.step()
    {after}
"""


def program(item="pass", data="Images()", batch="pass", after="pass"):
    return PROGRAM.format(item=item, data=data, batch=batch, after=after)


WRONG = {
    "in place": program("image -= 0.5"),
    "noise": program("image.add_(0.1 * torch.randn(3, 4))"),
    "an array": program("image *= 0.9", "Images(arrays=True)"),
    "a part": program("image -= 0.5", "Subset(Images(), range(64))"),
    "by the program": program(after="data.images.div_(2)"),
    "of tensors": program(
        data="TensorDataset(torch.rand(64, 3, 4), torch.randint(3, (64,)))",
        after="data.tensors[0].sub_(0.5)",
    ),
}
APIS = dict.fromkeys(WRONG, "torch.utils.data.Dataset")
RIGHT = {
    "a copy": program("image = image - 0.5"),
    "a batch in place": program(batch="x -= 0.5"),
    "some items": program(after="data.images[:8] += 1"),
    "another array": program(after="data.images = data.images * 0.9"),
    "estimates": program(after="data.weights.mul_(0.9)"),
    "not a number": program("image = image.nan_to_num()").replace(
        "self.weights =", "self.images[:] = float('nan'); self.weights ="
    ),
    "once": program(after="epoch or data.images.div_(2)"),
}
