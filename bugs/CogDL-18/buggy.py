"""Predict which proteins bind to each other, from those that are known to, with a graph autoencoder.

The pairs of a network are split at random: 85 % to train, 5 % to choose the best epoch, 10 % to test. Every few epochs
one JSON object is printed: the loss in training, how well pairs that bind are told from others in validation and in
test (area under the ROC curve), and of which epoch the weights are that are kept. At the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import copy
import json
import logging
import sys
from pathlib import Path

import proteins
import torch
from torch import nn
from torch_geometric import seed_everything
from torch_geometric.nn import GAE, SAGEConv
from torch_geometric.utils import negative_sampling, to_undirected

logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)


class Encoder(nn.Module):
    """A vector for each protein, out of its own and those of the proteins around it."""

    def __init__(self, nodes, width):
        super().__init__()
        self.vectors = nn.Embedding(nodes, width)
        self.first, self.second = SAGEConv(width, width), SAGEConv(width, width)

    def forward(self, edge_index):
        hidden = self.first(self.vectors.weight, edge_index).relu()
        return self.second(hidden, edge_index)


def split_edges(edge_index, shares):
    """Split the edges at random; the last part gets what the others leave."""
    edges = list(zip(*edge_index.tolist(), strict=True))
    sizes = [int(share * len(edges)) for share in shares]
    order = torch.randperm(len(edges))
    parts = order.split([*sizes, len(edges) - sum(sizes)])
    return [torch.tensor([edges[index] for index in part.tolist()]).T for part in parts]


def train_epoch(model, edges, optimizer):
    """One step with all edges that are there, and as many that are not."""
    model.train()
    optimizer.zero_grad()
    z = model.encode(edges)
    loss = model.recon_loss(z, edges)
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def evaluate(model, edges, positive, negative):
    """The area under the ROC curve."""
    model.eval()
    area, _ = model.test(model.encode(edges), positive, negative)
    return float(area)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    seed_everything(config["seed"])

    network = proteins.load(config["proteins"], config["seed"])
    train, validation, test = split_edges(network, [0.85, 0.05])
    unbound = negative_sampling(network, config["proteins"], validation.shape[1] + test.shape[1])
    validation_unbound, test_unbound = unbound.split([validation.shape[1], test.shape[1]], 1)
    edges = to_undirected(train).to(device)
    validation_pairs = validation.to(device), validation_unbound.to(device)
    test_pairs = test.to(device), test_unbound.to(device)
    model = GAE(Encoder(config["proteins"], config["width"])).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    best, best_epoch, best_weights = -1.0, 0, None
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, edges, optimizer)
        if epoch % config["evaluate_every"]:
            continue
        area = evaluate(model, edges, *validation_pairs)
        if area > best:
            best, best_epoch, best_weights = area, epoch, copy.deepcopy(model.state_dict())
        record = {
            "epoch": epoch,
            "loss": loss,
            "validation_auc": area,
            "test_auc": evaluate(model, edges, *test_pairs),
            "best_epoch": best_epoch,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))

    model.load_state_dict(best_weights)
    logging.info("test, with the weights of epoch %d: %.3f", best_epoch, evaluate(model, edges, *test_pairs))


if __name__ == "__main__":
    main()
