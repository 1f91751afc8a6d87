"""Teach a small recurrent network to spell numbers, and judge it by BLEU scores of TorchMetrics.

Every epoch prints one JSON object: the loss in training, and in validation BLEU with n-grams of one word, of at most
two, three and four, and the share of the numbers that are spelled right. At the end all of them go to `<output>.json`.
The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import spelling
import torch
from torch import nn
from torch.nn import functional
from torchmetrics import MetricCollection
from torchmetrics.text import BLEUScore


class Speller(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.digits = nn.Embedding(10, width)
        self.words = nn.Embedding(words, width)
        self.encoder = nn.GRU(width, width, batch_first=True)
        self.decoder = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, words)

    def forward(self, digits, words):
        """Logits of each word, from the digits and the words before it."""
        before = functional.pad(words[:, :-1], (1, 0))
        _, state = self.encoder(self.digits(digits))
        return self.head(self.decoder(self.words(before), state)[0])

    def spell(self, digits, length):
        _, state = self.encoder(self.digits(digits))
        word = torch.zeros(len(digits), 1, dtype=torch.long, device=digits.device)
        spelled = []
        for _ in range(length):
            out, state = self.decoder(self.words(word), state)
            word = self.head(out).argmax(-1)
            spelled.append(word)
        return torch.cat(spelled, 1)


def make_metrics():
    return MetricCollection({f"bleu_{n}": BLEUScore(n_gram=n) for n in range(1, 5)})


@torch.no_grad()
def evaluate(model, digits, words, metrics, batch_size):
    model.eval()
    metrics.reset()
    right = 0
    for batch in torch.arange(len(digits)).split(batch_size):
        spelled = model.spell(digits[batch], words.shape[1])
        answers = [spelling.sentence(row) for row in spelled.tolist()]
        truths = [spelling.sentence(row) for row in words[batch].tolist()]
        metrics.update(answers, [[truth] for truth in truths])
        right += sum(answer == truth for answer, truth in zip(answers, truths, strict=True))
    scores = {name: score.item() for name, score in metrics.compute().items()}
    return {**scores, "right": right / len(digits)}


def train_epoch(model, digits, words, optimizer, batch_size):
    model.train()
    total = 0.0
    for batch in torch.randperm(len(digits)).to(digits.device).split(batch_size):
        logits = model(digits[batch], words[batch])
        loss = functional.cross_entropy(logits.flatten(0, 1), words[batch].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(digits)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    train, validation = spelling.load(config["train"], config["validation"], device)
    model = Speller(len(spelling.WORDS), config["width"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    metrics = make_metrics().to(device)
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, *train, optimizer, config["batch_size"])
        record = {"epoch": epoch, "loss": loss, **evaluate(model, *validation, metrics, config["batch_size"])}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
