import math
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

ACTIVATIONS = {nn.ReLU: "relu", nn.LeakyReLU: "leaky_relu", nn.Sigmoid: "sigmoid", nn.Tanh: "tanh"}


def get_activation_name(activation):
    for kind in ACTIVATIONS:
        if isinstance(activation, kind):
            return kind
    return None


def linear_init(module, activation="relu"):
    if activation is None:
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)
        return
    name = activation if isinstance(activation, str) else get_activation_name(activation)
    if name == "leaky_relu":
        nn.init.kaiming_uniform_(module.weight, a=activation.negative_slope, nonlinearity="leaky_relu")
        nn.init.zeros_(module.bias)
    elif name == "relu":
        nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
        nn.init.zeros_(module.bias)
    elif name in ("sigmoid", "tanh"):
        nn.init.xavier_uniform_(module.weight, gain=nn.init.calculate_gain(name))
        nn.init.zeros_(module.bias)


class MLP(nn.Module):
    def __init__(self, cin, cout, hidden=64, layers=3, activation=None):
        super().__init__()
        self.activation = activation if activation is not None else nn.ReLU()
        self.to_hidden = nn.Linear(cin, hidden)
        self.linears = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(layers - 1))
        self.out = nn.Linear(hidden, cout)
        self.reset_parameters()

    def reset_parameters(self):
        linear_init(self.to_hidden, activation=self.activation)
        for lin in self.linears:
            linear_init(lin, activation=self.activation)
        linear_init(self.out, activation=None)

    def forward(self, x):
        h = self.activation(self.to_hidden(x))
        for lin in self.linears:
            h = self.activation(lin(h))
        return self.out(h)


class CNP(nn.Module):
    def __init__(self, r_dim=64):
        super().__init__()
        self.xy_encoder = MLP(2, r_dim)
        self.decoder = MLP(r_dim + 1, 2)

    def forward(self, x_cntxt, y_cntxt, x_trgt):
        r = self.xy_encoder(torch.cat([x_cntxt, y_cntxt], -1)).mean(1, keepdim=True)
        out = self.decoder(torch.cat([r.expand(-1, x_trgt.size(1), -1), x_trgt], -1))
        loc, scale = out.chunk(2, -1)
        return torch.distributions.Normal(loc, 0.01 + 0.99 * F.softplus(scale))


def sample_functions(batch, points=40):
    x = torch.empty(batch, points, 1).uniform_(-1, 1)
    length = 0.35
    k = torch.exp(-0.5 * ((x - x.transpose(1, 2)) / length) ** 2) + 1e-3 * torch.eye(points)
    y = torch.linalg.cholesky(k) @ torch.randn(batch, points, 1)
    return x, y + 0.02 * torch.randn_like(y)


def split_context(x, y):
    n = int(torch.randint(3, 20, ()))
    return x[:, :n], y[:, :n]


def evaluate(model, tasks):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for x, y in tasks:
            total += model(x[:, :10], y[:, :10], x[:, 10:]).log_prob(y[:, 10:]).mean().item()
    return total / len(tasks)


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    test_tasks = [sample_functions(32) for _ in range(8)]
    model = CNP()
    hidden_std = model.decoder.linears[0].weight.std().item() * math.sqrt(64)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    running = []
    for step in range(500):
        model.train()
        x, y = sample_functions(16)
        x_cntxt, y_cntxt = split_context(x, y)
        loss = -model(x_cntxt, y_cntxt, x).log_prob(y).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running.append(loss.item())
        if (step + 1) % 100 == 0:
            print(f"step {step + 1} nll {sum(running[-100:]) / 100:.4f}")
    early = sum(running[:100]) / 100
    print(f"RESULT early_nll={early:.4f} train_nll={sum(running[-100:]) / 100:.4f} "
          f"test_loglik={evaluate(model, test_tasks):.4f} init_scale={hidden_std:.3f}")


if __name__ == "__main__":
    main()
