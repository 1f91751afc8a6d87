"""Fine-tune a small GPT, pretrained on the weather of the plains, on the weather of a mountain station.

A diary is a row of days, each with one of several kinds of weather, which depends on the two days before. While the
network is fine-tuned, its loss on held-out diaries of the station is taken. Each time one JSON object is printed,
and at the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the
`config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy, gelu, scaled_dot_product_attention


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.attended = nn.Linear(width, width)
        self.feed_norm = nn.LayerNorm(width)
        self.feed_in = nn.Linear(width, 4 * width)
        self.feed_out = nn.Linear(4 * width, width)

    def forward(self, hidden):
        count, length, width = hidden.shape
        parts = self.queries_keys_values(self.attention_norm(hidden)).view(count, length, 3, self.heads, -1)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)
        seen = scaled_dot_product_attention(queries, keys, values, is_causal=True)
        hidden = hidden + self.attended(seen.transpose(1, 2).reshape(count, length, width))
        return hidden + self.feed_out(gelu(self.feed_in(self.feed_norm(hidden))))


class GPT(nn.Module):
    def __init__(self, kinds, length, width, heads, blocks):
        super().__init__()
        self.weather = nn.Embedding(kinds, width)
        self.days = nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(blocks)))
        self.norm = nn.LayerNorm(width)
        self.next = nn.Linear(width, kinds)

    def forward(self, diaries):
        days = torch.arange(diaries.shape[1], device=diaries.device)
        return self.next(self.norm(self.blocks(self.weather(diaries) + self.days(days))))


class Climate:
    """Which weather follows which two days: two tables of transitions, of which each explains half."""

    def __init__(self, kinds, sharpness, generator):
        scores = sharpness * torch.randn(2, kinds, kinds, generator=generator)
        self.tables = scores.softmax(-1)

    def diaries(self, count, length, generator):
        days = [torch.randint(self.tables.shape[1], (count,), generator=generator) for _ in range(2)]
        for _ in range(length - 1):
            chances = (self.tables[0, days[-1]] + self.tables[1, days[-2]]) / 2
            days.append(chances.multinomial(1, generator=generator).squeeze(1))
        return torch.stack(days[1:], 1)


def loss_of(model, diaries):
    outputs = model(diaries[:, :-1]).float()
    return cross_entropy(outputs.flatten(0, 1), diaries[:, 1:].flatten())


def train(model, optimizer, diaries, batch_size, steps):
    model.train()
    losses = []
    for _ in range(steps):
        batch = diaries[torch.randint(len(diaries), (batch_size,))]
        loss = loss_of(model, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def validate(model, diaries):
    model.eval()
    return loss_of(model, diaries).item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    generator = torch.Generator().manual_seed(config["seed"])
    length, batch_size = config["length"], config["batch_size"]
    plains, mountain = (Climate(config["kinds"], config["sharpness"], generator) for _ in range(2))
    plains_diaries = plains.diaries(config["plains_diaries"], length + 1, generator).to(device)
    mountain_diaries = mountain.diaries(config["mountain_diaries"], length + 1, generator).to(device)
    validation_diaries = mountain.diaries(config["validation_diaries"], length + 1, generator).to(device)

    model = GPT(config["kinds"], length, config["width"], config["heads"], config["blocks"]).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["pretraining_rate"])
    loss = train(model, optimizer, plains_diaries, batch_size, config["pretraining_steps"])

    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])
    records = []
    first, last = config["pretraining_steps"], config["pretraining_steps"] + config["steps"]
    for step in range(first, last + 1, config["validate_every"]):
        if step > first:
            loss = train(model, optimizer, mountain_diaries, batch_size, config["validate_every"])
        record = {"step": step, "loss": loss, "validation_loss": validate(model, validation_diaries)}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
