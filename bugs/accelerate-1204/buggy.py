"""Train a small language model in two sessions: the second one loads with Accelerate what the first one has saved.

Every epoch prints one JSON object: the loss on other sentences before the epoch, the loss in training, and the loss on
other sentences after it. At the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`,
is by default the `config.json` beside this file.
"""

import json
import sys
import tempfile
from pathlib import Path

import sentences
import torch
from accelerate import load_checkpoint_and_dispatch
from safetensors.torch import save_model
from torch import nn


class LanguageModel(nn.Module):
    """A transformer that sees the words so far; one table of words serves its input and its output."""

    def __init__(self, words, length, width):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.positions = nn.Embedding(length, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.tie_weights()

    def tie_weights(self):
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        length = tokens.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(length, device=tokens.device)
        hidden = self.embedding(tokens) + self.positions.weight[:length]
        return self.head(self.norm(self.layers(hidden, mask=mask, is_causal=True)))


def next_word_loss(model, tokens):
    return nn.functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())


def train_epoch(model, tokens, optimizer, batch_size):
    model.train()
    total = 0.0
    for batch in torch.randperm(len(tokens)).to(tokens.device).split(batch_size):
        loss = next_word_loss(model, tokens[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(tokens)


@torch.no_grad()
def evaluate(model, tokens):
    model.eval()
    return next_word_loss(model, tokens).item()


def train_session(model, train, validation, epochs, config, records):
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])
    for epoch in epochs:
        record = {
            "epoch": epoch,
            "loss_before": evaluate(model, validation),
            "loss": train_epoch(model, train, optimizer, config["batch_size"]),
            "validation_loss": evaluate(model, validation),
        }
        print(json.dumps(record), flush=True)
        records.append(record)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    size = (config["words"], config["length"], config["width"])
    train = sentences.load(config["words"], config["sentences"], config["length"], seed=2 * config["seed"] + 1)
    validation = sentences.load(config["words"], 200, config["length"], seed=2 * config["seed"] + 2)
    train, validation = train.to(device), validation.to(device)

    half = config["num_epoch"] // 2
    records = []
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = f"{folder}/model.safetensors"
        model = LanguageModel(*size).to(device)
        train_session(model, train, validation, range(1, half + 1), config, records)
        save_model(model, checkpoint, metadata={"format": "pt"})

        model = LanguageModel(*size)
        model = load_checkpoint_and_dispatch(model, checkpoint, device_map={"": device})
        train_session(model, train, validation, range(half + 1, config["num_epoch"] + 1), config, records)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
