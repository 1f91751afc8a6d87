"""Train a small transformer decoder to tell which symbol a sequence has most of; its last token gives the answer.

Sequences are padded on the left, so that all of a batch end in the same column. Training batches are bucketed by
length, validation batches come as they are. Every epoch prints one JSON object: the training loss, and the accuracy on
held-out sequences, all of them and the short ones. At the end all of them go to `<output>.json`. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy

PAD = 0


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)

    def forward(self, x, mask):
        batch, length, width = x.shape
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in self.qkv(x).split(width, dim=2))
        score = q @ k.transpose(2, 3) / math.sqrt(width // self.heads)
        score = score.masked_fill(~mask, -10000.0)
        x = score.softmax(dim=-1) @ v
        return self.projection(x.transpose(1, 2).reshape(batch, length, width))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.feed_forward = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))

    def forward(self, x, mask):
        x = x + self.attention(self.norm1(x), mask)
        return x + self.feed_forward(self.norm2(x))


class Decoder(nn.Module):
    def __init__(self, symbols, longest, width, heads, layers):
        super().__init__()
        self.token = nn.Embedding(1 + symbols, width, padding_idx=PAD)
        self.position = nn.Embedding(longest, width)
        self.layers = nn.ModuleList([Layer(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, symbols)

    def make_mask(self, tokens):
        pad_mask = (tokens != PAD).unsqueeze(1).unsqueeze(3)
        length = tokens.shape[1]
        causal_mask = torch.ones(length, length, dtype=torch.bool, device=tokens.device).tril()
        return pad_mask & causal_mask

    def forward(self, tokens):
        places = ((tokens != PAD).cumsum(dim=1) - 1).clamp(min=0)
        x = self.token(tokens) + self.position(places)
        mask = self.make_mask(tokens)
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(self.norm(x[:, -1]))


def examples(count, symbols, shortest, longest):
    """Sequences with one symbol that is more frequent than each other, and which one it is."""
    made = []
    while len(made) < count:
        length = int(torch.randint(shortest, longest + 1, ()))
        sequence = torch.randint(symbols, (length,))
        most, second = sequence.bincount(minlength=symbols).topk(2).values.tolist()
        if most > second:
            made.append((sequence + 1, int(sequence.bincount().argmax())))
    return made


def collate(batch, device):
    length = max(len(sequence) for sequence, _ in batch)
    tokens = torch.full((len(batch), length), PAD)
    for row, (sequence, _) in enumerate(batch):
        tokens[row, length - len(sequence) :] = sequence
    return tokens.to(device), torch.tensor([label for _, label in batch], device=device)


def bucketed(data, width, batch_size):
    """Batches in random order, each of sequences whose lengths differ by less than `width`."""
    buckets = {}
    for index in torch.randperm(len(data)).tolist():
        buckets.setdefault(len(data[index][0]) // width, []).append(data[index])
    batches = [
        bucket[start : start + batch_size] for bucket in buckets.values() for start in range(0, len(bucket), batch_size)
    ]
    return [batches[index] for index in torch.randperm(len(batches)).tolist()]


def train_epoch(model, batches, optimizer, device):
    model.train()
    losses = []
    for batch in batches:
        tokens, labels = collate(batch, device)
        optimizer.zero_grad()
        loss = cross_entropy(model(tokens), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def predict(model, data, batch_size, device):
    model.eval()
    batches = [data[start : start + batch_size] for start in range(0, len(data), batch_size)]
    return torch.cat([model(collate(batch, device)[0]).argmax(1) for batch in batches]).tolist()


def accuracy_of(predictions, data, longest):
    """Of the sequences that are not longer than `longest`."""
    right = [
        prediction == label
        for prediction, (sequence, label) in zip(predictions, data, strict=True)
        if len(sequence) <= longest
    ]
    return sum(right) / len(right)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    kind = (config["symbols"], config["shortest"], config["longest"])
    training, validation = examples(config["examples"], *kind), examples(config["validation_examples"], *kind)
    model = Decoder(config["symbols"], config["longest"], config["width"], config["heads"], config["layers"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        batches = bucketed(training, config["bucket"], config["batch_size"])
        loss = train_epoch(model, batches, optimizer, device)
        predictions = predict(model, validation, config["batch_size"], device)
        record = {
            "epoch": epoch,
            "loss": loss,
            "accuracy": accuracy_of(predictions, validation, config["longest"]),
            "short_accuracy": accuracy_of(predictions, validation, config["short"]),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
