"""Teach a network to find images of the same digit, and judge it by its worst queries, by a metric of TorchMetrics.

Every epoch prints one JSON object: the loss in training and in validation, the average precision that nine tenths of
the queries reach in validation, and the epoch whose model is kept, the first one with the best score. At the end all of
them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this
file.
"""

import copy
import json
import sys
from pathlib import Path

import digits
import torch
from torch import nn
from torch.nn import functional
from torchmetrics.functional.retrieval import retrieval_average_precision


class Embedding(nn.Module):
    def __init__(self, width, size):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(64, width), nn.ReLU(), nn.Linear(width, size))

    def forward(self, images):
        return functional.normalize(self.layers(images), dim=-1)


def compare(embedded, labels):
    """Similarity and sameness of each image and each other one."""
    others = ~torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    shape = len(labels), len(labels) - 1
    similarity = (embedded @ embedded.T)[others].view(shape)
    same = (labels[:, None] == labels)[others].view(shape)
    return similarity, same


def neighbour_loss(similarity, same, temperature):
    """How little of a softmax over all other images falls upon those of the same digit."""
    shares = (similarity / temperature).softmax(1)
    return -(shares * same).sum(1).clamp_min(1e-6).log().mean()


def lowest_tenth(values, dim=None):
    return values.quantile(0.1, dim=dim)


def lowest_precision(similarity, same):
    queries = range(len(same))
    return lowest_tenth(torch.stack([retrieval_average_precision(similarity[i], same[i]) for i in queries]))


@torch.no_grad()
def evaluate(model, images, labels, metric, temperature):
    model.eval()
    similarity, same = compare(model(images), labels)
    score = metric(similarity, same)
    return neighbour_loss(similarity, same, temperature).item(), score.item()


def train_epoch(model, images, labels, optimizer, batch_size, temperature):
    model.train()
    total = 0.0
    for batch in torch.randperm(len(images)).to(images.device).split(batch_size):
        loss = neighbour_loss(*compare(model(images[batch]), labels[batch]), temperature)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(images)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    temperature = config["temperature"]
    train, validation = digits.load(device)
    model = Embedding(config["width"], config["size"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    metric = lowest_precision
    best, kept, kept_epoch = -1.0, None, 0
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, *train, optimizer, config["batch_size"], temperature)
        validation_loss, score = evaluate(model, *validation, metric, temperature)
        if score > best:
            best, kept, kept_epoch = score, copy.deepcopy(model.state_dict()), epoch
        record = {
            "epoch": epoch,
            "loss": loss,
            "validation_loss": validation_loss,
            "score": score,
            "kept_epoch": kept_epoch,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    torch.save(kept, config["output"] + ".pt")
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
