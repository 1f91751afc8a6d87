"""Predict the next letter; micro-batches of different length are accumulated, weighted by their numbers of targets.

Every step prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON file
with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

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


def micro_batches(text, count, device):
    for _ in range(count):
        length = int(torch.randint(8, 40, ()))
        starts = torch.randint(len(text) - length - 1, (4,))
        rows = torch.stack([text[start : start + length + 1] for start in starts]).to(device)
        targets = rows[:, 1:].clone()
        targets[0, length // 2 :] = IGNORED
        yield rows[:, :-1], targets


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    known = sorted(set(TEXT))
    text = torch.tensor([known.index(letter) for letter in TEXT * 4])
    model = Reader(len(known)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for step in range(1, config["steps"] + 1):
        batches = list(micro_batches(text, config["micro_batches"], device))
        count = sum((targets != IGNORED).sum() for _, targets in batches)
        optimizer.zero_grad()
        summed = 0.0
        for rows, targets in batches:
            loss = functional.cross_entropy(model(rows).flatten(0, 1), targets.flatten())
            part = loss * (targets != IGNORED).sum() / count
            part.backward()
            summed += part.item()
        nn.utils.clip_grad_norm_(model.memory.parameters(), 1.0)
        optimizer.step()
        record = {
            "step": step,
            "loss": summed,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
