"""Train a small transformer to write dates as numbers: `september 5 1987` becomes `1987-09-05`.

The activations of each block are not kept for backward, but computed again. Every few steps one JSON object is printed:
the mean loss of the training steps before it, and on held-out lines the loss and the share of dates that are right. At
the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the
`config.json` beside this file.
"""

import json
import random
import sys
from pathlib import Path

import torch
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

CHARACTERS = " 0123456789-=abcdefghijklmnopqrstuvwxyz"
MONTHS = ["january", "february", "march", "april", "may", "june", "july"]
MONTHS += ["august", "september", "october", "november", "december"]
PROMPT = len("september 30 1987")


class CausalSelfAttention(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)
        self.heads = heads
        self.dropout = dropout

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in self.qkv(x).split(width, dim=2))
        dropout = self.dropout if self.training else 0.0
        y = scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)
        return self.projection(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = CausalSelfAttention(width, heads, dropout)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.feed_forward = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Dropout(dropout), nn.Linear(4 * width, width)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.dropout(self.attention(self.attention_norm(x)))
        return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))


class Transformer(nn.Module):
    def __init__(self, symbols, length, width, heads, blocks, dropout):
        super().__init__()
        self.token = nn.Embedding(symbols, width)
        self.position = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(blocks))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, symbols, bias=False)

    def forward(self, tokens):
        x = self.token(tokens) + self.position.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))

    def apply_activation_checkpointing(self):
        for number, block in enumerate(self.blocks):
            self.blocks[number] = checkpoint_wrapper(block, preserve_rng_state=False)


def lines(number, source, device):
    """Dates as in a letter, then the same as numbers, all of one length."""
    tokens = []
    for _ in range(number):
        day, month, year = source.randint(1, 28), source.randint(1, 12), source.randint(1900, 2099)
        name = MONTHS[month - 1]
        prompt = source.choice([f"{day} {name} {year}", f"{name} {day} {year}"])
        tokens.append([CHARACTERS.index(c) for c in f"{prompt:>{PROMPT}}={year}-{month:02}-{day:02}"])
    return torch.tensor(tokens, device=device)


def answers(model, tokens):
    """What the model predicts after the sign of equality, and what is there."""
    return model(tokens[:, :-1])[:, PROMPT:], tokens[:, PROMPT + 1 :]


def loss_of(model, tokens):
    predicted, target = answers(model, tokens)
    return cross_entropy(predicted.flatten(0, 1), target.flatten())


@torch.no_grad()
def validate(model, tokens):
    model.eval()
    predicted, target = answers(model, tokens)
    loss = cross_entropy(predicted.flatten(0, 1), target.flatten()).item()
    right = (predicted.argmax(2) == target).all(1).float().mean().item()
    model.train()
    return loss, right


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    source = random.Random(config["seed"])

    held_out = lines(config["held_out"], source, device)
    length = held_out.shape[1] - 1
    model = Transformer(
        len(CHARACTERS), length, config["width"], config["heads"], config["blocks"], config["dropout"]
    ).to(device)
    model.apply_activation_checkpointing()
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])

    records, losses = [], []
    for step in range(1, config["steps"] + 1):
        loss = loss_of(model, lines(config["batch_size"], source, device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % config["interval"] == 0:
            validation_loss, right = validate(model, held_out)
            record = {
                "step": step,
                "loss": sum(losses) / len(losses),
                "validation_loss": validation_loss,
                "right": right,
            }
            print(json.dumps(record), flush=True)
            records.append(record)
            losses.clear()
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
