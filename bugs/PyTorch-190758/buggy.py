"""Classify simulated heartbeats of an electrocardiogram with a convolutional network.

A beat is a sum of waves (P, Q, R, S, T) with their own times, widths and heights, and noise. Four of the five kinds are
ill: no P wave, a wide QRS complex, a raised ST segment, an inverted T wave. The network is compiled; the budget says
which share of the activations it may keep for the backward pass, and what else is needed there is computed again. Every
epoch prints one JSON object with the loss of training, and loss and accuracy on other beats; at the end all of them go
to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
import torch._functorch.config
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, width, dropout):
        super().__init__()
        self.norm = nn.GroupNorm(1, width)
        self.first = nn.Conv1d(width, width, 5, padding=2)
        self.second = nn.Conv1d(width, width, 5, padding=2)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = functional.gelu(self.first(self.norm(x)))
        return x + self.second(self.dropout(hidden))


def network(kinds, width, blocks, dropout):
    return nn.Sequential(
        nn.Conv1d(1, width, 7, stride=2, padding=3),
        *(Block(width, dropout) for _ in range(blocks)),
        nn.AdaptiveMaxPool1d(1),
        nn.Flatten(),
        nn.Dropout(dropout),
        nn.Linear(width, kinds),
    )


def simulate_beats(count, noise, device):
    """Beats of 64 samples and their kinds."""
    kinds = torch.randint(5, (count,))
    times = torch.tensor([16.0, 27.0, 30.0, 33.0, 48.0]) + torch.randn(count, 5) + 3 * torch.randn(count, 1)
    widths = torch.tensor([2.5, 1.0, 1.3, 1.0, 4.0]) * torch.exp(0.15 * torch.randn(count, 5))
    heights = torch.tensor([0.25, -0.15, 1.0, -0.25, 0.35]) * torch.exp(0.2 * torch.randn(count, 5))
    heights[kinds == 1, 0] = 0
    widths[kinds == 2, 1:4] *= 1.6
    heights[kinds == 4, 4] *= -0.5
    moments = torch.arange(64.0)
    waves = heights[..., None] * torch.exp(-0.5 * ((moments - times[..., None]) / widths[..., None]) ** 2)
    beats = waves.sum(1) + noise * torch.randn(count, 64)
    segment = (moments > times[:, 3:4]) & (moments < times[:, 4:])
    beats = beats + 0.12 * segment * (kinds == 3)[:, None]
    return beats.unsqueeze(1).to(device), kinds.to(device)


def train_epoch(model, beats, kinds, optimizer, batch_size):
    model.train()
    total = 0.0
    for batch in torch.randperm(len(beats)).to(beats.device).split(batch_size):
        loss = functional.cross_entropy(model(beats[batch]), kinds[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(beats)


@torch.no_grad()
def evaluate(model, beats, kinds):
    model.eval()
    logits = model(beats)
    return {
        "validation_loss": functional.cross_entropy(logits, kinds).item(),
        "accuracy": (logits.argmax(1) == kinds).float().mean().item(),
    }


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch._functorch.config.activation_memory_budget = 0.5

    train_beats = simulate_beats(config["beats"], config["noise"], device)
    test_beats = simulate_beats(config["held_out"], config["noise"], device)
    model = network(5, config["width"], config["blocks"], config["dropout"]).to(device)
    compiled = torch.compile(model, backend="aot_eager")
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(compiled, *train_beats, optimizer, config["batch_size"])
        record = {"epoch": epoch, "loss": loss, **evaluate(model, *test_beats)}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
