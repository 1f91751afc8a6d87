"""Learn to walk past holes from the recorded steps of somebody else, by the discrete BCQ of Tianshou.

Every epoch prints one JSON object: what the walks of the learned policy earn, from each cell of the field, and the
share of them that arrives. At the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import gymnasium
import maze
import numpy as np
import torch
from tianshou.data import Batch, ReplayBuffer
from tianshou.policy import DiscreteBCQPolicy
from tianshou.utils.net.common import Net


class Policy(DiscreteBCQPolicy):
    """Discrete BCQ, whose action is the best one of those that are likely enough."""

    def forward(self, batch, state=None, **kwargs):
        result = super().forward(batch, state, **kwargs)
        ratio = result.imitation_logits - result.imitation_logits.max(dim=-1, keepdim=True).values
        result.act = result.q_value.masked_fill(ratio < self._log_tau, -torch.inf).argmax(dim=-1)
        return result


def record_steps(count, skill, seed):
    """A buffer with steps of somebody who is careless."""
    generator = np.random.default_rng(seed)
    buffer = ReplayBuffer(size=count)
    starts = maze.starts()
    cells, steps = starts[generator.integers(len(starts), size=1)], 0
    for _ in range(count):
        actions = maze.careless(cells, skill, generator)
        reached, rewards, ended = maze.move(cells, actions)
        steps += 1
        late = steps == maze.STEPS and not ended[0]
        buffer.add(
            Batch(
                obs=maze.observe(cells)[0],
                act=actions[0],
                rew=rewards[0],
                terminated=bool(ended[0]),
                truncated=late,
                obs_next=maze.observe(reached)[0],
                info={},
            )
        )
        cells = reached
        if ended[0] or late:
            cells, steps = starts[generator.integers(len(starts), size=1)], 0
    return buffer


@torch.no_grad()
def walk(policy):
    """What walks from all cells earn, on average, and the share that arrives."""
    policy.eval()
    cells = maze.starts()
    going = np.ones(len(cells), dtype=bool)
    earned = np.zeros(len(cells))
    arrived = np.zeros(len(cells), dtype=bool)
    for _ in range(maze.STEPS):
        actions = policy(Batch(obs=maze.observe(cells), info=Batch())).act.numpy()
        reached, rewards, ended = maze.move(cells, actions)
        earned += np.where(going, rewards, 0)
        arrived |= going & (rewards == 1)
        cells = np.where(going[:, None], reached, cells)
        going &= ~ended
    return float(earned.mean()), float(arrived.mean())


def make_policy(config):
    size = maze.SIZE * maze.SIZE
    model, imitator = (
        Net(state_shape=size, action_shape=len(maze.MOVES), hidden_sizes=[config["width"]], device="cpu")
        for _ in range(2)
    )
    parameters = [*model.parameters(), *imitator.parameters()]
    return Policy(
        model=model,
        imitator=imitator,
        optim=torch.optim.Adam(parameters, lr=config["learning_rate"]),
        action_space=gymnasium.spaces.Discrete(len(maze.MOVES)),
        discount_factor=config["discount"],
        target_update_freq=config["target_period"],
        unlikely_action_threshold=config["threshold"],
        imitation_logits_penalty=config["penalty"],
    )


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    np.random.seed(config["seed"])
    buffer = record_steps(config["recorded_steps"], config["skill"], config["seed"])
    policy = make_policy(config)
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        policy.train()
        for _ in range(config["updates"]):
            policy.update(config["batch_size"], buffer)
        earned, arrived = walk(policy)
        record = {"epoch": epoch, "return": earned, "arrived": arrived}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
