"""Teach an acrobot to swing up, by QR-DQN of SB3-Contrib, in sessions that save the model and load it again.

Each session prints one JSON object: how many steps were made, the mean return of the last episodes in training, and the
mean return of other episodes, with the action that the network holds to be best. At the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
import tempfile
from pathlib import Path

import torch
from sb3_contrib import QRDQN
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy


def make_model(config, envs):
    return QRDQN(
        "MlpPolicy",
        envs,
        learning_rate=config["learning_rate"],
        batch_size=config["batch_size"],
        buffer_size=config["buffer_size"],
        learning_starts=0,
        gamma=config["gamma"],
        target_update_interval=config["target_update_interval"],
        train_freq=config["train_freq"],
        gradient_steps=-1,
        exploration_fraction=config["exploration_fraction"],
        exploration_final_eps=config["exploration_final_eps"],
        policy_kwargs={"net_arch": [config["width"], config["width"]], "n_quantiles": config["quantiles"]},
        seed=config["seed"],
        device=config["device"],
    )


def save(model, folder):
    model.save(folder / "model")
    model.save_replay_buffer(folder / "buffer")


def load(folder, config, envs):
    model = QRDQN.load(folder / "model", envs, device=config["device"])
    model.load_replay_buffer(folder / "buffer")
    return model


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    torch.set_num_threads(1)
    others = make_vec_env("Acrobot-v1", n_envs=1, seed=config["seed"] + 1000)
    records = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for session in range(1, config["num_session"] + 1):
            envs = make_vec_env("Acrobot-v1", n_envs=config["envs"], seed=config["seed"] + 100 * session)
            model = make_model(config, envs) if session == 1 else load(folder, config, envs)
            model.learn(config["steps"], reset_num_timesteps=session == 1)
            episodes = [episode["r"] for episode in model.ep_info_buffer]
            validation, _ = evaluate_policy(model, others, n_eval_episodes=config["episodes"], deterministic=True)
            record = {
                "steps": model.num_timesteps,
                "train_return": sum(episodes) / len(episodes),
                "validation_return": float(validation),
            }
            print(json.dumps(record), flush=True)
            records.append(record)
            save(model, folder)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
