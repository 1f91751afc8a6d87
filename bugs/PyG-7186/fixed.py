"""Train a graph convolutional network of PyTorch Geometric on handwritten digits, in batches of nodes.

Every epoch prints one JSON object: the loss in training, and loss and accuracy in validation, on the whole graph. At
the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the
`config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import neighbours
import torch
from torch import nn
from torch.nn import functional
from torch_geometric.nn import GCNConv
from torch_geometric.utils import subgraph


class Network(nn.Module):
    def __init__(self, width, dropout):
        super().__init__()
        self.first = GCNConv(64, width)
        self.second = GCNConv(width, 10)
        self.dropout = dropout

    def forward(self, x, edge_index):
        x = functional.dropout(x, self.dropout, self.training)
        x = self.first(x, edge_index).relu()
        x = functional.dropout(x, self.dropout, self.training)
        return self.second(x, edge_index)


def train_epoch(model, graph, optimizer, criterion, batch_size):
    model.train()
    nodes = graph.train_mask.nonzero().flatten()
    total = 0.0
    for batch in nodes[torch.randperm(len(nodes)).to(nodes.device)].split(batch_size):
        batch = batch.sort().values
        edge_index, _ = subgraph(batch, graph.edge_index, relabel_nodes=True, num_nodes=graph.num_nodes)
        loss = criterion(model(graph.x[batch], edge_index), graph.y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(nodes)


@torch.no_grad()
def evaluate(model, graph, criterion):
    model.eval()
    others = ~graph.train_mask
    prediction, labels = model(graph.x, graph.edge_index)[others], graph.y[others]
    return criterion(prediction, labels).item(), (prediction.argmax(1) == labels).float().mean().item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    graph = neighbours.load(config["neighbours"], config["train_images"], device)
    model = Network(config["width"], config["dropout"]).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"], weight_decay=config["weight_decay"])
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, graph, optimizer, criterion, config["batch_size"])
        validation_loss, accuracy = evaluate(model, graph, criterion)
        record = {
            "epoch": epoch,
            "loss": loss,
            "validation_loss": validation_loss,
            "validation_accuracy": accuracy,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
