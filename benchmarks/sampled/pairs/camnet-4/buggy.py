import math
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset



class ScenePairs(Dataset):
    """Pairs of views of a pattern of blobs with the relative pose of the second camera."""

    def __init__(self, n, seed, size=24):
        rng = np.random.RandomState(seed)
        self.images = torch.empty(n, 2, size, size)
        self.trans = torch.empty(n, 3)
        self.rot = torch.empty(n, 4)
        axis = np.linspace(-1, 1, size)
        gx, gy = np.meshgrid(axis, axis)
        for i in range(n):
            points = rng.uniform(-0.6, 0.6, (4, 2))
            t = rng.uniform(-0.3, 0.3, 3)
            angle = rng.uniform(-0.5, 0.5)
            turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
            moved = points @ turn.T * (1 + t[2]) + t[:2]
            for j, (pts, width) in enumerate(((points, 0.15), (moved, 0.15 * (1 + t[2])))):
                img = sum(np.exp(-((gx - px) ** 2 + (gy - py) ** 2) / width ** 2) for px, py in pts)
                self.images[i, j] = torch.from_numpy(img).float()
            self.trans[i] = torch.from_numpy(t).float()
            self.rot[i] = torch.tensor([math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)])

    def __len__(self):
        return len(self.trans)

    def __getitem__(self, i):
        return self.images[i, :1], self.images[i, 1:], self.trans[i], self.rot[i]


class RelativePoseNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(2, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3),
        )
        self.mix = nn.Conv2d(2 * width, 64, 2)
        self.trans_head = nn.Conv2d(64, 3, 1)
        self.rot_head = nn.Conv2d(64, 4, 1)

    def forward(self, first, second):
        feat = self.encoder(torch.cat([first, second], dim=1))
        feat = F.relu(self.mix(feat))
        return self.trans_head(feat), F.normalize(self.rot_head(feat), dim=1)


class PoseLoss(nn.Module):
    def __init__(self, rot_weight=1.0):
        super().__init__()
        self.rot_weight = rot_weight

    def forward(self, trans, rot, trans_gt, rot_gt):
        return F.l1_loss(trans, trans_gt) + self.rot_weight * F.l1_loss(rot, rot_gt)


def evaluate(model, loader):
    model.eval()
    trans_err, rot_err = [], []
    with torch.no_grad():
        for first, second, t, q in loader:
            pt, pq = model(first, second)
            pt, pq = pt.reshape(len(t), 3), pq.reshape(len(q), 4)
            trans_err.append((pt - t).norm(dim=1))
            cos = (pq * q).sum(1).abs().clamp(max=1.0)
            rot_err.append(torch.rad2deg(2 * torch.acos(cos)))
    return torch.cat(trans_err).median().item(), torch.cat(rot_err).median().item()


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    np.random.seed(seed)
    train_loader = DataLoader(ScenePairs(600, seed), batch_size=24, shuffle=True)
    test_loader = DataLoader(ScenePairs(160, seed + 1000), batch_size=40)
    model, criterion = RelativePoseNet(), PoseLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(8):
        model.train()
        running = 0.0
        for first, second, t, q in train_loader:
            optimizer.zero_grad()
            trans, rot = model(first, second)
            loss = criterion(trans, rot, t, q)
            loss.backward()
            optimizer.step()
            running += loss.item()
        print(f"epoch {epoch} loss {running / len(train_loader):.4f}")
    trans_err, rot_err = evaluate(model, test_loader)
    print(f"RESULT train_loss={running / len(train_loader):.4f} trans_err={trans_err:.4f} rot_err_deg={rot_err:.2f}")


if __name__ == "__main__":
    main()
