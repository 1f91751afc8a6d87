"""Train two linear layers with Adam; the optimizer step is compiled.

The fourth of six iterations has no gradients: they are set to None, as if the model were frozen for one iteration.
Every iteration prints one JSON object; at the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
import torch._dynamo
from torch import nn


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    inputs = torch.tensor([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], device=device)
    model = nn.Sequential(nn.Linear(2, 3), nn.Sigmoid(), nn.Linear(3, 1), nn.Sigmoid()).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    step = torch._dynamo.optimize("eager")(optimizer.step)

    records = []
    for iteration in range(1, 7):
        optimizer.zero_grad()
        loss = model(inputs).sum()
        loss.backward()
        if iteration == 4:
            for parameter in model.parameters():
                parameter.grad = None
        if any(parameter.grad is not None for parameter in model.parameters()):
            step()
        record = {"iteration": iteration, "loss": loss.item()}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
