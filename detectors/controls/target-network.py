"""Learn the values of a walk by temporal differences, against a copy of the network that is renewed now and then.

Every fiftieth step prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import copy
import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    values = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1)).to(device)
    target = copy.deepcopy(values).eval()
    optimizer = torch.optim.RMSprop(values.parameters(), lr=config["learning_rate"])

    records = []
    for step in range(1, config["steps"] + 1):
        place = 2 * torch.rand(config["batch_size"], 1, device=device) - 1
        following = (place + 0.2 * torch.randn_like(place)).clamp(-1, 1)
        with torch.no_grad():
            wanted = place.abs() + 0.9 * target(following)
        loss = functional.smooth_l1_loss(values(place), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            target.load_state_dict(values.state_dict())
        if step % 50 == 1:
            record = {"step": step, "loss": loss.item(), "value": wanted.mean().item()}
            print(json.dumps(record), flush=True)
            records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
