"""Train a small transformer, whose attention is biased by distance, to average over the neighbourhood of each position.

The bias is added to the attention scores, as in ALiBi: 0 for a position itself, -1 for its neighbours, -2 for theirs.
After every epoch the validation loss decides about the learning rate. Every epoch prints one JSON object; at the end
all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json`
beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm2 = nn.LayerNorm(width)
        self.feed_forward = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x, bias):
        h = self.norm1(x)
        x = x + self.attention(h, h, h, attn_mask=bias, need_weights=False)[0]
        return x + self.feed_forward(self.norm2(x))


class Net(nn.Module):
    def __init__(self, inputs, width, heads, blocks, length):
        super().__init__()
        position = torch.arange(length)
        self.register_buffer("bias", -(position[:, None] - position[None, :]).abs().float())
        self.embedding = nn.Linear(inputs, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(blocks)])
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = self.embedding(x)
        for block in self.blocks:
            x = block(x, self.bias)
        return self.head(x).squeeze(-1)


def sequences(number, config, device):
    """Random inputs; the target is the first input, averaged with weights that fall off with the distance."""
    x = torch.randn(number, config["length"], config["inputs"])
    position = torch.arange(config["length"])
    weights = torch.softmax(-(position[:, None] - position[None, :]).abs().float(), dim=1)
    return x.to(device), (x[:, :, 0] @ weights.T).to(device)


def train_epoch(model, data, optimizer, criterion, batch_size):
    model.train()
    inputs, targets = data
    loss_sum = 0.0
    for batch in torch.randperm(len(targets)).to(targets.device).split(batch_size):
        optimizer.zero_grad()
        loss = criterion(model(inputs[batch]), targets[batch])
        loss.backward()
        optimizer.step()
        loss_sum += loss.detach() * len(batch)
    return float(loss_sum) / len(targets)


@torch.no_grad()
def evaluate(model, data, criterion):
    model.eval()
    inputs, targets = data
    return criterion(model(inputs), targets).item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    train = sequences(config["sequences"], config, device)
    validation = sequences(256, config, device)
    model = Net(config["inputs"], config["width"], config["heads"], config["blocks"], config["length"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.1, patience=2)
    criterion = nn.MSELoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        learning_rate = optimizer.param_groups[0]["lr"]
        loss = train_epoch(model, train, optimizer, criterion, config["batch_size"])
        validation_loss = evaluate(model, validation, criterion)
        scheduler.step(validation_loss)
        record = {
            "epoch": epoch,
            "loss": loss,
            "validation_loss": validation_loss,
            "learning_rate": learning_rate,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
