"""Train an LSTM that tags each word of a made text, and validate it after every epoch.

Each epoch prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Tagger(nn.Module):
    def __init__(self, words, tags, embedding, hidden):
        super().__init__()
        self.embedding = nn.Embedding(words, embedding)
        self.lstm = nn.LSTM(embedding, hidden)
        self.output = nn.Linear(hidden, tags)

    def forward(self, texts):
        states, _ = self.lstm(self.embedding(texts))
        return self.output(states)


def dialogues(number, length, words, speakers, generator):
    """Texts, and for each word who says it: the speaker named last, or nobody (tag 0) before the first name.

    The words 1 to `speakers` are the names. They are as frequent as any other word.
    """
    texts = torch.randint(words, (number, length), generator=generator)
    tags = torch.zeros_like(texts)
    for place in range(length):
        word = texts[:, place]
        before = tags[:, place - 1] if place else torch.zeros_like(word)
        tags[:, place] = torch.where((word >= 1) & (word <= speakers), word, before)
    return TensorDataset(texts, tags)


@torch.no_grad()
def validate(model, loader, criterion, device):
    """The mean loss of a word, and the share of words that are tagged rightly."""
    model.eval()
    loss, right, count = 0.0, 0, 0
    for texts, tags in loader:
        texts, tags = texts.to(device), tags.to(device)
        outputs = model(texts)
        loss += criterion(outputs.flatten(0, 1), tags.flatten()).item() * tags.numel()
        right += (outputs.argmax(2) == tags).sum().item()
        count += tags.numel()
    model.train()
    return loss / count, right / count


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    kind = (config["length"], config["words"], config["speakers"])
    generator = torch.Generator().manual_seed(config["seed"])
    train_loader = DataLoader(
        dialogues(config["texts"], *kind, generator), batch_size=config["batch_size"], shuffle=True
    )
    validation_loader = DataLoader(
        dialogues(config["validation_texts"], *kind, generator), batch_size=config["batch_size"]
    )
    model = Tagger(config["words"], config["speakers"] + 1, config["embedding"], config["hidden"]).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        losses = []
        for texts, tags in train_loader:
            outputs = model(texts.to(device))
            loss = criterion(outputs.flatten(0, 1), tags.to(device).flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        validation_loss, accuracy = validate(model, validation_loader, criterion, device)
        record = {
            "epoch": epoch,
            "loss": sum(losses) / len(losses),
            "validation_loss": validation_loss,
            "validation_accuracy": accuracy,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
