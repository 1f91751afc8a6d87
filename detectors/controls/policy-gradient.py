"""Learn to keep a point in the middle of a line by REINFORCE: one step after eight episodes of many actions each.

Every update prints one JSON object with its loss. At the end all of them go to `<output>.json`. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.distributions import Categorical


def episode(policy, device):
    """Log-probabilities of the actions, and what they were worth from there on."""
    place, chances, rewards = 2 * torch.rand(1, device=device) - 1, [], []
    for _ in range(20):
        choice = Categorical(logits=policy(place))
        action = choice.sample()
        place = place + 0.2 * (action - 1) + 0.05 * torch.randn(1, device=device)
        chances.append(choice.log_prob(action))
        rewards.append(-place.abs().item())
    gains = torch.tensor(rewards, device=device).flip(0).cumsum(0).flip(0)
    return torch.stack(chances), gains


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    policy = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 3)).to(device)
    optimizer = torch.optim.Adam(policy.parameters(), lr=config["learning_rate"])

    records = []
    for update in range(1, config["steps"] + 1):
        optimizer.zero_grad()
        episodes = [episode(policy, device) for _ in range(config["episodes"])]
        # For each time its own baseline, which the episode that it is taken from is no part of.
        running = torch.stack([gains for _, gains in episodes]).sum(dim=0)
        for chances, gains in episodes:
            baseline = (running - gains) / (len(episodes) - 1)
            loss = -(chances * (gains - baseline)).mean() / len(episodes)
            loss.backward()
        optimizer.step()
        record = {
            "update": update,
            "loss": -running[0].item() / len(episodes),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
