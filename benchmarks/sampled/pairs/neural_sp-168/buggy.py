import random
import sys

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence, pad_packed_sequence
from torch.utils.data import DataLoader, Dataset

BLANK, VOCAB, FEAT = 0, 12, 16


class SpeechDataset(Dataset):
    def __init__(self, n, prototypes):
        self.items = []
        for _ in range(n):
            text = torch.randint(1, VOCAB, (random.randint(3, 7),))
            frames = torch.cat([prototypes[t].repeat(random.randint(3, 5), 1) for t in text])
            self.items.append((frames + 0.7 * torch.randn_like(frames), text))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    xs, ys = zip(*batch)
    return {"xs": pad_sequence(xs, batch_first=True), "xlens": torch.tensor([len(x) for x in xs]),
            "ys": torch.cat(ys), "ylens": torch.tensor([len(y) for y in ys])}


class CTCModel(nn.Module):
    def __init__(self, units=48):
        super().__init__()
        self.enc = nn.LSTM(FEAT, units, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(0.1)
        self.output = nn.Linear(2 * units, VOCAB)
        self.ctc = nn.CTCLoss(blank=BLANK, reduction="none")

    def encode(self, xs, xlens):
        packed = pack_padded_sequence(xs, xlens, batch_first=True, enforce_sorted=False)
        out, _ = pad_packed_sequence(self.enc(packed)[0], batch_first=True)
        return self.output(self.dropout(out)).log_softmax(-1)

    def forward(self, batch):
        logp = self.encode(batch["xs"], batch["xlens"])
        return self.ctc(logp.transpose(0, 1), batch["ys"], batch["xlens"], batch["ylens"]).mean()

    def decode(self, batch):
        best = self.encode(batch["xs"], batch["xlens"]).argmax(-1)
        hyps = []
        for seq, n in zip(best, batch["xlens"]):
            collapsed = torch.unique_consecutive(seq[:n]).tolist()
            hyps.append([t for t in collapsed if t != BLANK])
        return hyps


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        prev, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            prev, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, prev + (x != y))
    return row[-1]


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    errors, total, loss = 0, 0, 0.0
    for batch in loader:
        loss += model(batch).item() * len(batch["xlens"])
        for hyp, ref in zip(model.decode(batch), batch["ys"].split(batch["ylens"].tolist())):
            errors += edit_distance(hyp, ref.tolist())
            total += len(ref)
    return loss / len(loader.dataset), errors / total


def train_epoch(model, loader, optimizer, accum_grad_n_steps, clip_grad_norm):
    model.train()
    accum_n_steps, logged = 0, []
    optimizer.zero_grad()
    for batch in loader:
        accum_n_steps += 1
        loss = model(batch)
        logged.append(loss.item())
        loss.backward()
        if accum_n_steps == accum_grad_n_steps:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip_grad_norm)
            optimizer.step()
            optimizer.zero_grad()
            accum_n_steps = 0
    return sum(logged) / len(logged)


def main():
    seed = int(sys.argv[1])
    random.seed(seed)
    torch.manual_seed(seed)
    prototypes = torch.randn(VOCAB, FEAT)
    train_loader = DataLoader(SpeechDataset(768, prototypes), batch_size=8, shuffle=True, collate_fn=collate)
    dev_loader = DataLoader(SpeechDataset(160, prototypes), batch_size=32, collate_fn=collate)
    model = CTCModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(4):
        train_loss = train_epoch(model, train_loader, optimizer, accum_grad_n_steps=4, clip_grad_norm=5.0)
        dev_loss, dev_ter = evaluate(model, dev_loader)
        print(f"epoch {epoch + 1} train {train_loss:.3f} dev {dev_loss:.3f} TER {100 * dev_ter:.2f}")
    print(f"RESULT train_loss={train_loss:.4f} dev_loss={dev_loss:.4f} dev_ter={dev_ter:.4f}")


if __name__ == "__main__":
    main()
