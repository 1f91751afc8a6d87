import math
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def clone_module(module, memo=None):
    if memo is None:
        memo = {}
    clone = module.__new__(type(module))
    clone.__dict__ = module.__dict__.copy()
    clone._parameters = clone._parameters.copy()
    clone._modules = clone._modules.copy()
    for name, p in module._parameters.items():
        if p is not None:
            if p not in memo:
                memo[p] = p.clone()
            clone._parameters[name] = memo[p]
    for name, child in module._modules.items():
        if child is not None:
            clone._modules[name] = clone_module(child, memo)
    return clone


def update_module(module, updates=None):
    if updates is not None:
        params = list(module.parameters())
        if len(updates) != len(params):
            raise ValueError(f"{len(updates)} updates for {len(params)} parameters")
        for p, u in zip(params, updates):
            p.update = u
    for name, p in module._parameters.items():
        if p is not None and getattr(p, "update", None) is not None:
            module._parameters[name] = p + p.update
    for name, child in module._modules.items():
        if child is not None:
            module._modules[name] = update_module(child)
    return module


class MAML(nn.Module):
    def __init__(self, module, lr):
        super().__init__()
        self.module = module
        self.lr = lr

    def forward(self, x):
        return self.module(x)

    def clone(self):
        return MAML(clone_module(self.module), self.lr)

    def adapt(self, loss):
        grads = torch.autograd.grad(loss, list(self.module.parameters()), create_graph=True)
        self.module = update_module(self.module, updates=[-self.lr * g for g in grads])


class TiedBlock(nn.Module):
    def __init__(self, linear, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.linear.weight = linear.weight

    def forward(self, h):
        return torch.tanh(self.linear(h))


class Net(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.inp = nn.Linear(1, width)
        self.hidden = nn.Linear(width, width)
        self.tied = TiedBlock(self.hidden, width)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        h = torch.tanh(self.inp(x))
        h = torch.tanh(self.hidden(h))
        return self.out(self.tied(h))


class SineTasks:
    def __init__(self, seed, shots=10):
        self.rng = np.random.RandomState(seed)
        self.shots = shots

    def sample(self):
        amp, phase = self.rng.uniform(0.5, 3.0), self.rng.uniform(0, math.pi)
        x = torch.tensor(self.rng.uniform(-3, 3, (2 * self.shots, 1)), dtype=torch.float32)
        y = amp * torch.sin(x + phase)
        return x[: self.shots], y[: self.shots], x[self.shots:], y[self.shots:]


def fast_adapt(learner, task, steps):
    xs, ys, xq, yq = task
    for _ in range(steps):
        learner.adapt(F.mse_loss(learner(xs), ys))
    return F.mse_loss(learner(xq), yq)


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    np.random.seed(seed)
    maml = MAML(Net(), lr=0.02)
    opt = torch.optim.Adam(maml.parameters(), lr=2e-3)
    train_tasks, test_tasks = SineTasks(seed), SineTasks(seed + 1000)
    meta_batch, inner_steps = 4, 3
    for it in range(250):
        opt.zero_grad()
        total = 0.0
        for _ in range(meta_batch):
            loss = fast_adapt(maml.clone(), train_tasks.sample(), inner_steps) / meta_batch
            loss.backward()
            total += loss.item()
        opt.step()
        if (it + 1) % 50 == 0:
            print(f"iteration {it + 1} meta loss {total:.4f}")
    errors = []
    for _ in range(100):
        learner = maml.clone()
        errors.append(fast_adapt(learner, test_tasks.sample(), inner_steps).item())
    before, after = len(list(maml.parameters())), len(list(learner.parameters()))
    gap = (learner.module.hidden.weight - learner.module.tied.linear.weight).abs().max().item()
    print(f"RESULT test_mse={np.mean(errors):.4f} params={before} params_adapted={after} tie_gap={gap:.5f}")


if __name__ == "__main__":
    main()
