import random
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

CLASSES, DIM, MAX_LEN = 5, 24, 20
WINDOWS = (-1, 0, 1, 2, 3)


def simulate_clusters(n, motifs):
    clusters = []
    for i in range(n):
        label = random.randrange(CLASSES)
        genes = torch.randn(random.randint(8, 14), DIM)
        genes[:3] = 0.4 * motifs[label] + genes[:3]
        clusters.append({"id": f"BGC{i:04d}", "genes": genes, "label": label})
    return clusters


def expand_windows(clusters):
    rows = []
    for c in clusters:
        for w in WINDOWS:
            left, right = torch.randn(w + 2, DIM), torch.randn(5 - (w + 1), DIM)
            genes = torch.cat([left, c["genes"], right])[:MAX_LEN]
            rows.append({"id": c["id"], "window": w, "genes": genes, "label": c["label"]})
    return rows


def stratified_split(rows, test_ratio):
    train, test = [], []
    for label in range(CLASSES):
        members = sorted({r["id"] for r in rows if r["label"] == label})
        random.shuffle(members)
        held = set(members[:int(len(members) * test_ratio)])
        test += [r for r in rows if r["label"] == label and r["id"] in held]
        train += [r for r in rows if r["label"] == label and r["id"] not in held]
    return train, test


class ClusterDataset(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        genes = torch.zeros(MAX_LEN, DIM)
        genes[:len(row["genes"])] = row["genes"]
        pad = torch.arange(MAX_LEN) >= len(row["genes"])
        return genes, pad, row["label"]


class TransformerClassifier(nn.Module):
    def __init__(self, d_model=48):
        super().__init__()
        self.proj = nn.Linear(DIM, d_model)
        self.pos = nn.Embedding(MAX_LEN, d_model)
        layer = nn.TransformerEncoderLayer(d_model, 4, 96, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.classify = nn.Linear(d_model, CLASSES)

    def forward(self, genes, pad):
        x = self.proj(genes) + self.pos(torch.arange(MAX_LEN))
        x = self.encoder(x, src_key_padding_mask=pad)
        keep = (~pad).unsqueeze(-1).float()
        return self.classify((x * keep).sum(1) / keep.sum(1))


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits = sum((model(g, p).argmax(1) == y).sum().item() for g, p, y in loader)
    return hits / len(loader.dataset)


def main():
    seed = int(sys.argv[1])
    random.seed(seed)
    torch.manual_seed(seed)
    motifs = torch.randn(CLASSES, 3, DIM)
    rows = expand_windows(simulate_clusters(300, motifs))
    train_rows, test_rows = stratified_split(rows, test_ratio=0.2)
    novel_rows = expand_windows(simulate_clusters(100, motifs))
    train_loader = DataLoader(ClusterDataset(train_rows), batch_size=64, shuffle=True)
    test_loader = DataLoader(ClusterDataset(test_rows), batch_size=128)
    novel_loader = DataLoader(ClusterDataset(novel_rows), batch_size=128)
    print(f"{len(train_rows)} train rows, {len(test_rows)} test rows")
    model = TransformerClassifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(12):
        model.train()
        total = 0.0
        for genes, pad, y in train_loader:
            loss = criterion(model(genes, pad), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
        print(f"epoch {epoch} loss {total / len(train_rows):.4f} test acc {evaluate(model, test_loader):.4f}")
    print(f"RESULT test_acc={evaluate(model, test_loader):.4f} novel_acc={evaluate(model, novel_loader):.4f}")


if __name__ == "__main__":
    main()
