"""Train a deep Q-network to trade with a battery, and let it trade for weeks after every 20 days of training.

Each evaluation prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import copy
import json
import math
import random
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import smooth_l1_loss

SELL, HOLD, BUY = range(3)
# the usual price of each hour of the day, from midnight on, in cents per kWh
PRICES = [8, 7, 6, 6, 7, 9, 14, 20, 30, 32, 26, 18, 12, 9, 9, 12, 18, 27, 34, 36, 30, 22, 15, 11]


class Battery:
    """A battery of a few kWh that can buy or sell one kWh an hour, at a price that is known for this hour.

    A part of what is sold is lost, and now and then the battery fails for good. An episode begins in the morning.
    """

    def __init__(self, capacity, failure, time_limit, seed):
        self.capacity = capacity
        self.failure = failure
        self.time_limit = time_limit
        self.random = random.Random(seed)

    def reset(self):
        self.elapsed = 0
        self.hour = 8
        self.deviation = self.random.gauss(0, 2)
        self.charge = self.random.randint(0, self.capacity)
        return self.observe()

    def price(self):
        return max(0.0, PRICES[self.hour] + self.deviation)

    def observe(self):
        angle = 2 * math.pi * self.hour / 24
        charge = 2 * self.charge / self.capacity - 1
        return [math.sin(angle), math.cos(angle), charge, self.price() / 20 - 1]

    def step(self, action):
        """The next observation, the money that is made, and whether the battery has failed or the time is up."""
        reward = 0.0
        if action == SELL and self.charge > 0:
            self.charge -= 1
            reward = 0.9 * self.price() / 20
        if action == BUY and self.charge < self.capacity:
            self.charge += 1
            reward = -self.price() / 20
        self.hour = (self.hour + 1) % 24
        self.deviation = 0.8 * self.deviation + self.random.gauss(0, 1.2)
        self.elapsed += 1
        terminated = self.random.random() < self.failure
        truncated = self.elapsed == self.time_limit
        return self.observe(), reward, terminated, truncated


class Memory:
    """The newest transitions."""

    def __init__(self, size, features, device):
        self.states = torch.zeros(size, features, device=device)
        self.actions = torch.zeros(size, dtype=torch.int64, device=device)
        self.rewards = torch.zeros(size, device=device)
        self.next_states = torch.zeros(size, features, device=device)
        self.last = torch.zeros(size, device=device)
        self.stored = 0

    def store(self, state, action, reward, next_state, last):
        place = self.stored % len(self.rewards)
        self.states[place] = torch.tensor(state)
        self.actions[place] = action
        self.rewards[place] = reward
        self.next_states[place] = torch.tensor(next_state)
        self.last[place] = float(last)
        self.stored += 1

    def sample(self, number):
        chosen = torch.randint(min(self.stored, len(self.rewards)), (number,)).to(self.rewards.device)
        columns = (self.states, self.actions, self.rewards, self.next_states, self.last)
        return [column[chosen] for column in columns]


class Agent:
    def __init__(self, config, device):
        width = config["width"]
        self.network = nn.Sequential(
            nn.Linear(4, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 3)
        ).to(device)
        self.target_network = copy.deepcopy(self.network)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=config["learning_rate"])
        self.memory = Memory(config["memory"], 4, device)
        self.batch_size = config["batch_size"]
        self.discount = config["discount"]
        self.device = device

    @torch.no_grad()
    def values(self, states):
        return self.network(torch.tensor(states, device=self.device))

    def act(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(3)
        return self.values(state).argmax().item()

    def step(self, env, state, epsilon):
        """One hour: the next observation, or none at the end of an episode."""
        action = self.act(state, epsilon)
        next_state, reward, terminated, truncated = env.step(action)
        done = terminated or truncated
        self.memory.store(state, action, reward, next_state, terminated)
        return None if done else next_state

    def learn(self):
        states, actions, rewards, next_states, last = self.memory.sample(self.batch_size)
        values = self.network(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            next_values = self.target_network(next_states).amax(1)
        loss = smooth_l1_loss(values, rewards + self.discount * next_values * (1 - last))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def update_target(self):
        self.target_network.load_state_dict(self.network.state_dict())


def evaluate(agent, env, hours):
    """What a day earns, in cents, and the mean value of the best action, when nothing is tried at random."""
    state = env.reset()
    earned, values = 0.0, []
    for _ in range(hours):
        estimates = agent.values(state)
        values.append(estimates.max().item())
        state, reward, terminated, _ = env.step(estimates.argmax().item())
        earned += 20 * reward
        if terminated:
            state = env.reset()
    return 24 * earned / hours, sum(values) / hours


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    random.seed(config["seed"])

    kind = (config["capacity"], config["failure"])
    env = Battery(*kind, time_limit=24, seed=config["seed"])
    agent = Agent(config, device)

    state = env.reset()
    for _ in range(config["random_hours"]):
        state = agent.step(env, state, epsilon=1.0) or env.reset()

    records = []
    losses = []
    hours = 24 * config["days"]
    for hour in range(1, hours + 1):
        epsilon = max(0.05, 1 - 2 * hour / hours)
        state = agent.step(env, state, epsilon) or env.reset()
        losses.append(agent.learn())
        if hour % config["update_target_every"] == 0:
            agent.update_target()
        if hour % (24 * config["evaluate_every"]) == 0:
            market = Battery(*kind, time_limit=None, seed=1000 + config["seed"])
            earned, value = evaluate(agent, market, 24 * config["evaluation_days"])
            record = {
                "day": hour // 24,
                "loss": sum(losses) / len(losses),
                "earned_per_day": earned,
                "value": value,
            }
            print(json.dumps(record), flush=True)
            records.append(record)
            losses = []
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
