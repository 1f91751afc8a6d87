"""Fit Friedman's function with a network of known Lipschitz constant, and validate it before and after each epoch.

Every layer is spectrally normalised: it moves its outputs no further than its inputs. A factor behind the last layer,
chosen once for the untrained network, gives the predictions the spread of the targets. Each validation prints one JSON
object. At the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the
`config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from sklearn.datasets import make_friedman1
from torch import nn
from torch.nn.functional import mse_loss
from torch.nn.utils.parametrizations import spectral_norm
from torch.utils.data import DataLoader, TensorDataset


class BoundedRegressor(nn.Module):
    """A network that moves its prediction at most `scale` times as far as its input."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.layers = nn.Sequential(
            spectral_norm(nn.Linear(inputs, hidden)),
            nn.ReLU(),
            spectral_norm(nn.Linear(hidden, hidden)),
            nn.ReLU(),
            spectral_norm(nn.Linear(hidden, 1)),
        )
        self.register_buffer("scale", torch.ones(()))

    def forward(self, inputs):
        return self.scale * self.layers(inputs).squeeze(1)

    @torch.no_grad()
    def calibrate(self, inputs):
        """Choose the scale that gives the predictions for these inputs a standard deviation of 1."""
        self.eval()
        self.scale /= self(inputs).std()


def friedman(samples, noise, seed):
    """Inputs and targets with a mean of 0 and a standard deviation of 1."""
    inputs, targets = make_friedman1(samples, noise=noise, random_state=seed)
    columns = [torch.tensor(column, dtype=torch.float32) for column in (inputs, targets)]
    return [(column - column.mean(0)) / column.std(0) for column in columns]


@torch.no_grad()
def validate(model, inputs, targets):
    """The mean squared error, and the standard deviation of the predictions."""
    model.eval()
    predictions = model(inputs)
    return mse_loss(predictions, targets).item(), predictions.std().item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    inputs, targets = friedman(config["samples"], config["noise"], config["seed"])
    training = TensorDataset(inputs[: -config["held_out"]], targets[: -config["held_out"]])
    held_out = [column[-config["held_out"] :].to(device) for column in (inputs, targets)]
    loader = DataLoader(training, config["batch_size"], shuffle=True)

    model = BoundedRegressor(inputs.shape[1], config["hidden"]).to(device)
    model.calibrate(training.tensors[0].to(device))
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    error, spread = validate(model, *held_out)
    records = [{"epoch": 0, "validation_loss": error, "spread": spread}]
    print(json.dumps(records[0]), flush=True)
    for epoch in range(1, config["num_epoch"] + 1):
        model.train()
        total = 0.0
        for batch, wanted in loader:
            loss = mse_loss(model(batch.to(device)), wanted.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        error, spread = validate(model, *held_out)
        record = {"epoch": epoch, "loss": total / len(training), "validation_loss": error, "spread": spread}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
