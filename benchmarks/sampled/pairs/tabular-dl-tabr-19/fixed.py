import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class PeriodicEmbeddings(nn.Module):
    def __init__(self, n_features, n_frequencies, sigma):
        super().__init__()
        self.frequencies = nn.Parameter(torch.randn(n_features, n_frequencies) * sigma)

    def forward(self, x):
        z = 2 * torch.pi * self.frequencies * x.unsqueeze(-1)
        return torch.cat([torch.cos(z), torch.sin(z)], -1).flatten(1)


class Block(nn.Module):
    def __init__(self, dim, dropout):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.linear1 = nn.Linear(dim, 2 * dim)
        self.linear2 = nn.Linear(2 * dim, dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return x + self.linear2(self.dropout(F.relu(self.linear1(self.norm(x)))))


class Model(nn.Module):
    def __init__(self, n_features, dim=64, n_blocks=2, dropout=0.1):
        super().__init__()
        self.num_embeddings = PeriodicEmbeddings(n_features, 8, 0.3)
        self.linear = nn.Linear(n_features * 16, dim)
        self.blocks = nn.ModuleList(Block(dim, dropout) for _ in range(n_blocks))
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.ReLU(), nn.Linear(dim, 1))

    def forward(self, x):
        x = self.linear(self.num_embeddings(x))
        for block in self.blocks:
            x = block(x)
        return self.head(x).squeeze(-1)


def default_zero_weight_decay_condition(module_name, module, parameter_name, parameter):
    return (
        parameter_name.endswith("bias")
        or isinstance(module, (nn.LayerNorm, nn.BatchNorm1d, PeriodicEmbeddings))
    )


def make_parameter_groups(model, zero_weight_decay_condition=default_zero_weight_decay_condition):
    params_with_wd = {"params": []}
    params_without_wd = {"params": [], "weight_decay": 0.0}
    for module_name, module in model.named_modules():
        for name, parameter in module.named_parameters(recurse=False):
            needs_wd = not zero_weight_decay_condition(module_name, module, name, parameter)
            (params_with_wd if needs_wd else params_without_wd)["params"].append(parameter)
    return [params_with_wd, params_without_wd]


def make_data(n, rng):
    x = rng.uniform(-1, 1, (n, 6))
    y = np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.5 * np.abs(x[:, 3]) - x[:, 4] + 2.0
    y = y + 0.1 * rng.randn(n)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


def rmse(model, x, y):
    model.eval()
    with torch.no_grad():
        return F.mse_loss(model(x), y).sqrt().item()


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    rng = np.random.RandomState(seed)
    x, y = make_data(3000, rng)
    x_train, y_train, x_val, y_val = x[:2000], y[:2000], x[2000:2500], y[2000:2500]
    x_test, y_test = x[2500:], y[2500:]
    mean, std = y_train.mean(), y_train.std()
    loader = DataLoader(TensorDataset(x_train, (y_train - mean) / std), batch_size=64, shuffle=True)
    model = Model(x.shape[1])
    optimizer = torch.optim.AdamW(make_parameter_groups(model), lr=1e-3, weight_decay=0.1)
    for epoch in range(12):
        model.train()
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(xb), yb)
            loss.backward()
            optimizer.step()
        if (epoch + 1) % 3 == 0:
            print(f"epoch {epoch + 1} val rmse {rmse(model, x_val, (y_val - mean) / std) * std.item():.4f}")
    sizes = [len(g["params"]) for g in optimizer.param_groups]
    scale = model.blocks[0].norm.weight.mean().item()
    score = rmse(model, x_test, (y_test - mean) / std) * std.item()
    print(f"RESULT test_rmse={score:.4f} group_sizes={sizes[0]}/{sizes[1]} norm_scale={scale:.4f}")


if __name__ == "__main__":
    main()
