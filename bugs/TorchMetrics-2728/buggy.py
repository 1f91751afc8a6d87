"""Teach a small recurrent network to say what time it is, and judge it by BERTScore of TorchMetrics.

Every epoch prints one JSON object: the loss in training, and in validation BERTScore (F1, the mean of all times) and
the share of the times that are said right. At the end all of them go to `<output>.json`. The one argument, a JSON file
with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import clock
import torch
from torch import nn
from torch.nn import functional
from torchmetrics.text.bert import BERTScore

MAX_LENGTH = 12


class Speaker(nn.Module):
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

    def say(self, digits, length):
        _, state = self.encoder(self.digits(digits))
        word = torch.zeros(len(digits), 1, dtype=torch.long, device=digits.device)
        said = []
        for _ in range(length):
            out, state = self.decoder(self.words(word), state)
            word = self.head(out).argmax(-1)
            said.append(word)
        return torch.cat(said, 1)


class WordTokenizer:
    """Gives a vector for each word, with a first and a last one, and a mask of what is no padding."""

    def __init__(self, width):
        names = ["<pad>", "<cls>", "<sep>", *clock.WORDS]
        vectors = torch.randn(len(names), width, generator=torch.Generator().manual_seed(0))
        self.vectors = dict(zip(names, vectors, strict=True))

    def __call__(self, sentences, max_length):
        rows = [["<cls>", *sentence.split(), "<sep>"] for sentence in sentences]
        padded = [row + ["<pad>"] * (max_length - len(row)) for row in rows]
        return {
            "input_ids": torch.stack([torch.stack([self.vectors[word] for word in row]) for row in padded]),
            "attention_mask": torch.tensor([[int(word != "<pad>") for word in row] for row in padded]),
        }


def embed(encoder, batch):
    return encoder(batch["input_ids"], src_key_padding_mask=batch["attention_mask"] == 0)


def make_metric(width, device):
    layer = nn.TransformerEncoderLayer(width, nhead=2, batch_first=True)
    encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False).requires_grad_(False)
    return BERTScore(
        model=encoder,
        user_tokenizer=WordTokenizer(width),
        user_forward_fn=embed,
        max_length=MAX_LENGTH,
        device=device,
    )


def score(metric, answers, truths):
    metric.reset()
    metric.update(answers, truths)
    return metric.compute()["f1"].mean().item()


@torch.no_grad()
def evaluate(model, digits, words, metric):
    model.eval()
    said = model.say(digits, words.shape[1])
    answers = [clock.sentence(row) for row in said.tolist()]
    truths = [clock.sentence(row) for row in words.tolist()]
    right = sum(answer == truth for answer, truth in zip(answers, truths, strict=True))
    return {"f1": score(metric, answers, truths), "right": right / len(truths)}


def train_epoch(model, digits, words, optimizer, batch_size, generator):
    model.train()
    total = 0.0
    for batch in torch.randperm(len(digits), generator=generator).to(digits.device).split(batch_size):
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
    train, validation = clock.load(config["train"], device)
    model = Speaker(len(clock.WORDS), config["width"]).to(device)
    metric = make_metric(config["metric_width"], device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    generator = torch.Generator().manual_seed(config["seed"])
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, *train, optimizer, config["batch_size"], generator)
        record = {"epoch": epoch, "loss": loss, **evaluate(model, *validation, metric)}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
