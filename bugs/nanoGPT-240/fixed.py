"""Train a small GPT with dropout on made text, and validate it every few steps.

Each validation prints one JSON object: the mean loss of the training steps before it, and the loss on held-out text. At
the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the
`config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention


class CausalSelfAttention(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)
        self.residual_dropout = nn.Dropout(dropout)
        self.heads = heads
        self.dropout = dropout

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in self.qkv(x).split(width, dim=2))
        y = scaled_dot_product_attention(q, k, v, dropout_p=self.dropout if self.training else 0.0, is_causal=True)
        y = y.transpose(1, 2).reshape(batch, length, width)
        return self.residual_dropout(self.projection(y))


class Block(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = CausalSelfAttention(width, heads, dropout)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, symbols, length, width, heads, blocks, dropout):
        super().__init__()
        self.token = nn.Embedding(symbols, width)
        self.position = nn.Embedding(length, width)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.Sequential(*[Block(width, heads, dropout) for _ in range(blocks)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, symbols, bias=False)

    def forward(self, tokens):
        x = self.token(tokens) + self.position.weight[: tokens.shape[1]]
        return self.head(self.norm(self.blocks(self.dropout(x))))


def text(number, length, symbols, device):
    """Sequences in which each symbol but the first three is that of three places before, moved on by one."""
    tokens = torch.randint(symbols, (number, length + 1))
    for place in range(3, length + 1):
        tokens[:, place] = (tokens[:, place - 3] + 1) % symbols
    return tokens.to(device)


def loss_of(model, tokens):
    return cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())


@torch.no_grad()
def validate(model, tokens):
    model.eval()
    loss = loss_of(model, tokens).item()
    model.train()
    return loss


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    symbols, length = config["symbols"], config["length"]
    held_out = text(64, length, symbols, device)
    model = GPT(symbols, length, config["width"], config["heads"], config["blocks"], config["dropout"]).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])

    records, losses = [], []
    for step in range(1, config["steps"] + 1):
        loss = loss_of(model, text(config["batch_size"], length, symbols, device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % config["interval"] == 0:
            record = {
                "step": step,
                "loss": sum(losses) / len(losses),
                "validation_loss": validate(model, held_out),
            }
            print(json.dumps(record), flush=True)
            records.append(record)
            losses.clear()
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
