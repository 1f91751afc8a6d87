import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

IMAGENET_STATS = [0.485, 0.456, 0.406, 0.229, 0.224, 0.225]


def smooth_noise(n, size):
    coarse = torch.rand(n, 3, size // 4, size // 4)
    return F.interpolate(coarse, size=(size, size), mode="bilinear", align_corners=False)


class NovelViewDataset(Dataset):
    """Query renderings, reference views of the same scene and the quality map of the query."""

    def __init__(self, n, size=32, refs=2):
        scene = smooth_noise(n, size)
        strength = F.interpolate(torch.rand(n, 1, 4, 4), size=(size, size), mode="nearest")
        self.query = (scene + 0.35 * strength * torch.randn_like(scene)).clamp(0, 1)
        shifts = torch.randint(-3, 4, (n, refs, 2))
        self.refs = torch.stack([torch.stack([torch.roll(scene[i], tuple(s.tolist()), (1, 2)) for s in shifts[i]])
                                 for i in range(n)])
        self.score = F.avg_pool2d(1 - strength, 4).squeeze(1)

    def __len__(self):
        return len(self.query)

    def __getitem__(self, i):
        return {"query": self.query[i], "refs": self.refs[i], "score": self.score[i]}


class ImageNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("img_norm_stat", torch.tensor(IMAGENET_STATS))

    def forward(self, img):
        mean = self.img_norm_stat[:3].view(1, 3, 1, 1)
        std = self.img_norm_stat[:3].view(1, 3, 1, 1)
        return (img - mean) / std


class CrossScoreNet(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.norm = ImageNorm()
        self.backbone = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(),
                                      nn.Conv2d(16, dim, 4, stride=4), nn.ReLU(),
                                      nn.Conv2d(dim, dim, 1))
        self.cross_attn = nn.MultiheadAttention(dim, 4, batch_first=True)
        self.ln = nn.LayerNorm(dim)
        self.head = nn.Sequential(nn.Linear(2 * dim, dim), nn.ReLU(), nn.Linear(dim, 1))

    def tokens(self, img):
        return self.backbone(self.norm(img)).flatten(2).transpose(1, 2)

    def forward(self, query, refs):
        b, n = refs.shape[:2]
        q = self.tokens(query)
        r = self.tokens(refs.flatten(0, 1)).reshape(b, n * q.shape[1], -1)
        context, _ = self.cross_attn(self.ln(q), self.ln(r), self.ln(r), need_weights=False)
        out = torch.sigmoid(self.head(torch.cat([q, context], -1))).squeeze(-1)
        side = int(out.shape[1] ** 0.5)
        return out.view(b, side, side)


@torch.no_grad()
def validate(model, loader):
    model.eval()
    total, preds, targets = 0.0, [], []
    for batch in loader:
        pred = model(batch["query"], batch["refs"])
        total += F.l1_loss(pred, batch["score"]).item() * len(pred)
        preds.append(pred.flatten())
        targets.append(batch["score"].flatten())
    corr = torch.corrcoef(torch.stack([torch.cat(preds), torch.cat(targets)]))[0, 1].item()
    return total / len(loader.dataset), corr


def main():
    torch.manual_seed(int(sys.argv[1]))
    train_loader = DataLoader(NovelViewDataset(320), batch_size=16, shuffle=True)
    val_loader = DataLoader(NovelViewDataset(80), batch_size=16)
    model = CrossScoreNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(5):
        model.train()
        for batch in train_loader:
            pred = model(batch["query"], batch["refs"])
            loss = F.l1_loss(pred, batch["score"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        mae, corr = validate(model, val_loader)
        print(f"epoch {epoch} train {loss.item():.4f} val mae {mae:.4f} corr {corr:.4f}")
    print(f"RESULT val_mae={mae:.4f} val_corr={corr:.4f}")


if __name__ == "__main__":
    main()
