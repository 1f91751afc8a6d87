import sys

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

VOCAB, TAGS, TOPICS = 200, 12, 12


class BCEWithLogitsLoss(nn.Module):
    """Binary cross entropy with the sigmoid folded in, by the log-sum-exp form."""

    def __init__(self, weight=None, size_average=True):
        super().__init__()
        self.size_average = size_average
        self.register_buffer("weight", weight)

    def forward(self, input, target):
        if target.size() != input.size():
            raise ValueError(f"target size {target.size()} differs from input size {input.size()}")
        max_val = (-input).clamp(min=0)
        loss = input - input * target + max_val + ((-max_val).exp() + (-input - max_val).exp()).log()
        if self.weight is not None:
            loss = loss * self.weight
        return loss.mean() if self.size_average else loss.sum()


class TagNet(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(VOCAB, hidden), nn.ReLU(), nn.Linear(hidden, TAGS))

    def forward(self, x):
        return self.body(x)


def make_documents(n, rng):
    topics = np.random.RandomState(1).dirichlet(np.full(VOCAB, 0.05), TOPICS)
    tags = np.zeros((n, TAGS))
    counts = np.zeros((n, VOCAB))
    for i in range(n):
        chosen = rng.choice(TOPICS, rng.randint(1, 4), replace=False)
        tags[i, chosen] = 1
        length = rng.randint(80, 400)
        share = 0.8 * topics[chosen].mean(0) + 0.2 / VOCAB
        counts[i] = rng.multinomial(length, share / share.sum())
    return TensorDataset(torch.tensor(counts, dtype=torch.float32), torch.tensor(tags, dtype=torch.float32))


def train(model, loader, criterion, optimizer, epochs):
    for epoch in range(epochs):
        model.train()
        running, count = 0.0, 0
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(x)
            count += len(x)
        print(f"epoch {epoch} loss {running / count:.4f}")
    return running / count


def f_score(model, loader):
    model.eval()
    tp = fp = fn = 0
    smallest = 0.0
    with torch.no_grad():
        for x, y in loader:
            logits = model(x)
            pred = logits > 0
            tp += (pred & (y == 1)).sum().item()
            fp += (pred & (y == 0)).sum().item()
            fn += (~pred & (y == 1)).sum().item()
            smallest = min(smallest, logits.min().item())
    return 2 * tp / max(2 * tp + fp + fn, 1), smallest


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    rng = np.random.RandomState(seed)
    train_loader = DataLoader(make_documents(1200, rng), batch_size=32, shuffle=True)
    test_loader = DataLoader(make_documents(400, rng), batch_size=100)
    model = TagNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    train_loss = train(model, train_loader, BCEWithLogitsLoss(), optimizer, epochs=12)
    f1, smallest = f_score(model, test_loader)
    finite = all(torch.isfinite(p).all().item() for p in model.parameters())
    print(f"RESULT train_loss={train_loss:.4f} test_f1={f1:.4f} smallest_logit={smallest:.1f} finite={int(finite)}")


if __name__ == "__main__":
    main()
