"""Train two linear layers with Adam on a GPU; its compiled step is captured in CUDA graphs.

The fourth of twelve iterations has no gradients: the model is frozen for it. CUDA graphs need the step counter on the
GPU, which is what `capturable` is for. Every iteration prints one JSON object; at the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda"
    torch.manual_seed(config["seed"])

    inputs = torch.randn(64, 8, device=device)
    targets = inputs.sum(1, keepdim=True)
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"], capturable=True)
    step = torch.compile(optimizer.step, mode="reduce-overhead")

    records = []
    for iteration in range(1, 13):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        if iteration != 4:
            loss.backward()
        step()
        record = {"iteration": iteration, "loss": loss.item()}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
