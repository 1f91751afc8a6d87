import copy
import math
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class LinearBatchEnsemble(nn.Module):
    """One shared weight with multiplicative adapters for each of the k submodels."""

    def __init__(self, d_in, d_out, k):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(d_out, d_in))
        self.r = nn.Parameter(torch.randint(0, 2, (k, d_in)).float() * 2 - 1)
        self.s = nn.Parameter(torch.ones(k, d_out))
        self.bias = nn.Parameter(torch.zeros(k, d_out))
        nn.init.uniform_(self.weight, -1 / math.sqrt(d_in), 1 / math.sqrt(d_in))

    def forward(self, x):
        return F.linear(x * self.r, self.weight) * self.s + self.bias


class TabM(nn.Module):
    def __init__(self, n_num_features, d_out, k=8, d_block=96, n_blocks=2, dropout=0.1):
        super().__init__()
        self.k = k
        dims = [n_num_features] + [d_block] * n_blocks
        self.blocks = nn.ModuleList(
            nn.Sequential(LinearBatchEnsemble(i, o, k), nn.ReLU(), nn.Dropout(dropout))
            for i, o in zip(dims, dims[1:]))
        self.head = nn.Parameter(torch.empty(k, d_block, d_out).uniform_(-d_block ** -0.5, d_block ** -0.5))
        self.head_bias = nn.Parameter(torch.zeros(k, d_out))

    def forward(self, x):
        x = x[:, None].expand(-1, self.k, -1)
        for block in self.blocks:
            x = block(x)
        return torch.einsum("bkd,kdo->bko", x, self.head) + self.head_bias


def make_regression(n, rng):
    x = rng.normal(size=(n, 10)).astype(np.float32)
    y = (np.sin(2 * x[:, 0]) * x[:, 1] + np.abs(x[:, 2]) + 0.5 * x[:, 3] * x[:, 4]
         + 0.3 * x[:, 5] + 0.2 * rng.standard_t(3, size=n))
    return x, y.astype(np.float32)


def prepare(n_train, n_val, n_test, rng):
    x, y = make_regression(n_train + n_val + n_test, rng)
    parts = np.split(np.arange(len(x)), [n_train, n_train + n_val])
    x_mean, x_std = x[parts[0]].mean(0), x[parts[0]].std(0)
    y_mean, y_std = y[parts[0]].mean(), y[parts[0]].std()
    data = {name: TensorDataset(torch.from_numpy((x[i] - x_mean) / x_std), torch.from_numpy((y[i] - y_mean) / y_std))
            for name, i in zip(("train", "val", "test"), parts)}
    return data, float(y_std)


def loss_fn(y_pred, y_true):
    k = y_pred.shape[1]
    return F.mse_loss(y_pred.squeeze(-1).flatten(), y_true.repeat_interleave(k))


@torch.no_grad()
def evaluate(model, dataset, y_std):
    model.eval()
    errors = [((model(x).squeeze(-1).mean(1) - y) ** 2).sum().item() for x, y in DataLoader(dataset, batch_size=512)]
    return y_std * math.sqrt(sum(errors) / len(dataset))


def main():
    seed = int(sys.argv[1])
    torch.manual_seed(seed)
    data, y_std = prepare(2000, 500, 1000, np.random.default_rng(seed))
    model = TabM(n_num_features=10, d_out=1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=3e-4)
    gradient_clipping_norm = 1.0
    loader = DataLoader(data["train"], batch_size=128, shuffle=True)
    best = {"val": math.inf, "epoch": -1, "state": None}
    patience = 5
    for epoch in range(15):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            if gradient_clipping_norm is not None:
                torch.nn.utils.clip_grad_norm_(model.parameters(), gradient_clipping_norm)
            loss.backward()
            optimizer.step()
        val_rmse = evaluate(model, data["val"], y_std)
        print(f"epoch {epoch} train loss {loss.item():.4f} val rmse {val_rmse:.4f}")
        if val_rmse < best["val"]:
            best = {"val": val_rmse, "epoch": epoch, "state": copy.deepcopy(model.state_dict())}
        elif epoch - best["epoch"] >= patience:
            break
    model.load_state_dict(best["state"])
    print(f"RESULT val_rmse={best['val']:.4f} test_rmse={evaluate(model, data['test'], y_std):.4f}")


if __name__ == "__main__":
    main()
