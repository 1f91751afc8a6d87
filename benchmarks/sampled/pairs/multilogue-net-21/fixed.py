import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

TEXT_DIM, AUDIO_DIM = 12, 6
SHARE = 0.12


class DialogueDataset(Dataset):
    """Dialogues of utterances with text and audio features and a binary emotion per utterance."""

    def __init__(self, n, seed):
        rng = np.random.RandomState(seed)
        shared = np.random.RandomState(17)
        text_dir, audio_dir = shared.randn(TEXT_DIM) * 0.45, shared.randn(AUDIO_DIM) * 0.5
        self.items = []
        for _ in range(n):
            length = rng.randint(6, 16)
            speaker = rng.randint(0, 2, length)
            label = (rng.rand(length) < SHARE).astype(np.int64)
            text = rng.randn(length, TEXT_DIM) + label[:, None] * text_dir
            audio = rng.randn(length, AUDIO_DIM) + label[:, None] * audio_dir
            qmask = np.eye(2)[speaker]
            self.items.append([torch.tensor(a, dtype=torch.float32) for a in (text, audio, qmask)]
                              + [torch.from_numpy(label)])

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    text, audio, qmask, label = (pad_sequence(list(column), batch_first=True) for column in zip(*batch))
    umask = pad_sequence([torch.ones(len(item[3])) for item in batch], batch_first=True)
    return text, audio, qmask, umask, label


class DialogueRNN(nn.Module):
    def __init__(self, hidden=32, dropout=0.3):
        super().__init__()
        self.text_rnn = nn.GRU(TEXT_DIM + 2, hidden, batch_first=True)
        self.audio_rnn = nn.GRU(AUDIO_DIM + 2, hidden, batch_first=True)
        self.attention = nn.Linear(2 * hidden, 2)
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(2 * hidden, 2)

    def forward(self, text, audio, qmask):
        t, _ = self.text_rnn(torch.cat([text, qmask], -1))
        a, _ = self.audio_rnn(torch.cat([audio, qmask], -1))
        gate = torch.softmax(self.attention(torch.cat([t, a], -1)), -1)
        fused = torch.cat([t * gate[..., :1], a * gate[..., 1:]], -1)
        return F.log_softmax(self.classifier(self.dropout(fused)), dim=-1)


class MaskedNLLLoss(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.register_buffer("weight", weight)

    def forward(self, logp, target, mask):
        logp, target, mask = logp.flatten(0, 1), target.flatten(), mask.flatten()
        nll = F.nll_loss(logp, target, weight=self.weight, reduction="none")
        return (nll * mask).sum() / (self.weight[target] * mask).sum()


def run_epoch(model, loader, criterion, optimizer=None):
    model.train(optimizer is not None)
    losses, preds, labels = [], [], []
    with torch.set_grad_enabled(optimizer is not None):
        for text, audio, qmask, umask, label in loader:
            logp = model(text, audio, qmask)
            loss = criterion(logp, label, umask)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            keep = umask.bool()
            preds.append(logp.argmax(-1)[keep])
            labels.append(label[keep])
            losses.append(loss.item())
    return float(np.mean(losses)), torch.cat(preds), torch.cat(labels)


def scores(pred, label):
    recalls = [(pred[label == c] == c).float().mean().item() for c in (0, 1)]
    tp = ((pred == 1) & (label == 1)).sum().item()
    f1 = 2 * tp / max((pred == 1).sum().item() + (label == 1).sum().item(), 1)
    return (pred == label).float().mean().item(), f1, sum(recalls) / 2, recalls[1]


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    np.random.seed(seed)
    train_loader = DataLoader(DialogueDataset(240, seed), batch_size=16, shuffle=True, collate_fn=collate)
    test_loader = DataLoader(DialogueDataset(120, seed + 1000), batch_size=40, collate_fn=collate)
    model = DialogueRNN()
    loss_weights = torch.tensor([1 / (1 - SHARE), 1 / SHARE])
    criterion = MaskedNLLLoss(loss_weights)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-5)
    for epoch in range(12):
        loss, pred, label = run_epoch(model, train_loader, criterion, optimizer)
        if (epoch + 1) % 3 == 0:
            print(f"epoch {epoch + 1} train loss {loss:.4f} train acc {(pred == label).float().mean().item():.4f}")
    _, pred, label = run_epoch(model, test_loader, criterion)
    acc, f1, balanced, recall = scores(pred, label)
    print(f"RESULT test_acc={acc:.4f} f1={f1:.4f} balanced_acc={balanced:.4f} recall_rare={recall:.4f}")


if __name__ == "__main__":
    main()
