import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

GLOBAL_RANDOM_STATE = np.random.RandomState(47)


class RandomFlip:
    def __init__(self, random_state):
        self.random_state = random_state

    def __call__(self, volume, label):
        for axis in range(3):
            if self.random_state.uniform() > 0.5:
                volume, label = np.flip(volume, axis), np.flip(label, axis)
        return volume, label


class RandomRotate90:
    def __init__(self, random_state):
        self.random_state = random_state

    def __call__(self, volume, label):
        k = self.random_state.randint(0, 4)
        return np.rot90(volume, k, (1, 2)), np.rot90(label, k, (1, 2))


class RandomContrast:
    def __init__(self, random_state, alpha=(0.5, 1.5)):
        self.random_state, self.alpha = random_state, alpha

    def __call__(self, volume, label):
        alpha = self.random_state.uniform(*self.alpha)
        mean = volume.mean()
        return mean + alpha * (volume - mean), label


class AdditiveGaussianNoise:
    def __init__(self, random_state, scale=(0.0, 0.5)):
        self.random_state, self.scale = random_state, scale

    def __call__(self, volume, label):
        std = self.random_state.uniform(*self.scale)
        return volume + self.random_state.normal(0, std, size=volume.shape), label


class VolumeDataset(Dataset):
    def __init__(self, volumes, labels, phase):
        self.volumes, self.labels, self.phase = volumes, labels, phase
        self.random_state = np.random.RandomState(GLOBAL_RANDOM_STATE.randint(2 ** 31))
        kinds = [RandomFlip, RandomRotate90, RandomContrast, AdditiveGaussianNoise]
        self.transforms = [kind(self.random_state) for kind in kinds] if phase == "train" else []

    def __len__(self):
        return len(self.volumes)

    def __getitem__(self, i):
        volume, label = self.volumes[i], self.labels[i]
        for t in self.transforms:
            volume, label = t(volume, label)
        to_tensor = lambda a: torch.from_numpy(np.ascontiguousarray(a, dtype=np.float32)).unsqueeze(0)
        return to_tensor(volume), to_tensor(label)


def get_loaders(train, val, config):
    return {"train": DataLoader(VolumeDataset(*train, phase="train"), batch_size=1, shuffle=True,
                                num_workers=config["num_workers"]),
            "val": DataLoader(VolumeDataset(*val, phase="val"), batch_size=1)}


class UNet3D(nn.Module):
    def __init__(self, f=6):
        super().__init__()
        block = lambda i, o: nn.Sequential(nn.GroupNorm(1, i), nn.Conv3d(i, o, 3, padding=1), nn.ReLU())
        self.enc1, self.enc2 = block(1, f), block(f, 2 * f)
        self.dec = block(3 * f, f)
        self.final = nn.Conv3d(f, 1, 1)

    def forward(self, x):
        a = self.enc1(x)
        b = F.interpolate(self.enc2(F.max_pool3d(a, 2)), scale_factor=2)
        return self.final(self.dec(torch.cat([a, b], 1)))


def make_volumes(n, rng, size=12):
    grid = np.stack(np.meshgrid(*[np.arange(size)] * 3, indexing="ij"), -1)
    volumes, labels = [], []
    for _ in range(n):
        cells = np.zeros((size,) * 3)
        for _ in range(3):
            centre, radii = rng.uniform(2, size - 2, 3), rng.uniform(1.5, 3.5, 3)
            cells = np.maximum(cells, ((((grid - centre) / radii) ** 2).sum(-1) <= 1).astype(float))
        volumes.append(cells * rng.uniform(0.7, 1.3) + rng.normal(0, 0.7, cells.shape))
        labels.append(cells)
    return volumes, labels


@torch.no_grad()
def validate(model, loader):
    model.eval()
    scores = []
    for x, y in loader:
        pred = (model(x) > 0).float()
        scores.append((2 * (pred * y).sum() / (pred.sum() + y.sum()).clamp(min=1)).item())
    return sum(scores) / len(scores)


def main():
    seed = int(sys.argv[1])
    torch.manual_seed(seed)
    rng = np.random.RandomState(seed)
    loaders = get_loaders(make_volumes(24, rng), make_volumes(24, rng), {"num_workers": 2})
    model = UNet3D()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(10):
        model.train()
        for x, y in loaders["train"]:
            loss = F.binary_cross_entropy_with_logits(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f} val dice {validate(model, loaders['val']):.4f}")
    print(f"RESULT val_dice={validate(model, loaders['val']):.4f}")


if __name__ == "__main__":
    main()
