import os
import sys
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class ChainCollector:
    """Steps a batch of noisy point agents that should reach the origin."""

    def __init__(self, policy, n_envs, horizon, total_batches):
        self.policy, self.n_envs, self.horizon, self.total_batches = policy, n_envs, horizon, total_batches

    def __iter__(self):
        for _ in range(self.total_batches):
            yield self.rollout()

    @torch.no_grad()
    def rollout(self):
        pos = torch.empty(self.n_envs, 2).uniform_(-1, 1)
        data = {"obs": [], "action": [], "logp": [], "reward": []}
        for _ in range(self.horizon):
            dist = torch.distributions.Normal(self.policy(pos), self.policy.std)
            action = dist.sample()
            data["obs"].append(pos)
            data["action"].append(action)
            data["logp"].append(dist.log_prob(action).sum(-1))
            pos = (pos + 0.3 * action.clamp(-1, 1) + 0.02 * torch.randn_like(pos)).clamp(-2, 2)
            data["reward"].append(-pos.norm(dim=-1))
        return {k: torch.stack(v) for k, v in data.items()}


class Policy(nn.Module):
    std = 0.3

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, obs):
        return self.net(obs)


class ClipLoss(nn.Module):
    def __init__(self, policy, gamma=0.9, eps=0.2):
        super().__init__()
        self.policy, self.gamma, self.eps = policy, gamma, eps
        self.critic = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, batch):
        returns, run = [], torch.zeros_like(batch["reward"][0])
        for r in batch["reward"].flip(0):
            run = r + self.gamma * run
            returns.append(run)
        returns = torch.stack(returns[::-1])
        value = self.critic(batch["obs"]).squeeze(-1)
        adv = returns - value.detach()
        adv = (adv - adv.mean()) / (adv.std() + 1e-6)
        dist = torch.distributions.Normal(self.policy(batch["obs"]), self.policy.std)
        ratio = (dist.log_prob(batch["action"]).sum(-1) - batch["logp"]).exp()
        clipped = ratio.clamp(1 - self.eps, 1 + self.eps)
        return -torch.min(ratio * adv, clipped * adv).mean() + 0.5 * F.mse_loss(value, returns)


class OptimizerHook:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    def __call__(self, loss):
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        pass

    def register(self, trainer, name):
        trainer.optim_op = self
        trainer.register_module(name, self)


class Trainer:
    def __init__(self, collector, loss_module, optimizer, optim_steps_per_batch):
        self.collector, self.loss_module, self.steps = collector, loss_module, optim_steps_per_batch
        self.modules, self.collected, self.returns = {}, 0, []
        self.register_module("loss_module", loss_module)
        OptimizerHook(optimizer).register(self, "optimizer")

    def register_module(self, name, module):
        self.modules[name] = module

    def save(self, path):
        state = {name: m.state_dict() for name, m in self.modules.items()}
        torch.save({**state, "collected": self.collected}, path)

    def load(self, path):
        state = torch.load(path)
        self.collected = state.pop("collected")
        for name, s in state.items():
            self.modules[name].load_state_dict(s)

    def train(self):
        for batch in self.collector:
            self.collected += batch["reward"].numel()
            for _ in range(self.steps):
                self.optim_op(self.loss_module(batch))
            self.returns.append(batch["reward"].mean().item())


def make_trainer(batches):
    policy = Policy()
    loss_module = ClipLoss(policy)
    optimizer = torch.optim.Adam(loss_module.parameters(), lr=3e-3)
    return Trainer(ChainCollector(policy, 32, 10, batches), loss_module, optimizer, 5), optimizer


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    np.random.seed(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trainer.pt")
        first, _ = make_trainer(30)
        first.train()
        first.save(path)
        second, optimizer = make_trainer(30)
        second.load(path)
    restored = len(optimizer.state_dict()["state"])
    print(f"first part: {first.collected} frames, mean reward {np.mean(first.returns[-5:]):.4f}")
    second.train()
    print(f"RESULT restored_states={restored} frames={second.collected} "
          f"reward_after_load={np.mean(second.returns[:5]):.4f} reward_end={np.mean(second.returns[-5:]):.4f}")


if __name__ == "__main__":
    main()
