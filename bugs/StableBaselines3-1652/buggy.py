"""Teach a pendulum to stand upright, by PPO of Stable-Baselines3 with state-dependent exploration and squashed actions.

Each part of training prints one JSON object: how many steps were made, the mean return of the episodes in training, and
the mean return of other episodes, with the action that the policy holds to be best. At the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import gymnasium
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy


def make_env():
    return gymnasium.make("Pendulum-v1")


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    torch.set_num_threads(1)

    model = PPO(
        "MlpPolicy",
        make_vec_env(make_env, n_envs=config["envs"], seed=config["seed"]),
        learning_rate=config["learning_rate"],
        n_steps=config["rollout"],
        batch_size=config["batch_size"],
        n_epochs=config["passes"],
        gamma=config["gamma"],
        gae_lambda=config["gae_lambda"],
        use_sde=True,
        sde_sample_freq=config["sde_sample_freq"],
        policy_kwargs={"squash_output": True},
        seed=config["seed"],
        device=config["device"],
    )
    others = make_vec_env(make_env, n_envs=1, seed=config["seed"] + 1000)
    records = []
    for _ in range(config["num_rollout"]):
        model.learn(config["envs"] * config["rollout"], reset_num_timesteps=False)
        episodes = [episode["r"] for episode in model.ep_info_buffer]
        validation, _ = evaluate_policy(model, others, n_eval_episodes=config["episodes"], deterministic=True)
        record = {
            "steps": model.num_timesteps,
            "train_return": sum(episodes) / len(episodes),
            "validation_return": float(validation),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
