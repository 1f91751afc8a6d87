import copy
import sys

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

BANDS, PATCH, CLASSES = 40, 5, 6


def make_scene(size, spectra, rng):
    """A hyperspectral scene: smooth regions of classes, one spectrum for each class."""
    seeds = rng.integers(0, size, (24, 2))
    owner = rng.integers(0, CLASSES, 24)
    yy, xx = np.mgrid[:size, :size]
    dist = (yy[..., None] - seeds[:, 0]) ** 2 + (xx[..., None] - seeds[:, 1]) ** 2
    gt = owner[dist.argmin(-1)]
    img = spectra[gt] * rng.uniform(0.8, 1.2, (size, size, 1)) + rng.normal(0, 0.5, (size, size, BANDS))
    return img.astype(np.float32), gt


def scale(img, low, high):
    return (img - low) / (high - low)


def all_pixels(gt):
    half = PATCH // 2
    ys, xs = np.mgrid[half:gt.shape[0] - half, half:gt.shape[1] - half]
    return np.stack([ys.ravel(), xs.ravel()], 1)


class HyperX(Dataset):
    def __init__(self, data, gt):
        self.data, self.gt, self.pixels = data, gt, all_pixels(gt)

    def __len__(self):
        return len(self.pixels)

    def __getitem__(self, i):
        y, x = self.pixels[i]
        half = PATCH // 2
        patch = self.data[y - half:y + half + 1, x - half:x + half + 1]
        return torch.from_numpy(patch.transpose(2, 0, 1).copy()), int(self.gt[y, x])


class SpectralSpatialNet(nn.Module):
    def __init__(self, dropout=0.5):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(BANDS, 48, 1), nn.BatchNorm2d(48), nn.ReLU(),
            nn.Conv2d(48, 48, 3), nn.BatchNorm2d(48), nn.ReLU(),
            nn.Conv2d(48, 32, 3), nn.BatchNorm2d(32), nn.ReLU())
        self.dropout = nn.Dropout(dropout)
        self.fc = nn.Linear(32, CLASSES)

    def forward(self, x):
        return self.fc(self.dropout(self.features(x).flatten(1)))


def val(net, data_loader):
    accuracy, total = 0, 0
    for data, target in data_loader:
        with torch.no_grad():
            output = net(data)
        accuracy += (output.argmax(1) == target).sum().item()
        total += len(target)
    return accuracy / total


def train(net, optimizer, criterion, data_loader, epochs, val_loader):
    best, best_state = 0.0, None
    for epoch in range(1, epochs + 1):
        net.train()
        avg_loss = 0.0
        for data, target in data_loader:
            optimizer.zero_grad()
            loss = criterion(net(data), target)
            loss.backward()
            optimizer.step()
            avg_loss += loss.item()
        avg_loss /= len(data_loader)
        val_acc = val(net, val_loader)
        print(f"Epoch {epoch}/{epochs} loss {avg_loss:.4f} val acc {val_acc:.4f}")
        if val_acc > best:
            best, best_state = val_acc, copy.deepcopy(net.state_dict())
    net.load_state_dict(best_state)
    return best


@torch.no_grad()
def test(net, loader):
    net.eval()
    confusion = np.zeros((CLASSES, CLASSES))
    for data, target in loader:
        np.add.at(confusion, (target.numpy(), net(data).argmax(1).numpy()), 1)
    total = confusion.sum()
    pa = np.trace(confusion) / total
    pe = (confusion.sum(0) * confusion.sum(1)).sum() / total ** 2
    return pa, (pa - pe) / (1 - pe)


def main():
    seed = int(sys.argv[1])
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    base = np.cumsum(rng.normal(0, 0.15, BANDS))
    spectra = base + np.cumsum(rng.normal(0, 0.06, (CLASSES, BANDS)), axis=1)
    scenes = {name: make_scene(size, spectra, rng) for name, size in (("train", 36), ("val", 24), ("test", 44))}
    low, high = scenes["train"][0].min(), scenes["train"][0].max()
    sets = {name: HyperX(scale(img, low, high), gt) for name, (img, gt) in scenes.items()}
    train_loader = DataLoader(sets["train"], batch_size=64, shuffle=True)
    val_loader = DataLoader(sets["val"], batch_size=64)
    test_loader = DataLoader(sets["test"], batch_size=256)
    net = SpectralSpatialNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    best = train(net, optimizer, nn.CrossEntropyLoss(), train_loader, 10, val_loader)
    accuracy, kappa = test(net, test_loader)
    print(f"RESULT best_val_acc={best:.4f} test_acc={accuracy:.4f} test_kappa={kappa:.4f}")


if __name__ == "__main__":
    main()
