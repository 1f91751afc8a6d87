"""Learn the energy of small clusters of atoms of two kinds from the distances between the atoms.

The energy is the sum of a table: off the diagonal what each pair of atoms contributes, by a network of their kinds and
their distance, and on the diagonal what each atom contributes by itself. The sum is compiled. The clusters and their
energies, those of Morse potentials less their mean, are made. Every epoch prints one JSON object with the loss of
training, and the root of the mean squared error per atom for other clusters. At the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional


def sum_table(pairs, atoms):
    """The energy of each cluster, by the energies of its pairs and of its atoms."""
    return torch.diagonal_scatter(pairs, atoms, dim1=1, dim2=2).sum((1, 2))


class Potential(nn.Module):
    def __init__(self, waves, width, reach):
        super().__init__()
        self.atoms = nn.Embedding(2, 1)
        self.pairs = nn.Sequential(
            nn.Linear(waves + 3, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1)
        )
        self.register_buffer("centres", torch.linspace(0.5, reach, waves))
        self.sharpness = (waves / reach) ** 2

    def describe_pairs(self, places, kinds):
        """For each pair, the distance in a basis of Gaussians, and of which kinds the two atoms are."""
        distances = torch.cdist(places, places).unsqueeze(3)
        basis = torch.exp(-self.sharpness * (distances - self.centres) ** 2)
        return torch.cat([basis, functional.one_hot(kinds.unsqueeze(1) + kinds.unsqueeze(2), 3)], dim=3)

    def forward(self, places, kinds, sum_up=sum_table):
        pairs = self.pairs(self.describe_pairs(places, kinds)).squeeze(3)
        return sum_up(pairs, self.atoms(kinds).squeeze(2))


def make_clusters(count, size, device):
    """Places of the atoms, their kinds, and the energy per cluster."""
    corners = torch.cartesian_prod(*[torch.arange(2.0)] * 3)
    chosen = torch.rand(count, len(corners)).argsort(dim=1)[:, :size]
    places = 1.25 * corners[chosen] + 0.12 * torch.randn(count, size, 3)
    kinds = torch.randint(2, (count, size))
    both = kinds.unsqueeze(1) + kinds.unsqueeze(2)
    depths, lengths = torch.tensor([1.0, 1.6, 0.6])[both], torch.tensor([1.3, 1.15, 1.5])[both]
    distances = torch.cdist(places, places)
    energies = depths * ((1 - torch.exp(-2.0 * (distances - lengths))) ** 2 - 1)
    energies = energies.triu(1).sum((1, 2)) + torch.tensor([-1.5, -2.5])[kinds].sum(1)
    return places.to(device), kinds.to(device), energies.to(device)


def train_epoch(model, sum_up, places, kinds, energies, optimizer, batch_size):
    total = 0.0
    for batch in torch.randperm(len(energies)).to(energies.device).split(batch_size):
        loss = functional.mse_loss(model(places[batch], kinds[batch], sum_up), energies[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(energies)


@torch.no_grad()
def evaluate(model, places, kinds, energies):
    return {"error_per_atom": math.sqrt(functional.mse_loss(model(places, kinds), energies)) / kinds.shape[1]}


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    clusters = make_clusters(config["clusters"], config["size"], device)
    test_clusters = make_clusters(config["held_out"], config["size"], device)
    mean_energy = clusters[2].mean()
    clusters[2].sub_(mean_energy)
    test_clusters[2].sub_(mean_energy)
    model = Potential(config["waves"], config["width"], reach=3.0).to(device)
    compiled_sum = torch.compile(sum_table, backend="aot_eager")
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, compiled_sum, *clusters, optimizer, config["batch_size"])
        record = {"epoch": epoch, "loss": loss, **evaluate(model, *test_clusters)}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
