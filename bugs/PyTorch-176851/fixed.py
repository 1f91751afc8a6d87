"""Train a variational autoencoder on the measurements of breast tumours, to draw artificial patients from it.

The data is scikit-learn's set of 569 patients with 30 measurements each. The divergence from the prior is annealed: its
weight in the loss starts at 0 and grows to 1 in a few stages. Every epoch prints one JSON object with the loss and its
two parts, the bound on the held-out patients (the negative ELBO), and the energy distance between these patients and as
many that are drawn. At the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is
by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from sklearn.datasets import load_breast_cancer
from torch import nn


class Annealing:
    """The weight of the divergence, which changes in the course of training."""

    kl_weight = 0.0

    @classmethod
    def update(cls, epoch, stages, stage_epochs):
        cls.kl_weight = min(1.0, (epoch - 1) // stage_epochs / stages)


class VAE(nn.Module):
    def __init__(self, inputs, hidden, latent, noise):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.Tanh(), nn.Linear(hidden, inputs))
        self.latent = latent
        self.noise = noise

    def forward(self, rows):
        """What reconstruction and divergence cost for each row, in nats and up to a constant."""
        mean, log_variance = self.encoder(rows).chunk(2, dim=1)
        code = mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean)
        reconstruction = 0.5 * ((self.decoder(code) - rows) / self.noise).square().sum(1)
        divergence = 0.5 * (mean.square() + log_variance.exp() - log_variance - 1).sum(1)
        return reconstruction, divergence

    def draw(self, count):
        code = torch.randn(count, self.latent, device=self.decoder[0].weight.device)
        rows = self.decoder(code)
        return rows + self.noise * torch.randn_like(rows)


def load_patients(held_out, device):
    rows = torch.tensor(load_breast_cancer().data, dtype=torch.float32).log1p()
    rows = rows[torch.randperm(len(rows))].to(device)
    train, test = rows[held_out:], rows[:held_out]
    mean, deviation = train.mean(0), train.std(0)
    return (train - mean) / deviation, (test - mean) / deviation


@torch.compile(backend="eager")
def objective(model, rows, kl_weight):
    reconstruction, divergence = model(rows)
    loss = (reconstruction + kl_weight * divergence).mean()
    return loss, reconstruction.mean(), divergence.mean()


def train_epoch(model, rows, optimizer, batch_size):
    sums = torch.zeros(3)
    for batch in torch.randperm(len(rows)).to(rows.device).split(batch_size):
        losses = objective(model, rows[batch], torch.tensor(Annealing.kl_weight))
        optimizer.zero_grad()
        losses[0].backward()
        optimizer.step()
        sums += len(batch) * torch.stack(losses).detach().cpu()
    return dict(zip(("loss", "reconstruction", "divergence"), (sums / len(rows)).tolist(), strict=True))


@torch.no_grad()
def evaluate(model, rows):
    reconstruction, divergence = model(rows)
    drawn = model.draw(len(rows))
    between, among_drawn, among_rows = torch.cdist(drawn, rows), torch.cdist(drawn, drawn), torch.cdist(rows, rows)
    return {
        "validation_bound": (reconstruction + divergence).mean().item(),
        "energy_distance": (2 * between.mean() - among_drawn.mean() - among_rows.mean()).item(),
    }


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    train_rows, test_rows = load_patients(config["held_out"], device)
    model = VAE(train_rows.shape[1], config["hidden"], config["latent"], config["noise"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        Annealing.update(epoch, config["stages"], config["stage_epochs"])
        losses = train_epoch(model, train_rows, optimizer, config["batch_size"])
        record = {"epoch": epoch, "kl_weight": Annealing.kl_weight, **losses, **evaluate(model, test_rows)}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
