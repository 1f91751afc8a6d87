"""Train one parameter with Adam; the optimizer step is compiled.

The second of three iterations has no gradient. Every iteration prints one JSON object; at the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
import torch._dynamo


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    parameter = torch.nn.Parameter(torch.ones(1, device=device))
    optimizer = torch.optim.Adam([parameter], lr=config["learning_rate"])
    step = torch._dynamo.optimize("eager")(optimizer.step)

    records = []
    for iteration in range(1, 4):
        optimizer.zero_grad()
        loss = parameter.square().sum()
        if iteration != 2:
            loss.backward()
        if parameter.grad is not None:
            step()
        record = {"iteration": iteration, "loss": loss.item()}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
