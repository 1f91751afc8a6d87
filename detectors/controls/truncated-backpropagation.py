"""Predict the next value of a sine wave with a recurrent network; gradients reach back twenty values.

Every epoch prints one JSON object with its loss. At the end all of them go to `<output>.json`. The one argument,
a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.recurrent = nn.GRU(1, width, batch_first=True)
        self.output = nn.Linear(width, 1)

    def forward(self, values, hidden):
        states, hidden = self.recurrent(values, hidden)
        return self.output(states), hidden


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    phase = torch.rand(16, 1, 1, device=device)
    waves = torch.sin(0.2 * torch.arange(401, device=device).view(1, -1, 1) + 6 * phase)
    model = Net().to(device)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=config["learning_rate"])
    criterion = nn.MSELoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        hidden, total = None, 0.0
        for start in range(0, 400, 20):
            optimizer.zero_grad()
            predicted, hidden = model(waves[:, start : start + 20], hidden)
            loss = criterion(predicted, waves[:, start + 1 : start + 21])
            loss.backward()
            optimizer.step()
            hidden = hidden.detach()
            total += loss.item()
        record = {"epoch": epoch, "loss": total / 20}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
