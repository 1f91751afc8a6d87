"""Adapt a network for handwritten digits to mirrored ones with AdaMSS of PEFT; halfway go on from the saved adapter.

The network first learns digits with all of its weights. Then an adapter learns mirrored ones. Every epoch of that
prints one JSON object: the accuracy on other mirrored images before the epoch, the mean loss in training, and loss and
accuracy on the other images after it. At the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import copy
import json
import sys
from pathlib import Path

import digits
import torch
from peft import AdamssConfig, PeftModel, get_peft_model
from torch import nn


class Classifier(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(64, width)
        self.second = nn.Linear(width, width)
        self.head = nn.Linear(width, 10)

    def forward(self, images):
        return self.head(self.second(self.first(images.flatten(1)).relu()).relu())


def adapt(base):
    adamss = AdamssConfig(target_modules=["first", "second"])
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return get_peft_model(copy.deepcopy(base), adamss)


def load_adapter(base, folder):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return PeftModel.from_pretrained(copy.deepcopy(base), folder, is_trainable=True)


def make_optimizer(model, learning_rate):
    return torch.optim.Adam([weight for weight in model.parameters() if weight.requires_grad], lr=learning_rate)


def train_epoch(model, images, labels, optimizer, criterion, batch_size):
    model.train()
    total = 0.0
    for batch in torch.randperm(len(images)).to(images.device).split(batch_size):
        loss = criterion(model(images[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(images)


@torch.no_grad()
def evaluate(model, images, labels, criterion):
    model.eval()
    outputs = model(images)
    accuracy = (outputs.argmax(1) == labels).float().mean().item()
    return criterion(outputs, labels).item(), accuracy


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    train, validation = digits.load(device)
    mirrored, mirrored_validation = ((images.flip(-1), labels) for images, labels in (train, validation))
    criterion = nn.CrossEntropyLoss()

    base = Classifier(config["width"]).to(device)
    optimizer = torch.optim.Adam(base.parameters(), lr=config["pretraining_rate"])
    for _ in range(config["pretraining_epochs"]):
        train_epoch(base, *train, optimizer, criterion, config["batch_size"])

    model = adapt(base)
    optimizer = make_optimizer(model, config["learning_rate"])
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        _, accuracy_before = evaluate(model, *mirrored_validation, criterion)
        loss = train_epoch(model, *mirrored, optimizer, criterion, config["batch_size"])
        validation_loss, accuracy = evaluate(model, *mirrored_validation, criterion)
        record = {
            "epoch": epoch,
            "accuracy_before": accuracy_before,
            "loss": loss,
            "validation_loss": validation_loss,
            "accuracy": accuracy,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
        if epoch == config["stop_epoch"]:
            folder = config["output"] + "-adapter"
            model.save_pretrained(folder)
            states = optimizer.state_dict()
            model = load_adapter(base, folder)
            optimizer = make_optimizer(model, config["learning_rate"])
            optimizer.load_state_dict(states)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
