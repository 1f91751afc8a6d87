import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def make_slices(n, size=24):
    """MRI-like slices with one elliptic lesion on a textured background."""
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    images, masks = [], []
    for _ in range(n):
        cy, cx = (torch.rand(2) * (size - 12) + 6).tolist()
        ry, rx = (torch.rand(2) * 3 + 2).tolist()
        mask = (((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 <= 1).float()
        decoy = ((yy - torch.randint(size, (1,))).abs() < 2).float() * 0.6
        image = mask + decoy + 0.6 * torch.randn(size, size)
        images.append((image - image.mean()) / image.std())
        masks.append(mask)
    return TensorDataset(torch.stack(images).unsqueeze(1), torch.stack(masks).unsqueeze(1))


class DownConv(nn.Module):
    def __init__(self, in_feat, out_feat):
        super().__init__()
        self.block = nn.Sequential(
            nn.Conv2d(in_feat, out_feat, 3, padding=1), nn.BatchNorm2d(out_feat), nn.ReLU(),
            nn.Conv2d(out_feat, out_feat, 3, padding=1), nn.BatchNorm2d(out_feat), nn.ReLU())

    def forward(self, x):
        return self.block(x)


class Unet(nn.Module):
    def __init__(self, base=8, drop_rate=0.2):
        super().__init__()
        self.conv1, self.conv2, self.conv3 = DownConv(1, base), DownConv(base, 2 * base), DownConv(2 * base, 4 * base)
        self.pool = nn.MaxPool2d(2)
        self.drop = nn.Dropout2d(drop_rate)
        self.up1 = nn.ConvTranspose2d(4 * base, 2 * base, 2, stride=2)
        self.up2 = nn.ConvTranspose2d(2 * base, base, 2, stride=2)
        self.dec1, self.dec2 = DownConv(4 * base, 2 * base), DownConv(2 * base, base)
        self.out = nn.Conv2d(base, 1, 1)

    def forward(self, x):
        a = self.conv1(x)
        b = self.conv2(self.pool(a))
        c = self.drop(self.conv3(self.pool(b)))
        d = self.dec1(torch.cat([self.up1(c), b], 1))
        return torch.sigmoid(self.out(self.dec2(torch.cat([self.up2(d), a], 1))))


def dice_loss(pred, target, eps=1.0):
    inter = (pred * target).sum((1, 2, 3))
    return 1 - ((2 * inter + eps) / (pred.sum((1, 2, 3)) + target.sum((1, 2, 3)) + eps)).mean()


class MetricManager:
    def __init__(self):
        self.inter, self.total = 0.0, 0.0

    def __call__(self, pred, target):
        binary = (pred > 0.5).float()
        self.inter += (binary * target).sum().item()
        self.total += binary.sum().item() + target.sum().item()

    def dice(self):
        return 2 * self.inter / max(self.total, 1.0)


@torch.no_grad()
def validate(model, loader):
    model.eval()
    metrics, loss = MetricManager(), 0.0
    for x, y in loader:
        pred = model(x)
        loss += dice_loss(pred, y).item() * len(x)
        metrics(pred, y)
    return loss / len(loader.dataset), metrics.dice()


def cmd_train(context):
    train_loader = DataLoader(make_slices(320), batch_size=context["batch_size"], shuffle=True)
    val_loader = DataLoader(make_slices(96), batch_size=context["batch_size"])
    model = Unet()
    num_epochs = context["num_epochs"]
    optimizer = torch.optim.Adam(model.parameters(), lr=context["initial_lr"])
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, num_epochs)
    for epoch in range(1, num_epochs + 1):
        lr = scheduler.get_last_lr()[0]
        model.train()
        train_loss_total = 0.0
        for x, y in train_loader:
            preds = model(x)
            loss = dice_loss(preds, y)
            train_loss_total += loss.item()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        scheduler.step()
        val_loss, val_dice = validate(model, val_loader)
        print(f"Epoch {epoch} lr {lr:.5f} train {train_loss_total / len(train_loader):.4f} "
              f"val {val_loss:.4f} dice {val_dice:.4f}")
    return val_loss, val_dice, scheduler.get_last_lr()[0]


def main():
    torch.manual_seed(int(sys.argv[1]))
    val_loss, val_dice, lr = cmd_train({"batch_size": 16, "num_epochs": 8, "initial_lr": 1e-3})
    print(f"RESULT val_loss={val_loss:.4f} val_dice={val_dice:.4f} final_lr={lr:.6f}")


if __name__ == "__main__":
    main()
