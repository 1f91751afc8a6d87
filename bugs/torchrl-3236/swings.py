"""Episodes of a pendulum that random torques move, as TorchRL simulates it."""

import torch
from tensordict import TensorDict
from torchrl.envs import PendulumEnv


def observe(step):
    """What Gymnasium's pendulum shows: cosine and sine of the angle, and the speed."""
    return torch.stack([step["th"].cos(), step["th"].sin(), step["thdot"]], -1)


def load(episodes, steps, seed):
    """Return a TensorDict of shape (episodes, steps): the action, and then the next observation and reward."""
    environment = PendulumEnv(seed=seed)
    torch.manual_seed(seed)
    start = environment.reset(environment.gen_params(batch_size=[episodes]))
    rollout = environment.rollout(steps, auto_reset=False, tensordict=start)
    following = {"observation": observe(rollout["next"]), "reward": rollout["next", "reward"]}
    return TensorDict({"action": rollout["action"], "next": following}, batch_size=[episodes, steps])
