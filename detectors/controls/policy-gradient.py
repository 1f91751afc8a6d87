"""Learn to keep a point in the middle of a line by REINFORCE: one step after eight episodes of many actions each."""

import experiment
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
    config = experiment.parameters()
    device = config["device"]
    policy = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 3)).to(device)
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)

    records = experiment.Records()
    for update in range(1, 101):
        optimizer.zero_grad()
        episodes = [episode(policy, device) for _ in range(8)]
        # For each time its own baseline, which the episode that it is taken from is no part of.
        total = torch.stack([gains for _, gains in episodes]).sum(dim=0)
        for chances, gains in episodes:
            baseline = (total - gains) / 7
            loss = -(chances * (gains - baseline)).mean() / 8
            loss.backward()
        optimizer.step()
        records.add(update=update, loss=-total[0].item() / 8)
    records.write(config)


if __name__ == "__main__":
    main()
