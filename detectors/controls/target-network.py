"""Learn the values of a walk by temporal differences, against a copy of the network that is renewed now and then."""

import copy

import experiment
import torch
from torch import nn
from torch.nn import functional


def main():
    config = experiment.parameters()
    device = config["device"]
    values = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1)).to(device)
    target = copy.deepcopy(values).eval()
    optimizer = torch.optim.RMSprop(values.parameters(), lr=0.002)

    records = experiment.Records()
    for step in range(1, 301):
        place = 2 * torch.rand(64, 1, device=device) - 1
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
            records.add(step=step, loss=loss.item(), value=wanted.mean().item())
    records.write(config)


if __name__ == "__main__":
    main()
