"""Does a sequence hold a 7? Attention over sequences of different length, whose padding takes no part.

Every epoch prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON file
with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

LONGEST, WIDTH = 12, 32


class Finder(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(10, WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 4, dropout=0.1, batch_first=True)
        self.answer = nn.Linear(WIDTH, 2)

    def forward(self, text, padding):
        state = self.letters(text)
        found, _ = self.attention(state, state, state, key_padding_mask=padding, need_weights=False)
        kept = (~padding).unsqueeze(2)
        return self.answer(((state + found) * kept).sum(dim=1) / kept.sum(dim=1))


def sequences(count, device):
    text = torch.randint(10, (count, LONGEST))
    padding = torch.arange(LONGEST) >= torch.randint(3, LONGEST + 1, (count, 1))
    labels = ((text == 7) & ~padding).any(dim=1).long()
    return text.to(device), padding.to(device), labels.to(device)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    text, padding, labels = sequences(512, device)
    *held_out, truth = sequences(256, device)
    model = Finder().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        model.train()
        for chosen in torch.randperm(len(labels)).split(config["batch_size"]):
            optimizer.zero_grad()
            functional.cross_entropy(model(text[chosen], padding[chosen]), labels[chosen]).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            record = {
                "epoch": epoch,
                "loss": functional.cross_entropy(model(*held_out), truth).item(),
            }
            print(json.dumps(record), flush=True)
            records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
