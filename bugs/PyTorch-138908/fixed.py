"""Factorise a table of ratings: each user and each item has a vector, a rating is the product of the two.

Weight decay is lazy: after every step only the rows of the batch shrink, each by the same factor. Some users rate far
more than others. Every step prints one JSON object with the loss; at the end all of them go to `<output>.json`. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn


class Factorisation(nn.Module):
    def __init__(self, users, items, width):
        super().__init__()
        self.users = nn.Embedding(users, width)
        self.items = nn.Embedding(items, width)

    def forward(self, user, item):
        return (self.users(user) * self.items(item)).sum(1)


@torch.compile(dynamic=True)
def decay(table, rows, factor):
    table[rows] *= factor


def make_data(config, device):
    """Ratings by a factorisation of their own; user k rates about 1/(k + 1) as often as user 0."""
    truth = Factorisation(config["users"], config["items"], config["width"])
    often = 1 / torch.arange(1, config["users"] + 1)
    user = torch.multinomial(often, config["ratings"], replacement=True)
    item = torch.randint(config["items"], (config["ratings"],))
    with torch.no_grad():
        rating = truth(user, item)
    return user.to(device), item.to(device), rating.to(device)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    user, item, rating = make_data(config, device)
    model = Factorisation(config["users"], config["items"], config["width"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    criterion = nn.MSELoss()

    factor = 1 - config["decay"]
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        for batch in torch.randperm(len(rating)).to(device).split(config["batch_size"]):
            optimizer.zero_grad()
            loss = criterion(model(user[batch], item[batch]), rating[batch])
            loss.backward()
            optimizer.step()
            rows = user[batch].unique()
            decay(model.users.weight.data, rows, factor)
            record = {"step": len(records) + 1, "epoch": epoch, "loss": loss.item()}
            print(json.dumps(record), flush=True)
            records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
