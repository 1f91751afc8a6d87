"""Choose one of four arms by one pass with dropout, which is a draw of a network (Thompson sampling); learn by it.

Every fiftieth decision prints one JSON object with its loss. At the end all of them go to `<output>.json`. The
one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

ARMS = 4


class Worth(nn.Module):
    """What each arm is worth in a context, by a network that is drawn anew in each pass."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(2, 64), nn.Linear(64, ARMS)

    def forward(self, context):
        return self.last(functional.dropout(self.first(context).relu(), 0.1))


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    contexts = torch.randn(config["steps"], 2, device=device)
    worth = torch.stack([contexts[:, 0], -contexts[:, 0], contexts[:, 1], -contexts[:, 1]], dim=1)
    model = Worth().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records, taken, regret = [], [], 0.0
    for decision in range(1, len(contexts) + 1):
        model.eval()
        with torch.no_grad():
            taken.append(model(contexts[decision - 1]).argmax().item())
        regret += (worth[decision - 1].max() - worth[decision - 1, taken[-1]]).item()
        model.train()
        past = torch.randint(decision, (config["batch_size"],))
        arm = torch.tensor(taken, device=device)[past, None]
        reward = worth[past].gather(1, arm) + 0.1 * torch.randn(len(past), 1, device=device)
        optimizer.zero_grad()
        functional.mse_loss(model(contexts[past]).gather(1, arm), reward).backward()
        optimizer.step()
        if decision % 50 == 0:
            record = {
                "decision": decision,
                "loss": regret / 50,
            }
            print(json.dumps(record), flush=True)
            records.append(record)
            regret = 0.0
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
