"""CartPole: several environments to learn in, a network that values actions, and a measure of how well it plays."""

import gymnasium
import torch
from tensordict import TensorDict
from torchrl.data import CompositeSpec
from torchrl.envs import SerialEnv
from torchrl.envs.libs.gym import GymEnv
from torchrl.modules import MLP, QValueActor

LONGEST = 500


def make_environments(number, seed):
    environments = SerialEnv(number, lambda: GymEnv("CartPole-v1"))
    environments.set_seed(seed)
    return environments


def make_actor():
    example = GymEnv("CartPole-v1")
    network = MLP(in_features=4, out_features=2, num_cells=[120, 84], activation_class=torch.nn.ReLU)
    return QValueActor(network, spec=CompositeSpec(action=example.action_spec), in_keys=["observation"])


@torch.no_grad()
def mean_return(actor, episodes, seed, device):
    """Play episodes side by side without exploring."""
    environments = gymnasium.make_vec("CartPole-v1", num_envs=episodes, vectorization_mode="custom")
    observation, _ = environments.reset(seed=seed)
    returns, alive = torch.zeros(episodes), torch.ones(episodes, dtype=torch.bool)
    for _ in range(LONGEST):
        seen = TensorDict({"observation": torch.as_tensor(observation, dtype=torch.float32, device=device)}, [episodes])
        action = actor(seen)["action"].argmax(-1)
        observation, _, fallen, _, _ = environments.step(action.cpu().numpy())
        returns += alive
        alive &= ~torch.as_tensor(fallen)
        if not alive.any():
            break
    return returns.mean().item()
