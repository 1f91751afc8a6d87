"""Imitate two robots that drive to a goal around an obstacle, from demonstrations of both.

A robot has a sensor that measures the distances of itself and of its goal to beacons. The loader's workers draw steps
of demonstrations. Every few epochs print one JSON object: the loss on their steps, the loss on demonstrations held out,
and how many of the goals the robots reach when the network drives them. At the end all of them go to `<output>.json`.
The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

ROBOTS = (torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[0.0, -1.0], [1.0, 0.0]]))
BEACONS = 2.5 * torch.tensor([[np.cos(angle), np.sin(angle)] for angle in np.arange(12) * np.pi / 6]).float()
SPEED, RADIUS, STEPS = 0.15, 0.5, 40


class Demonstrations:
    """Trajectories of one robot, which an expert drives: what the robot senses, and how its motors are set."""

    def __init__(self, robot, trajectories, noise):
        self.robot, self.noise = robot, noise
        observations, actions = [], []
        position, goal = places(trajectories)
        for _ in range(STEPS):
            observations.append(self.sense(position, goal))
            direction = expert(position, goal)
            actions.append(direction @ ROBOTS[robot].T)
            position = position + SPEED * (direction + 0.3 * torch.randn_like(direction))
        self.observations = torch.stack(observations, dim=1).numpy()
        self.actions = torch.stack(actions, dim=1).numpy()

    def sense(self, position, goal):
        distances = [torch.cdist(place, BEACONS) - 2.5 for place in (position, goal)]
        observation = torch.cat(distances, dim=1)
        observation = observation + self.noise * torch.randn_like(observation)
        robot = torch.full((len(position), 1), 2.0 * self.robot - 1)
        return torch.cat([observation, robot], dim=1)


class Mixture(Dataset):
    """Steps of several robots' demonstrations, drawn with weights: other ones in each epoch."""

    def __init__(self, demonstrations, weights, length, seed):
        self.demonstrations, self.weights, self.length, self.seed = demonstrations, weights, length, seed
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __getitem__(self, index):
        rng = np.random.default_rng((self.seed, self.epoch, index))
        chosen = self.demonstrations[rng.choice(len(self.demonstrations), p=self.weights)]
        trajectory, step = rng.integers(len(chosen.actions)), rng.integers(STEPS)
        return chosen.observations[trajectory, step], chosen.actions[trajectory, step]

    def __len__(self):
        return self.length


def places(count):
    """Starts on the left and goals on the right of the obstacle."""
    start, goal = 0.8 * torch.randn(2, count, 2)
    return start - torch.tensor([1.5, 0.0]), goal.clamp(-1, 1) + torch.tensor([1.5, 0.0])


def expert(position, goal):
    """Straight to the goal, slower when it is near, and around the obstacle in the middle."""
    towards = goal - position
    towards = towards / towards.norm(dim=1, keepdim=True).clamp(min=0.3)
    distance = position.norm(dim=1, keepdim=True)
    side = torch.where(position[:, 1:] >= 0, 1.0, -1.0) * torch.cat([position[:, 1:], -position[:, :1]], dim=1)
    around = (side + position) / distance.clamp(min=0.1)
    share = torch.sigmoid((RADIUS + 0.4 - distance) / 0.1) * (position[:, :1] < 0.5)
    return (1 - share) * towards + share * around


def train_epoch(model, loader, optimizer, criterion, device):
    model.train()
    total, count = 0.0, 0
    for observations, actions in loader:
        observations, actions = observations.to(device), actions.to(device)
        optimizer.zero_grad()
        loss = criterion(model(observations), actions)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(actions)
        count += len(actions)
    return total / count


@torch.no_grad()
def evaluate(model, held_out, criterion, device):
    model.eval()
    losses = []
    for demonstrations in held_out:
        prediction = model(torch.from_numpy(demonstrations.observations).flatten(0, 1).to(device))
        losses.append(criterion(prediction, torch.from_numpy(demonstrations.actions).flatten(0, 1).to(device)).item())
    return sum(losses) / len(losses)


@torch.no_grad()
def drive(model, held_out, count, device):
    """The share of goals that are reached without touching the obstacle."""
    model.eval()
    reached = []
    for demonstrations in held_out:
        position, goal = places(count)
        touched = torch.zeros(count, dtype=torch.bool)
        for _ in range(STEPS):
            action = model(demonstrations.sense(position, goal).to(device)).cpu()
            position = position + SPEED * action @ ROBOTS[demonstrations.robot]
            touched |= position.norm(dim=1) < RADIUS
        reached.append((((position - goal).norm(dim=1) < 0.3) & ~touched).float().mean().item())
    return sum(reached) / len(reached)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    demonstrations = [Demonstrations(robot, config["trajectories"], config["noise"]) for robot in range(len(ROBOTS))]
    held_out = [Demonstrations(robot, config["held_out"], config["noise"]) for robot in range(len(ROBOTS))]
    weights = [config["share_of_first"], 1 - config["share_of_first"]]
    mixture = Mixture(demonstrations, weights, config["steps_per_epoch"], config["seed"])
    loader = DataLoader(
        mixture, batch_size=config["batch_size"], num_workers=config["num_workers"], persistent_workers=True
    )

    width = config["width"]
    model = nn.Sequential(
        nn.Linear(2 * len(BEACONS) + 1, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2)
    ).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    criterion = nn.MSELoss()

    records, losses = [], []
    for epoch in range(config["num_epoch"]):
        mixture.set_epoch(epoch)
        losses.append(train_epoch(model, loader, optimizer, criterion, device))
        if (epoch + 1) % config["interval"] == 0:
            record = {
                "epoch": epoch + 1,
                "loss": sum(losses) / len(losses),
                "validation_loss": evaluate(model, held_out, criterion, device),
                "reached": drive(model, held_out, config["drives"], device),
            }
            print(json.dumps(record), flush=True)
            records.append(record)
            losses.clear()
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
