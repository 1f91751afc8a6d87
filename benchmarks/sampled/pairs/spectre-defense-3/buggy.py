import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

BATCH_SIZE, CLASSES, SIZE = 64, 6, 14
PATTERNS = np.random.RandomState(21).randn(CLASSES, 3, 8, 8)


def make_images(n, rng):
    y = rng.randint(0, CLASSES, n)
    x = 0.9 * rng.randn(n, 3, SIZE, SIZE)
    for i in range(n):
        r, c = rng.randint(0, SIZE - 8, 2)
        x[i, :, r:r + 8, c:c + 8] += 0.6 * PATTERNS[y[i]]
    return x, y


def add_trigger(x):
    x = x.copy()
    x[:, :, -3:, -3:] = 2.5
    return x


def poison(x, y, rng, source=1, target=0, count=40):
    chosen = rng.choice(np.flatnonzero(y == source), count, replace=False)
    return np.concatenate([x, add_trigger(x[chosen])]), np.concatenate([y, np.full(count, target)])


def to_dataset(x, y):
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.long))


class BasicBlock(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.shortcut = nn.Sequential()
        if stride != 1 or cin != cout:
            self.shortcut = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(h)) + self.shortcut(x))


class SmallResNet(nn.Module):
    def __init__(self, width=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        self.blocks = nn.Sequential(BasicBlock(width, width, 1), BasicBlock(width, 2 * width, 2))
        self.fc = nn.Linear(2 * width, CLASSES)

    def forward(self, x):
        h = self.blocks(self.stem(x))
        return self.fc(F.adaptive_avg_pool2d(h, 1).flatten(1))


def clf_loss(logits, y):
    return F.cross_entropy(logits, y, reduction="sum")


def mini_train(model, dataset, epochs, lr=0.05):
    loader = DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True)
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=2e-4, nesterov=True)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(opt, milestones=[4, 6], gamma=0.1)
    for epoch in range(epochs):
        model.train()
        total, hits = 0.0, 0
        for x, y in loader:
            opt.zero_grad()
            logits = model(x)
            minibatch_loss = clf_loss(logits, y) / BATCH_SIZE
            minibatch_loss.backward()
            opt.step()
            total += minibatch_loss.item()
            hits += (logits.argmax(1) == y).sum().item()
        scheduler.step()
        print(f"epoch {epoch} loss {total / len(loader):.4f} acc {hits / len(dataset):.4f} last batch {len(y)}")
    return total / len(loader)


@torch.no_grad()
def accuracy(model, dataset):
    model.eval()
    hits = 0
    for x, y in DataLoader(dataset, batch_size=200):
        hits += (model(x).argmax(1) == y).sum().item()
    return hits / len(dataset)


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    rng = np.random.RandomState(seed)
    x, y = poison(*make_images(1000, rng), rng)
    x_test, y_test = make_images(400, rng)
    victims = add_trigger(x_test[y_test == 1])
    model = SmallResNet()
    loss = mini_train(model, to_dataset(x, y), epochs=8)
    clean = accuracy(model, to_dataset(x_test, y_test))
    attack = accuracy(model, to_dataset(victims, np.zeros(len(victims))))
    print(f"RESULT train_loss={loss:.4f} clean_acc={clean:.4f} poison_acc={attack:.4f}")


if __name__ == "__main__":
    main()
