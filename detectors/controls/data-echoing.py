"""Loading is slow, so that each batch is used twice in a row: a batch sampler names it twice to two workers.

Every epoch prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON file
with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset


def draw(number, device):
    """Noisy samples of two coils, shape (number, 2), and the number of the coil, shape (number,)."""
    coil = torch.arange(number) % 2
    distance = 3 * torch.sqrt(torch.rand(number))
    turned = math.pi * coil + distance * math.pi / 2
    x, y = distance * turned.cos(), distance * turned.sin()
    noise = 0.1 * torch.randn(number, 2)
    return (torch.column_stack([x, y]) + noise).to(device), coil.to(device)


def mlp(size):
    return nn.Sequential(
        nn.Linear(2, size),
        nn.Tanh(),
        nn.Linear(size, size),
        nn.Tanh(),
        nn.Linear(size, 2),
    )


class Echoed(BatchSampler):
    """Data echoing (Choi et al. 2019)."""

    def __iter__(self):
        for batch in super().__iter__():
            yield batch
            yield batch

    def __len__(self):
        return 2 * super().__len__()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    samples, classes = draw(512, "cpu")
    data = TensorDataset(samples, classes)
    batches = Echoed(RandomSampler(data), batch_size=config["batch_size"], drop_last=False)
    loader = DataLoader(data, batch_sampler=batches, num_workers=2)
    model = mlp(config["hidden"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        total = 0.0
        for batch, truth in loader:
            batch, truth = batch.to(device), truth.to(device)
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(batch), truth)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        record = {
            "epoch": epoch,
            "loss": total / (2 * len(data)),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
