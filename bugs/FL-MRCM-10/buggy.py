"""Tell gases by the readings of an old instrument, though the gases are known for those of a new one only.

An encoder is trained to tell the gases by the new instrument's readings, and to make features by which a discriminator
cannot tell the instruments. Every second epoch prints one JSON object: the losses in training, and the share of gases
that are told from the old instrument's readings. At the end all of them go to `<output>.json`. The one argument, a JSON
file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import gases
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset


class Network(nn.Module):
    def __init__(self, inputs, classes, width, features):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, features))
        self.classifier = nn.Sequential(nn.ReLU(), nn.Linear(features, classes))

    def forward(self, readings):
        """The scores of the gases, and the features."""
        features = self.encoder(readings)
        return self.classifier(features), features


def build_discriminator(features, width):
    return nn.Sequential(nn.Linear(features, width), nn.LeakyReLU(0.2), nn.Linear(width, 1))


def mean(values):
    return sum(values) / len(values)


def train_epoch(network, discriminator, loaders, optimizers, weight, device):
    """One pass; the mean loss, and its parts: the gases, the encoder against the discriminator, the discriminator."""
    network.train()
    discriminator.train()
    optimizer, optimizer_d = optimizers
    bce = nn.BCEWithLogitsLoss()
    losses, losses_gas, losses_adv, losses_d = [], [], [], []
    for (readings, labels), (readings_t, _) in zip(*loaders, strict=True):
        scores, z = network(readings.to(device))
        _, z_t = network(readings_t.to(device))
        new = torch.ones(len(z), 1, device=device)
        old = torch.zeros(len(z_t), 1, device=device)

        optimizer_d.zero_grad()
        loss_d = (bce(discriminator(z.detach()), new) + bce(discriminator(z_t.detach()), old)) / 2
        loss_d.backward()
        optimizer_d.step()
        losses_d.append(loss_d.item())

        discriminator.requires_grad_(False)
        loss_adv = (bce(discriminator(z), 1 - new) + bce(discriminator(z_t), 1 - old)) / 2
        loss_adv = loss_adv.detach().item()
        losses_adv.append(loss_adv)
        loss_gas = cross_entropy(scores, labels.to(device))
        losses_gas.append(loss_gas.item())
        loss = loss_gas + weight * loss_adv
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        discriminator.requires_grad_(True)
    return {
        "loss": mean(losses),
        "gas_loss": mean(losses_gas),
        "adversarial_loss": mean(losses_adv),
        "discriminator_loss": mean(losses_d),
    }


@torch.no_grad()
def measure_accuracy(network, readings, labels, device):
    network.eval()
    scores, _ = network(readings.to(device))
    return (scores.argmax(1).cpu() == labels).float().mean().item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    seed, noise, drift = config["seed"], config["noise"], config["drift"]
    source = gases.load(config["samples"], 0, noise, drift, 100 + seed, 4 * seed)
    target = gases.load(config["samples"], config["aged"], noise, drift, 100 + seed, 4 * seed + 1)
    source_test = gases.load(config["test_samples"], 0, noise, drift, 100 + seed, 4 * seed + 2)
    target_test = gases.load(config["test_samples"], config["aged"], noise, drift, 100 + seed, 4 * seed + 3)
    loaders = [DataLoader(TensorDataset(*part), config["batch_size"], shuffle=True) for part in (source, target)]

    network = Network(gases.SENSORS, len(gases.GASES), config["width"], config["features"]).to(device)
    discriminator = build_discriminator(config["features"], config["width"]).to(device)
    optimizers = [
        torch.optim.Adam(network.parameters(), lr=config["learning_rate"], betas=(0.5, 0.99)),
        torch.optim.Adam(discriminator.parameters(), lr=config["learning_rate_discriminator"], betas=(0.5, 0.99)),
    ]

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        losses = train_epoch(network, discriminator, loaders, optimizers, config["adversarial_weight"], device)
        if epoch % 2 == 0:
            record = {
                "epoch": epoch,
                **losses,
                "source_accuracy": measure_accuracy(network, *source_test, device),
                "target_accuracy": measure_accuracy(network, *target_test, device),
            }
            print(json.dumps(record), flush=True)
            records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
