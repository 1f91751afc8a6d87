import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIZE, CLASSES, VOID = 20, 4, 255


class CrossEntropyLoss(nn.Module):
    def __init__(self, ignore_index=-100, reduction="mean", label_smoothing=0.0):
        super().__init__()
        self.ignore_index, self.reduction, self.label_smoothing = ignore_index, reduction, label_smoothing

    def forward(self, input, target):
        logp = input.log_softmax(dim=1)
        keep = target != self.ignore_index
        nll = F.nll_loss(logp, target, ignore_index=self.ignore_index, reduction="none")
        smooth = -logp.mean(dim=1)
        smooth = smooth.masked_fill(~keep, 0.0)
        loss = (1 - self.label_smoothing) * nll + self.label_smoothing * smooth
        if self.reduction == "none":
            return loss
        if self.reduction == "sum":
            return loss.sum()
        return loss.sum() / keep.sum()


class Scenes(Dataset):
    """Blobs of three kinds of texture on a background; annotators leave a void band around each blob."""

    def __init__(self, n, seed):
        rng = np.random.RandomState(seed)
        gx, gy = np.meshgrid(np.arange(SIZE), np.arange(SIZE))
        textures = [np.sin(1.6 * gx), np.sin(1.6 * gy), np.sin(1.6 * (gx + gy))]
        self.images = 0.5 * rng.randn(n, 1, SIZE, SIZE)
        self.truth = np.zeros((n, SIZE, SIZE), dtype=np.int64)
        self.labels = np.zeros((n, SIZE, SIZE), dtype=np.int64)
        for i in range(n):
            for _ in range(2):
                kind = rng.randint(1, CLASSES)
                cx, cy, r = rng.uniform(4, SIZE - 4), rng.uniform(4, SIZE - 4), rng.uniform(3, 5)
                dist = np.sqrt((gx - cx) ** 2 + (gy - cy) ** 2)
                inside = dist < r
                self.images[i, 0][inside] = (0.5 * rng.randn(SIZE, SIZE) + textures[kind - 1])[inside]
                self.truth[i][inside] = kind
                self.labels[i][inside] = kind
                self.labels[i][np.abs(dist - r) < 1.2] = VOID

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = torch.tensor(self.images[i], dtype=torch.float32)
        return image, torch.from_numpy(self.labels[i]), torch.from_numpy(self.truth[i])


class SegNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, width, 5, padding=2), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, CLASSES, 1),
        )

    def forward(self, x):
        return self.net(x)


def evaluate(model, loader):
    model.eval()
    nll, count, hits = 0.0, 0, 0
    band_conf, band = 0.0, 0
    inter, union = torch.zeros(CLASSES), torch.zeros(CLASSES)
    with torch.no_grad():
        for image, label, truth in loader:
            logits = model(image)
            pred = logits.argmax(1)
            keep = label != VOID
            nll += F.cross_entropy(logits, label, ignore_index=VOID, reduction="sum").item()
            hits += (pred == label)[keep].sum().item()
            count += keep.sum().item()
            band_conf += logits.softmax(1).max(1).values[~keep].sum().item()
            band += (~keep).sum().item()
            for c in range(CLASSES):
                inter[c] += ((pred == c) & (truth == c)).sum()
                union[c] += ((pred == c) | (truth == c)).sum()
    return nll / count, hits / count, (inter / union.clamp(min=1)).mean().item(), band_conf / band


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    np.random.seed(seed)
    train_loader = DataLoader(Scenes(320, seed), batch_size=16, shuffle=True)
    test_loader = DataLoader(Scenes(120, seed + 1000), batch_size=40)
    model = SegNet()
    criterion = CrossEntropyLoss(ignore_index=VOID, label_smoothing=0.1)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(8):
        model.train()
        running = 0.0
        for image, label, _ in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(image), label)
            loss.backward()
            optimizer.step()
            running += loss.item()
        print(f"epoch {epoch} train loss {running / len(train_loader):.4f}")
    nll, acc, iou, conf = evaluate(model, test_loader)
    print(f"RESULT train_loss={running / len(train_loader):.4f} test_nll={nll:.4f} test_acc={acc:.4f} "
          f"mean_iou={iou:.4f} band_confidence={conf:.4f}")


if __name__ == "__main__":
    main()
