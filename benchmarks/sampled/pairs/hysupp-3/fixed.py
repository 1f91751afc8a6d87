import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

BANDS, ENDMEMBERS, SIZE = 40, 5, 24


def make_scene(rng):
    grid = np.linspace(0, 1, BANDS)
    library = []
    for _ in range(ENDMEMBERS):
        curve = 0.3 + 0.2 * rng.rand()
        for _ in range(3):
            curve = curve + rng.uniform(-0.3, 0.5) * np.exp(-((grid - rng.rand()) / rng.uniform(0.05, 0.3)) ** 2)
        library.append(np.clip(curve, 0.02, 1.0))
    library = np.stack(library, axis=1)
    field = rng.randn(ENDMEMBERS, SIZE, SIZE)
    kernel = np.ones(5) / 5
    for axis in (1, 2):
        field = np.apply_along_axis(lambda v: np.convolve(np.pad(v, 2, mode="edge"), kernel, "valid"), axis, field)
    weights = np.exp(6 * field)
    abundances = weights / weights.sum(0, keepdims=True)
    image = np.tensordot(library, abundances, axes=(1, 0))
    noisy = image + 0.01 * rng.randn(*image.shape)
    to = lambda a: torch.tensor(a, dtype=torch.float32)
    return to(library), to(abundances), to(noisy)


def conv_block(cin, cout, kernel=3):
    return nn.Sequential(
        nn.Conv2d(cin, cout, kernel, padding=kernel // 2, padding_mode="reflect", bias=False),
        nn.BatchNorm2d(cout),
        nn.LeakyReLU(0.1),
    )


class UnmixingNet(nn.Module):
    def __init__(self, bands, n_end, width=32):
        super().__init__()
        self.layer1 = conv_block(bands, width)
        self.layer2 = conv_block(width, width)
        self.layer3 = nn.Conv2d(width, n_end, 1)

    def forward(self, x):
        h = self.layer1(x)
        h = self.layer2(h)
        return F.softmax(self.layer3(h), dim=1)


class SupervisedUnmixing:
    def __init__(self, library, epochs=300, lr=5e-3):
        self.library = library
        self.epochs, self.lr = epochs, lr
        self.net = UnmixingNet(library.shape[0], library.shape[1])

    def reconstruct(self, abundances):
        return torch.einsum("br,nrhw->nbhw", self.library, abundances)

    def solve(self, image):
        y = image.unsqueeze(0)
        opt = torch.optim.Adam(self.net.parameters(), lr=self.lr)
        self.net.train()
        for epoch in range(self.epochs):
            opt.zero_grad()
            abundances = self.net(y)
            loss = F.mse_loss(self.reconstruct(abundances), y)
            loss.backward()
            opt.step()
            if (epoch + 1) % 100 == 0:
                print(f"epoch {epoch + 1} loss {loss.item():.6f}")
        self.net.eval()
        with torch.no_grad():
            return self.net(y).squeeze(0), loss.item()


def signal_to_error(truth, estimate):
    return (10 * torch.log10(truth.pow(2).sum() / (truth - estimate).pow(2).sum())).item()


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    rng = np.random.RandomState(seed)
    library, truth, image = make_scene(rng)
    model = SupervisedUnmixing(library)
    n_params = sum(p.numel() for p in model.net.parameters())
    estimate, loss = model.solve(image)
    rmse = (estimate - truth).pow(2).mean().sqrt().item()
    print(f"parameters {n_params}")
    print(f"RESULT loss={loss:.6f} abundance_rmse={rmse:.4f} sre_db={signal_to_error(truth, estimate):.2f}")


if __name__ == "__main__":
    main()
