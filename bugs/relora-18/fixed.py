"""Train a small transformer on nested brackets: first all of its weights, then low-rank updates, merged now and then.

Each epoch prints one JSON object: the training loss, the validation loss, and the share of closing brackets that are
predicted rightly. At the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by
default the `config.json` beside this file.
"""

import json
import math
import random
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy, linear, scaled_dot_product_attention


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.queries_keys_values = nn.Linear(width, 3 * width, bias=False)
        self.projection = nn.Linear(width, width, bias=False)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.queries_keys_values(self.attention_norm(x)).split(width, dim=2)
        queries, keys, values = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        attended = scaled_dot_product_attention(queries, keys, values, is_causal=True)
        x = x + self.projection(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(self.up(self.feed_forward_norm(x)).relu())


class Transformer(nn.Module):
    def __init__(self, tokens, length, width, heads, blocks):
        super().__init__()
        self.token = nn.Embedding(tokens, width)
        self.position = nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(blocks)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, tokens)

    def forward(self, texts):
        x = self.token(texts) + self.position.weight[: texts.shape[1]]
        return self.head(self.norm(self.blocks(x)))


class LowRankLinear(nn.Module):
    """A linear layer whose weight is frozen, plus the product of two small matrices that are trained."""

    def __init__(self, weight, rank, scale):
        super().__init__()
        outputs, inputs = weight.shape
        self.weight = nn.Parameter(weight.detach(), requires_grad=False)
        self.down = nn.Parameter(weight.new_empty(rank, inputs))
        self.up = nn.Parameter(weight.new_empty(outputs, rank))
        self.scale = scale
        self.restart()

    def restart(self):
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))
        nn.init.zeros_(self.up)

    @torch.no_grad()
    def merge(self):
        self.weight += self.scale * self.up @ self.down
        self.restart()

    def forward(self, x):
        return linear(x, self.weight) + self.scale * linear(linear(x, self.down), self.up)


def add_low_rank(model, rank, scale):
    """Put low-rank updates upon all linear layers of the blocks. The network still computes what it did before."""
    for block in model.blocks:
        for name, layer in list(block.named_children()):
            if isinstance(layer, nn.Linear):
                wrapped = LowRankLinear(layer.weight, rank, scale)
                setattr(block, name, wrapped)


def merge_low_rank(model):
    for module in model.modules():
        if isinstance(module, LowRankLinear):
            module.merge()


def brackets(number, length, kinds, depth, generator):
    """Nested brackets of some kinds: 1 to `kinds` open, the others close what was opened last. 0 is the beginning."""
    texts = []
    for _ in range(number):
        text, stack = [0], []
        while len(text) <= length:
            if not stack or (len(stack) < depth and generator.random() < 0.5):
                stack.append(generator.randint(1, kinds))
                text.append(stack[-1])
            else:
                text.append(kinds + stack.pop())
        texts.append(text)
    return torch.tensor(texts)


def optimizer_for(model, learning_rate):
    return torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=learning_rate)


def train_epoch(model, texts, optimizer, batch_size):
    model.train()
    losses = []
    for batch in torch.randperm(len(texts)).to(texts.device).split(batch_size):
        outputs = model(texts[batch, :-1])
        loss = cross_entropy(outputs.flatten(0, 1), texts[batch, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def validate(model, texts, kinds):
    """The loss, and how often a closing bracket is of the kind that the network holds for the most likely."""
    model.eval()
    outputs, targets = model(texts[:, :-1]), texts[:, 1:]
    loss = cross_entropy(outputs.flatten(0, 1), targets.flatten()).item()
    closing = targets > kinds
    guesses = outputs[..., kinds + 1 :].argmax(-1) + kinds + 1
    return loss, (guesses == targets)[closing].float().mean().item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    generator = random.Random(config["seed"])
    kind = (config["length"], config["kinds"], config["depth"])
    training = brackets(config["texts"], *kind, generator).to(device)
    validation = brackets(config["validation_texts"], *kind, generator).to(device)
    size = (config["width"], config["heads"], config["blocks"])
    model = Transformer(1 + 2 * config["kinds"], config["length"], *size).to(device)
    optimizer = optimizer_for(model, config["learning_rate"])

    records = []
    cycle = 0
    for epoch in range(1, config["num_epoch"] + 1):
        low_rank_epochs = epoch - 1 - config["full_rank_epochs"]
        if low_rank_epochs >= 0 and low_rank_epochs % config["merge_every"] == 0:
            if cycle == 0:
                add_low_rank(model, config["rank"], config["scale"])
            else:
                merge_low_rank(model)
            optimizer = optimizer_for(model, config["learning_rate"])
            cycle += 1
        loss = train_epoch(model, training, optimizer, config["batch_size"])
        validation_loss, accuracy = validate(model, validation, config["kinds"])
        record = {
            "epoch": epoch,
            "cycle": cycle,
            "loss": loss,
            "validation_loss": validation_loss,
            "closing_accuracy": accuracy,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
