"""Train a network of 2-bit weights to read handwritten digits, with torchao.

The network learns in full precision first. Then its layers get fake quantizers: they round what they compute with, and
the weights behind that are trained further. Every epoch of this second part prints one JSON object: the loss in
training, and loss and accuracy on other digits, all of the rounded network. At the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional
from torchao.quantization import quantize_
from torchao.quantization.qat import IntxFakeQuantizeConfig, QATConfig


def load(count, seed):
    """Images and digits to train with, and others to validate with."""
    bunch = load_digits()
    images = torch.tensor(bunch.data / 16, dtype=torch.float32)
    digits = torch.tensor(bunch.target)
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(seed))
    training, others = order[:count], order[count:]
    return (images[training], digits[training]), (images[others], digits[others])


def network(pixels, width):
    return nn.Sequential(nn.Linear(pixels, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))


class StraightThrough(nn.Module):
    """What a quantizer makes of its input; gradients pass as if it did nothing."""

    def __init__(self, quantizer):
        super().__init__()
        self.quantizer = quantizer

    def forward(self, values):
        return values + (self.quantizer(values) - values).detach()


def prepare(model, group_size):
    """Let each layer compute with weights of two bits and inputs of eight."""
    inputs = IntxFakeQuantizeConfig(torch.int8, "per_token", is_symmetric=False)
    weights = IntxFakeQuantizeConfig(torch.int2, group_size=group_size)
    quantize_(model, QATConfig(activation_config=inputs, weight_config=weights, step="prepare"))
    for layer in model:
        if isinstance(layer, nn.Linear):
            layer.activation_fake_quantizer = StraightThrough(layer.activation_fake_quantizer)
            layer.weight_fake_quantizer = StraightThrough(layer.weight_fake_quantizer)


def train_one_epoch(model, optimizer, images, digits, batch_size):
    total = 0.0
    for batch in torch.randperm(len(images), device=images.device).split(batch_size):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(images[batch]), digits[batch])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(images)


@torch.no_grad()
def validate(model, images, digits):
    scores = model(images)
    return {
        "validation_loss": functional.cross_entropy(scores, digits).item(),
        "accuracy": (scores.argmax(1) == digits).double().mean().item(),
    }


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    sets = load(config["images"], config["seed"])
    training, validation = (tuple(part.to(device) for part in columns) for columns in sets)
    model = network(training[0].shape[1], config["width"]).to(device)

    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    for _ in range(config["first_epochs"]):
        train_one_epoch(model, optimizer, *training, config["batch_size"])

    prepare(model, config["group_size"])
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_one_epoch(model, optimizer, *training, config["batch_size"])
        record = {"epoch": epoch, "loss": loss, **validate(model, *validation)}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
