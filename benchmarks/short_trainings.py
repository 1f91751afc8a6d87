"""Two short trainings, all of whose first steps the sanitizer looks at. For benchmark.py.

python short_trainings.py cnn      # 48 steps of a convolutional network
python short_trainings.py lbfgs    # 12 steps of LBFGS with up to 20 calls of its closure
"""

import sys

import torch
from torch import nn
from torch.nn import functional

CNN_STEPS, LBFGS_STEPS = 48, 12


def train_cnn():
    """A network of three convolutions learns made images."""
    images, labels = torch.randn(64 * CNN_STEPS, 3, 32, 32), torch.randint(10, (64 * CNN_STEPS,))
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(64 * 64, 10),
    )  # fmt: skip
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for step in range(CNN_STEPS):
        batch = slice(64 * step, 64 * step + 64)
        optimizer.zero_grad()
        functional.cross_entropy(model(images[batch]), labels[batch]).backward()
        optimizer.step()


def train_lbfgs():
    """A network of three layers is fitted to a made function by all of its data."""
    x = torch.randn(4096, 16)
    y = (x[:, :4] ** 2).sum(1, keepdim=True)
    model = nn.Sequential(
        nn.Linear(16, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 1)
    )
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=20)

    def closure():
        optimizer.zero_grad()
        loss = functional.mse_loss(model(x), y)
        loss.backward()
        return loss

    for _ in range(LBFGS_STEPS):
        optimizer.step(closure)


if __name__ == "__main__":
    torch.manual_seed(0)
    {"cnn": train_cnn, "lbfgs": train_lbfgs}[sys.argv[1]]()
