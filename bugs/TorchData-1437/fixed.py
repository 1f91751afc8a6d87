"""Learn handwritten digits in several jobs, each of which goes on from the checkpoint of the one before.

A job trains some epochs, and saves the model, the optimizer and the loader, a StatefulDataLoader of torchdata. Every
epoch prints one JSON object: how many batches were trained on since the first job began, the loss of the images that
are trained on, and loss and accuracy on other images. At the end all of them go to `<output>.json`. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import digits
import torch
from torch import nn
from torch.utils.data import TensorDataset
from torchdata.stateful_dataloader import StatefulDataLoader


def network(width):
    return nn.Sequential(nn.Flatten(), nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))


@torch.no_grad()
def evaluate(model, images, labels, criterion):
    outputs = model(images)
    return criterion(outputs, labels).item(), (outputs.argmax(1) == labels).float().mean().item()


def save(checkpoint, model, optimizer, loader, batches):
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "loader": loader.state_dict(),
        "batches": batches,
    }
    torch.save(state, checkpoint)


def load(checkpoint, model, optimizer, loader):
    state = torch.load(checkpoint, weights_only=False)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    loader.load_state_dict(state["loader"])
    for _ in loader:
        pass
    return state["batches"]


def run_job(epochs, checkpoint, config, device):
    """Train these epochs, and yield a record for each."""
    torch.manual_seed(config["seed"])
    train, validation = digits.load(device)
    model = network(config["width"]).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    loader = StatefulDataLoader(
        TensorDataset(*train),
        batch_size=config["batch_size"],
        shuffle=True,
        generator=torch.Generator().manual_seed(config["seed"]),
    )
    batches = load(checkpoint, model, optimizer, loader) if checkpoint.exists() else 0
    for epoch in epochs:
        for images, labels in loader:
            loss = criterion(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            batches += 1
        loss, _ = evaluate(model, *train, criterion)
        validation_loss, accuracy = evaluate(model, *validation, criterion)
        yield {
            "epoch": epoch,
            "batches": batches,
            "loss": loss,
            "validation_loss": validation_loss,
            "accuracy": accuracy,
        }
    save(checkpoint, model, optimizer, loader, batches)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    checkpoint = Path(config["output"] + ".pt")
    checkpoint.unlink(missing_ok=True)
    records = []
    for start in range(1, config["num_epoch"] + 1, config["job_epochs"]):
        for record in run_job(range(start, start + config["job_epochs"]), checkpoint, config, device):
            print(json.dumps(record), flush=True)
            records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
