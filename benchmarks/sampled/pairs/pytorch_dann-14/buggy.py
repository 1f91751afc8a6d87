import math
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

SIZE, CLASSES = 14, 5


class GradReverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, constant):
        ctx.constant = constant
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.constant * grad, None


class Extractor(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 3, padding=1)
        self.conv2 = nn.Conv2d(12, 24, 3, padding=1)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.conv2(x), 2))
        return x.flatten(1)


class ClassClassifier(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc1 = nn.Linear(dim, 64)
        self.fc2 = nn.Linear(64, 64)
        self.fc3 = nn.Linear(64, CLASSES)

    def forward(self, x):
        h = F.relu(self.fc1(x))
        h = F.relu(self.fc2(F.dropout(h)))
        return F.log_softmax(self.fc3(h), dim=1)


class DomainClassifier(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc1 = nn.Linear(dim, 64)
        self.fc2 = nn.Linear(64, 2)

    def forward(self, x, constant):
        h = F.relu(self.fc1(GradReverse.apply(x, constant)))
        return F.log_softmax(self.fc2(h), dim=1)


PATTERNS = (np.random.RandomState(11).rand(CLASSES, 6, 6) < 0.45).astype(float)


def make_domain(n, seed, target):
    rng = np.random.RandomState(seed)
    y = rng.randint(0, CLASSES, n)
    x = np.zeros((n, 1, SIZE, SIZE))
    for i in range(n):
        r, c = rng.randint(0, SIZE - 6, 2)
        x[i, 0, r:r + 6, c:c + 6] = PATTERNS[y[i]]
    if target:
        x = 0.7 * x + 0.2 + 0.35 * rng.randn(*x.shape)
    else:
        x = x + 0.15 * rng.randn(*x.shape)
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))


def train_epoch(nets, opt, source, target, epoch, epochs):
    for net in nets:
        net.train()
    extractor, classifier, domain = nets
    steps = min(len(source), len(target))
    for i, ((xs, ys), (xt, _)) in enumerate(zip(source, target)):
        p = (i + epoch * steps) / (epochs * steps)
        constant = 2.0 / (1.0 + math.exp(-10 * p)) - 1
        opt.zero_grad()
        fs, ft = extractor(xs), extractor(xt)
        class_loss = F.nll_loss(classifier(fs), ys)
        d_loss = F.nll_loss(domain(fs, constant), torch.zeros_like(ys))
        d_loss = d_loss + F.nll_loss(domain(ft, constant), torch.ones(len(xt), dtype=torch.long))
        loss = class_loss + 0.3 * d_loss
        loss.backward()
        opt.step()
    print(f"epoch {epoch} class loss {class_loss.item():.4f} domain loss {d_loss.item():.4f}")


@torch.no_grad()
def test(nets, loader):
    for net in nets:
        net.eval()
    extractor, classifier, _ = nets
    hits, count = 0, 0
    for x, y in loader:
        hits += (classifier(extractor(x)).argmax(1) == y).sum().item()
        count += len(y)
    return hits / count


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    source = DataLoader(make_domain(800, seed, False), batch_size=40, shuffle=True)
    target = DataLoader(make_domain(800, seed + 100, True), batch_size=40, shuffle=True)
    source_test = DataLoader(make_domain(400, seed + 200, False), batch_size=100)
    target_test = DataLoader(make_domain(400, seed + 300, True), batch_size=100)
    dim = 24 * (SIZE // 4) ** 2
    nets = (Extractor(), ClassClassifier(dim), DomainClassifier(dim))
    opt = torch.optim.Adam([p for n in nets for p in n.parameters()], lr=1e-3)
    epochs = 12
    for epoch in range(epochs):
        train_epoch(nets, opt, source, target, epoch, epochs)
    source_acc, target_acc, again = test(nets, source_test), test(nets, target_test), test(nets, target_test)
    print(f"RESULT source_acc={source_acc:.4f} target_acc={target_acc:.4f} target_acc_again={again:.4f}")


if __name__ == "__main__":
    main()
