"""Train a small transformer to forecast what households draw from the grid in the next half day.

Each epoch prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import mse_loss, scaled_dot_product_attention
from torch.utils.data import DataLoader, TensorDataset


class ProbAttention(nn.Module):
    """Attention for the few queries that prefer some keys most, by a sample of keys; the others get the mean value."""

    def __init__(self, width, heads, factor):
        super().__init__()
        self.heads = heads
        self.factor = factor
        self.query_projection = nn.Linear(width, width)
        self.key_projection = nn.Linear(width, width)
        self.value_projection = nn.Linear(width, width)
        self.out_projection = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = (self.query_projection(x), self.key_projection(x), self.value_projection(x))
        queries, keys, values = (part.view(batch, self.heads, length, -1) for part in parts)
        chosen = self.choose(queries, keys).unsqueeze(3).expand(-1, -1, -1, values.shape[3])
        attended = scaled_dot_product_attention(queries.gather(2, chosen), keys, values)
        context = values.mean(2, keepdim=True).expand_as(values).scatter(2, chosen, attended)
        context = context.reshape(batch, length, width)
        return self.out_projection(context)

    @torch.no_grad()
    def choose(self, queries, keys):
        """The places of the queries whose greatest score is furthest above the mean one, in a sample of keys each."""
        length = keys.shape[2]
        count = min(self.factor * math.ceil(math.log(length)), length)
        sample = keys[:, :, torch.randint(length, (length, count))]
        scores = (queries.unsqueeze(3) @ sample.transpose(3, 4)).squeeze(3)
        return (scores.max(3).values - scores.sum(3) / length).topk(count).indices


class Block(nn.Module):
    def __init__(self, width, heads, factor):
        super().__init__()
        self.attention = ProbAttention(width, heads, factor)
        self.attention_norm = nn.LayerNorm(width)
        self.feed_forward = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.feed_forward_norm = nn.LayerNorm(width)

    def forward(self, x):
        x = self.attention_norm(x + self.attention(x))
        return self.feed_forward_norm(x + self.feed_forward(x))


class Forecaster(nn.Module):
    """From the state at the last known hour to all hours of the forecast."""

    def __init__(self, known, ahead, width, heads, factor, blocks):
        super().__init__()
        self.value = nn.Linear(1, width)
        self.position = nn.Embedding(known, width)
        self.blocks = nn.Sequential(*(Block(width, heads, factor) for _ in range(blocks)))
        self.forecast = nn.Linear(width, ahead)

    def forward(self, series):
        x = self.value(series.unsqueeze(2)) + self.position.weight
        return self.forecast(self.blocks(x)[:, -1])


def households(number, hours, noise, generator):
    """Hourly load with a mean of about 0: each household has a daily course of its own, and the cut is anywhere."""
    time = torch.arange(hours)
    load = noise * torch.randn(number, hours, generator=generator)
    for cycles in range(1, 4):
        height = torch.rand(number, 1, generator=generator) / cycles**0.5
        shift = torch.rand(number, 1, generator=generator)
        load += height * torch.sin(2 * math.pi * (cycles * time / 24 + shift))
    return load


def windows(number, config, generator):
    load = households(number, config["known"] + config["ahead"], config["noise"], generator)
    return TensorDataset(load[:, : config["known"]], load[:, config["known"] :])


@torch.no_grad()
def validate(model, loader, device):
    model.eval()
    total, count = 0.0, 0
    for known, ahead in loader:
        total += mse_loss(model(known.to(device)), ahead.to(device), reduction="sum").item()
        count += ahead.numel()
    model.train()
    return total / count


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    generator = torch.Generator().manual_seed(config["seed"])
    train_set = windows(config["windows"], config, generator)
    train_loader = DataLoader(train_set, batch_size=config["batch_size"], shuffle=True)
    validation_loader = DataLoader(windows(config["validation_windows"], config, generator), batch_size=100)
    size = (config["width"], config["heads"], config["factor"], config["blocks"])
    model = Forecaster(config["known"], config["ahead"], *size).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        losses = []
        for known, ahead in train_loader:
            loss = mse_loss(model(known.to(device)), ahead.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        record = {
            "epoch": epoch,
            "loss": sum(losses) / len(losses),
            "validation_loss": validate(model, validation_loader, device),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
