"""Train a network for handwritten digits, then quantise its activations and train on, so that it gets used to that.

The data is scikit-learn's set of digits with 8x8 pixels. In the second phase a hook rounds what each activation
function gives to a few levels, as the device will do that the network is meant for; gradients pass the rounding as if
it were not there. Every epoch prints one JSON object: its phase, the loss of training, and the accuracy on other digits
of the compiled network and of the network as it is deployed, without the compiler. At the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.functional import cross_entropy


class Quantiser:
    """Rounds the output of a module to equally spaced levels from 0 to a limit."""

    def __init__(self, levels, limit):
        self.limit = limit
        self.step = limit / (levels - 1)

    def __call__(self, module, inputs, output):
        clipped = output.clamp(0, self.limit)
        rounded = self.step * torch.round(clipped / self.step)
        return clipped + (rounded - clipped).detach()


def network(hidden):
    return nn.Sequential(
        nn.Linear(64, hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(hidden, 10),
    )


def load_data(held_out, device):
    digits = load_digits()
    images = torch.tensor(digits.data, dtype=torch.float32) / 16
    labels = torch.tensor(digits.target)
    order = torch.randperm(len(labels))
    images, labels = images[order].to(device), labels[order].to(device)
    return (images[held_out:], labels[held_out:]), (images[:held_out], labels[:held_out])


def quantise(model, levels, limit):
    quantiser = Quantiser(levels, limit)
    for module in model:
        if isinstance(module, nn.ReLU):
            module.register_forward_hook(quantiser)


def train_epoch(model, images, labels, optimizer, batch_size):
    total = 0.0
    for batch in torch.randperm(len(images)).to(images.device).split(batch_size):
        loss = cross_entropy(model(images[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(images)


@torch.no_grad()
def evaluate(model, images, labels):
    return (model(images).argmax(1) == labels).float().mean().item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch._dynamo.config.skip_nnmodule_hook_guards = False

    train_data, test_data = load_data(config["held_out"], device)
    model = network(config["hidden"]).to(device)
    compiled = torch.compile(model, backend="eager")
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        phase = 1 if epoch <= config["first_epochs"] else 2
        if epoch == config["first_epochs"] + 1:
            quantise(model, config["levels"], config["limit"])
        loss = train_epoch(compiled, *train_data, optimizer, config["batch_size"])
        record = {
            "epoch": epoch,
            "phase": phase,
            "loss": loss,
            "accuracy": evaluate(compiled, *test_data),
            "deployed_accuracy": evaluate(model, *test_data),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
