"""Train Dreamer's world model, by the modules of TorchRL, on episodes of a pendulum.

Every epoch prints one JSON object: the mean loss in training, and errors on other episodes: of the observations and of
the rewards that the model makes of its states, in all steps and in the first one. At the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import swings
import torch
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torch.distributions import Normal, kl_divergence
from torchrl.modules import MLP, RSSMPosterior, RSSMPrior, RSSMRollout


def make_network(outputs, width):
    return MLP(out_features=outputs, depth=2, num_cells=width, activation_class=nn.ELU)


def make_world_model(action, observations, width, state_size):
    latent = [("next", "state"), ("next", "belief")]
    prior = TensorDictModule(
        RSSMPrior(action, hidden_dim=width, rnn_hidden_dim=width, state_dim=state_size),
        in_keys=["state", "belief", "action"],
        out_keys=[("next", "prior_mean"), ("next", "prior_std"), "_", ("next", "belief")],
    )
    posterior = TensorDictModule(
        RSSMPosterior(hidden_dim=width, state_dim=state_size),
        in_keys=[("next", "belief"), ("next", "encoded_latents")],
        out_keys=[("next", "posterior_mean"), ("next", "posterior_std"), ("next", "state")],
    )
    return TensorDictSequential(
        TensorDictModule(make_network(width, width), [("next", "observation")], [("next", "encoded_latents")]),
        RSSMRollout(prior, posterior),
        TensorDictModule(make_network(observations, width), latent, [("next", "reco_observation")]),
        TensorDictModule(make_network(1, width), latent, [("next", "predicted_reward")]),
    )


def roll_out(model, episodes, width, state_size):
    """Let the model go along the episodes, from a state and a belief of 0."""
    zeros = {"state": torch.zeros(*episodes.shape, state_size), "belief": torch.zeros(*episodes.shape, width)}
    return model(episodes.copy().update(zeros))["next"]


def square_errors(out):
    observation = (out["reco_observation"] - out["observation"]).square().sum(-1)
    reward = (out["predicted_reward"] - out["reward"]).square().squeeze(-1)
    return observation, reward


def loss_of(out, free_nats):
    observation, reward = square_errors(out)
    posterior = Normal(out["posterior_mean"], out["posterior_std"])
    prior = Normal(out["prior_mean"], out["prior_std"])
    divergence = kl_divergence(posterior, prior).sum(-1).clamp_min(free_nats)
    return divergence.mean() + observation.mean() + reward.mean()


@torch.no_grad()
def evaluate(model, episodes, sizes):
    observation, reward = square_errors(roll_out(model, episodes, *sizes))
    return {
        "validation_error": observation.mean().item(),
        "validation_error_first": observation[:, 0].mean().item(),
        "validation_reward_error": reward.mean().item(),
        "validation_reward_spread": episodes["next", "reward"].var().item(),
    }


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    torch.set_num_threads(1)
    train = swings.load(config["episodes"], config["length"], seed=2 * config["seed"] + 1)
    validation = swings.load(config["validation_episodes"], config["length"], seed=2 * config["seed"] + 2)
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_default_device(device)
    train, validation = train.to(device), validation.to(device)
    torch.manual_seed(config["seed"])
    sizes = config["width"], config["state_size"]
    model = make_world_model(train["action"][0, 0], train["next", "observation"].shape[-1], *sizes)
    evaluate(model, validation, sizes)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        losses = []
        for batch in torch.randperm(len(train)).split(config["batch_size"]):
            loss = loss_of(roll_out(model, train[batch], *sizes), config["free_nats"])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), config["grad_clip"])
            optimizer.step()
            losses.append(loss.item())
        record = {"epoch": epoch, "loss": sum(losses) / len(losses)}
        record.update(evaluate(model, validation, sizes))
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
