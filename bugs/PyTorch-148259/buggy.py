"""Train a recurrent network by SGD with clipped gradients on the adding problem.

Each sequence has a random number and a marker at every step; the target is the sum of the two numbers that are marked.
Every step prints one JSON object with the loss and the norm that clipping reports; at the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn = nn.RNN(2, hidden, nonlinearity="relu", batch_first=True)
        self.head = nn.Linear(hidden, 1)
        nn.init.eye_(self.rnn.weight_hh_l0)

    def forward(self, x):
        states, _ = self.rnn(x)
        return self.head(states[:, -1]).squeeze(1)


def adding_problem(batch_size, length, device):
    numbers = torch.rand(batch_size, length)
    marked = torch.rand(batch_size, length).topk(2).indices
    markers = torch.zeros(batch_size, length).scatter_(1, marked, 1.0)
    return torch.stack([numbers, markers], dim=2).to(device), (numbers * markers).sum(1).to(device)


def train(config, device):
    model = Net(config["hidden"]).to(device)
    parameters = model.parameters()
    optimizer = torch.optim.SGD(parameters, lr=config["learning_rate"], momentum=0.9)

    records = []
    for step in range(1, config["steps"] + 1):
        x, y = adding_problem(config["batch_size"], config["length"], device)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        reported = nn.utils.clip_grad_norm_(parameters, config["max_norm"])
        optimizer.step()
        record = {"step": step, "loss": loss.item(), "reported_norm": reported.item()}
        print(json.dumps(record), flush=True)
        records.append(record)
    return records


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    records = train(config, device)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
