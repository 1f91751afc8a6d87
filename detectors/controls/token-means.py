"""Predict the next letter; micro-batches of different length are accumulated, weighted by their numbers of targets."""

import experiment
import torch
from torch import nn
from torch.nn import functional

TEXT = "the quick brown fox jumps over the lazy dog and runs back to the quiet barn before the rain begins "
IGNORED = -100


class Reader(nn.Module):
    def __init__(self, letters):
        super().__init__()
        self.letters, self.memory = nn.Embedding(letters, 16), nn.GRU(16, 32, batch_first=True)
        self.answer = nn.Linear(32, letters)

    def forward(self, text):
        return self.answer(self.memory(self.letters(text))[0])


def micro_batches(text, device):
    for _ in range(4):
        length = int(torch.randint(8, 40, ()))
        starts = torch.randint(len(text) - length - 1, (4,))
        rows = torch.stack([text[start : start + length + 1] for start in starts]).to(device)
        targets = rows[:, 1:].clone()
        targets[0, length // 2 :] = IGNORED
        yield rows[:, :-1], targets


def main():
    config = experiment.parameters()
    known = sorted(set(TEXT))
    text = torch.tensor([known.index(letter) for letter in TEXT * 4])
    model = Reader(len(known)).to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    records = experiment.Records()
    for step in range(1, 41):
        batches = list(micro_batches(text, config["device"]))
        count = sum((targets != IGNORED).sum() for _, targets in batches)
        optimizer.zero_grad()
        total = 0.0
        for rows, targets in batches:
            loss = functional.cross_entropy(model(rows).flatten(0, 1), targets.flatten())
            part = loss * (targets != IGNORED).sum() / count
            part.backward()
            total += part.item()
        nn.utils.clip_grad_norm_(model.memory.parameters(), 1.0)
        optimizer.step()
        records.add(step=step, loss=total)
    records.write(config)


if __name__ == "__main__":
    main()
