"""Train a deep Q network on CartPole with TorchRL, from a replay buffer with priorities.

Several environments run side by side. Every so many frames one JSON object is printed: the mean loss since the last
one, and the mean return of episodes that are played without exploring. At the end all of them go to `<output>.json`.
The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path
from statistics import fmean

import cartpole
import numpy as np
import torch
from tensordict.nn import TensorDictSequential
from torchrl.collectors import SyncDataCollector
from torchrl.data import LazyTensorStorage, TensorDictPrioritizedReplayBuffer
from torchrl.modules import EGreedyModule
from torchrl.objectives import DQNLoss, HardUpdate


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    np.random.seed(config["seed"])

    actor = cartpole.make_actor().to(device)
    explore = EGreedyModule(
        spec=actor.spec,
        eps_init=config["eps_start"],
        eps_end=config["eps_end"],
        annealing_num_steps=config["annealing_frames"],
    ).to(device)
    collector = SyncDataCollector(
        cartpole.make_environments(config["environments"], config["seed"]),
        TensorDictSequential(actor, explore),
        frames_per_batch=config["frames_per_batch"],
        total_frames=config["num_frames"],
        init_random_frames=config["init_random_frames"],
        policy_device=device,
        env_device="cpu",
        storing_device="cpu",
    )
    buffer = TensorDictPrioritizedReplayBuffer(
        alpha=config["alpha"],
        beta=config["beta"],
        storage=LazyTensorStorage(config["buffer_size"]),
        batch_size=config["batch_size"],
    )
    objective = DQNLoss(actor, loss_function="l2", delay_value=True)
    objective.make_value_estimator(gamma=config["gamma"])
    objective = objective.to(device)
    update_target = HardUpdate(objective, value_network_update_interval=config["hard_update_freq"])
    optimizer = torch.optim.Adam(objective.parameters(), lr=config["learning_rate"])

    records, losses, frames = [], [], 0
    for data in collector:
        buffer.extend(data.reshape(-1))
        frames += data.numel()
        explore.step(data.numel())
        if frames < config["init_random_frames"]:
            continue
        for _ in range(config["num_updates"]):
            batch = buffer.sample().to(device)
            loss = objective(batch)["loss"]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            update_target.step()
            buffer.update_tensordict_priority(batch)
            losses.append(loss.item())
        collector.update_policy_weights_()
        if frames % config["record_frames"] == 0:
            played = cartpole.mean_return(actor, config["episodes"], config["seed"], device)
            record = {"frames": frames, "loss": fmean(losses), "return": played}
            print(json.dumps(record), flush=True)
            records.append(record)
            losses = []
    collector.shutdown()
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
