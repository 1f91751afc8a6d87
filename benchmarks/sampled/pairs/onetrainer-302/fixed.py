import math
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset


class TrainConfig:
    learning_rate = 3e-3
    learning_rate_warmup_steps = 10
    learning_rate_cycles = 2
    epochs = 10
    batch_size = 8
    gradient_accumulation_steps = 1


class DataSource:
    def __init__(self, dataset, batch_size):
        self.loader = DataLoader(dataset, batch_size=batch_size, shuffle=True, drop_last=True)

    def approximate_length(self):
        return len(self.loader)

    def __iter__(self):
        return iter(self.loader)


def lr_lambda_cosine_with_restarts(warmup_steps, num_cycles, total_steps):
    def lr_lambda(step):
        if step < warmup_steps:
            return (step + 1) / warmup_steps
        progress = (step - warmup_steps) / max(1, total_steps - warmup_steps)
        return max(0.0, 0.5 * (1.0 + math.cos(math.pi * ((num_cycles * progress) % 1.0))))
    return lr_lambda


def create_lr_scheduler(config, optimizer, approximate_epoch_length):
    steps_per_epoch = approximate_epoch_length
    total_steps = int(steps_per_epoch * config.epochs / config.gradient_accumulation_steps)
    lr_lambda = lr_lambda_cosine_with_restarts(
        config.learning_rate_warmup_steps, config.learning_rate_cycles, total_steps)
    return LambdaLR(optimizer, lr_lambda)


class Denoiser(nn.Module):
    def __init__(self, dim=2, width=96, steps=30):
        super().__init__()
        self.time_emb = nn.Embedding(steps, width)
        self.inp = nn.Linear(dim, width)
        self.mid = nn.Linear(width, width)
        self.out = nn.Linear(width, dim)
        self.register_buffer("alphas", torch.cumprod(1 - torch.linspace(1e-3, 0.2, steps), 0))

    def forward(self, x, t):
        h = F.silu(self.inp(x) + self.time_emb(t))
        return self.out(F.silu(self.mid(h)))

    def loss(self, x):
        t = torch.randint(0, len(self.alphas), (len(x),))
        noise = torch.randn_like(x)
        a = self.alphas[t].unsqueeze(1)
        return F.mse_loss(self(a.sqrt() * x + (1 - a).sqrt() * noise, t), noise)


def make_spiral(n, rng):
    r = rng.rand(n)
    angle = 9 * r
    x = np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1) * 2
    return torch.tensor(x + 0.03 * rng.randn(n, 2), dtype=torch.float32)


class Trainer:
    def __init__(self, config, dataset):
        self.config = config
        self.data = DataSource(dataset, config.batch_size)
        self.model = Denoiser()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.learning_rate, weight_decay=1e-2)
        self.scheduler = create_lr_scheduler(config, self.optimizer, self.data.approximate_length())
        self.rates = []

    def train(self):
        for epoch in range(self.config.epochs):
            self.model.train()
            losses = []
            for (x,) in self.data:
                loss = self.model.loss(x)
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.rates.append(self.optimizer.param_groups[0]["lr"])
                self.optimizer.step()
                self.scheduler.step()
                losses.append(loss.item())
            print(f"epoch {epoch} loss {np.mean(losses):.4f} lr {self.scheduler.get_last_lr()[0]:.2e}")

    @torch.no_grad()
    def validate(self, x):
        self.model.eval()
        return sum(self.model.loss(x).item() for _ in range(20)) / 20


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    rng = np.random.RandomState(seed)
    config = TrainConfig()
    train_x, val_x = make_spiral(800, rng), make_spiral(500, rng)
    trainer = Trainer(config, TensorDataset(train_x))
    trainer.train()
    rates = np.array(trainer.rates)
    cycles = 1 + int((np.diff(rates[config.learning_rate_warmup_steps:]) > 0.5 * config.learning_rate).sum())
    print(f"RESULT val_loss={trainer.validate(val_x):.4f} cycles={cycles} steps={len(rates)} last_lr={rates[-1]:.2e}")


if __name__ == "__main__":
    main()
