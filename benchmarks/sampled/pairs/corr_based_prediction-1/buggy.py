import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class ConvNet(nn.Module):
    def __init__(self, classes=4, width=16):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.fc = nn.Linear(2 * width * 9, classes)

    def forward(self, x):
        h = self.features(x).flatten(1)
        return self.fc(h), h


def make_split(n, seed, domain_shift):
    """Four shapes on a coloured background; the colour range depends on the domain."""
    rng = np.random.RandomState(seed)
    y = rng.randint(0, 4, n)
    x = rng.uniform(0, 0.4, (n, 3, 1, 1)) + 0.1 * rng.randn(n, 3, 12, 12)
    x[:, 0] += domain_shift
    for i in range(n):
        r, c = rng.randint(1, 6, 2)
        colour = rng.uniform(0.4, 1.0, (3, 1))
        if y[i] == 0:
            x[i, :, r, c:c + 6] += colour
        elif y[i] == 1:
            x[i, :, r:r + 6, c] += colour
        elif y[i] == 2:
            x[i, :, range(r, r + 6), range(c, c + 6)] += colour[:, 0]
        else:
            x[i, :, r:r + 3, c:c + 2] += colour[:, :, None]
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))


def corr_penalty(h, y):
    """Mean over classes of the spread of the feature values within the class."""
    loss, seen = 0.0, 0
    for c in y.unique():
        rows = h[y == c]
        if len(rows) > 1:
            loss = loss + rows.var(dim=0).mean()
            seen += 1
    return loss / max(seen, 1)


class Runner:
    def __init__(self, model, lr, beta):
        self.model, self.beta = model, beta
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4)

    def train_epoch(self, loader):
        self.model.train()
        total, hits, count = 0.0, 0, 0
        self.optimizer.zero_grad()
        for x, y in loader:
            logits, h = self.model(x)
            loss = F.cross_entropy(logits, y) + self.beta * corr_penalty(h, y)
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(y)
            hits += (logits.argmax(1) == y).sum().item()
            count += len(y)
        return total / count, hits / count

    @torch.no_grad()
    def test(self, loader):
        self.model.eval()
        hits, count = 0, 0
        for x, y in loader:
            hits += (self.model(x)[0].argmax(1) == y).sum().item()
            count += len(y)
        return hits / count


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    np.random.seed(seed)
    train_loader = DataLoader(make_split(1500, seed, 0.0), batch_size=50, shuffle=True)
    in_loader = DataLoader(make_split(400, seed + 1000, 0.0), batch_size=100)
    out_loader = DataLoader(make_split(400, seed + 2000, 0.3), batch_size=100)
    runner = Runner(ConvNet(), lr=0.01, beta=0.1)
    for epoch in range(6):
        loss, acc = runner.train_epoch(train_loader)
        print(f"epoch {epoch} loss {loss:.4f} acc {acc:.4f}")
    print(f"RESULT train_loss={loss:.4f} train_acc={acc:.4f} "
          f"test_acc={runner.test(in_loader):.4f} shifted_acc={runner.test(out_loader):.4f}")


if __name__ == "__main__":
    main()
