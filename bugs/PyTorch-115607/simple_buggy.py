"""Train one parameter with Adam, once as ordinary Python and once with a compiled optimizer step.

The second of three iterations has no gradient. Every iteration prints one JSON object; at the end all of
them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json`
beside this file.
"""

import json
import sys
from pathlib import Path

import torch
import torch._dynamo


def train(mode, config, device):
    parameter = torch.nn.Parameter(torch.ones(1, device=device))
    optimizer = torch.optim.Adam([parameter], lr=config["learning_rate"])
    step = optimizer.step
    if mode == "dynamo":
        torch._dynamo.reset()
        step = torch._dynamo.optimize("eager")(optimizer.step)

    records = []
    for iteration in range(1, 4):
        optimizer.zero_grad()
        if iteration != 2:
            parameter.square().sum().backward()
        step()
        record = {
            "mode": mode,
            "iteration": iteration,
            "step": optimizer.state[parameter]["step"].item(),
            "parameters": parameter.tolist(),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    return records


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    records = train("eager", config, device) + train("dynamo", config, device)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
