"""Predict the next number of a repeating sequence; the embedding's weight is that of the output layer, too.

One JSON object is printed for each iteration; all of them go to `<output>.json` in the end. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

NUMBERS = 12


class Net(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embedding = nn.Embedding(NUMBERS, width)
        self.hidden = nn.Linear(width, width)
        self.output = nn.Linear(width, NUMBERS, bias=False)
        self.output.weight = self.embedding.weight

    def forward(self, numbers):
        return self.output(torch.tanh(self.hidden(self.embedding(numbers))))


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    model = Net().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for iteration in range(1, config["iterations"] + 1):
        numbers = torch.randint(NUMBERS, (config["batch_size"],), device=device)
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(numbers), (5 * numbers + 1) % NUMBERS)
        loss.backward()
        optimizer.step()
        record = {"iteration": iteration, "loss": loss.item()}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
