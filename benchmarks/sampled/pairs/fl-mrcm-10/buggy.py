import copy
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

SIZE = 16


def phantom(n, rng, contrast):
    axis = np.linspace(-1, 1, SIZE)
    gx, gy = np.meshgrid(axis, axis)
    images = np.zeros((n, SIZE, SIZE))
    for i in range(n):
        for _ in range(4):
            cx, cy = rng.uniform(-0.6, 0.6, 2)
            rx, ry = rng.uniform(0.1, 0.45, 2)
            images[i] += contrast * rng.uniform(0.3, 1.0) * (((gx - cx) / rx) ** 2 + ((gy - cy) / ry) ** 2 < 1)
    return images


def undersample(images, rng, keep):
    spectrum = np.fft.fft2(images)
    mask = rng.rand(len(images), 1, SIZE) < keep
    mask[:, :, :3] = mask[:, :, -2:] = True
    return np.abs(np.fft.ifft2(spectrum * mask))


def make_site(n, seed, contrast, keep):
    rng = np.random.RandomState(seed)
    full = phantom(n, rng, contrast)
    part = undersample(full, rng, keep)
    to = lambda a: torch.tensor(a, dtype=torch.float32).unsqueeze(1)
    return TensorDataset(to(part), to(full))


class ReconNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.LeakyReLU(0.2), nn.AvgPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.LeakyReLU(0.2),
        )
        self.decoder = nn.Sequential(
            nn.Conv2d(2 * width, width, 3, padding=1), nn.LeakyReLU(0.2),
            nn.Upsample(scale_factor=2), nn.Conv2d(width, 1, 3, padding=1),
        )

    def forward(self, x):
        z = self.encoder(x)
        return x + self.decoder(z), z


class Discriminator(nn.Module):
    def __init__(self, cin=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(cin, 16, 3, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Flatten(), nn.Linear(16 * (SIZE // 4) ** 2, 1),
        )

    def forward(self, z):
        return self.net(z)


def bce(logit, value):
    return F.binary_cross_entropy_with_logits(logit, torch.full_like(logit, value))


def local_update(model, disc, opt_g, opt_d, source, target_iter, lam):
    log = {"rec": [], "adv": [], "disc": []}
    model.train()
    for part, full in source:
        part_t = next(target_iter)[0]
        out, z_s = model(part)
        z_t = model.encoder(part_t)
        rec = F.l1_loss(out, full)
        adv = bce(disc(z_s), 0.0)
        adv = adv.detach().item()
        log["adv"].append(adv)
        loss = rec + lam * adv
        opt_g.zero_grad()
        loss.backward()
        opt_g.step()
        d_loss = 0.5 * (bce(disc(z_s.detach()), 1.0) + bce(disc(z_t.detach()), 0.0))
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()
        log["rec"].append(rec.item())
        log["disc"].append(d_loss.item())
    return {k: float(np.mean(v)) for k, v in log.items()}


def average(states):
    return {k: torch.stack([s[k] for s in states]).mean(0) for k in states[0]}


def endless(loader):
    while True:
        yield from loader


@torch.no_grad()
def test(model, loader):
    model.eval()
    errors = [(model(part)[0] - full).pow(2).mean((1, 2, 3)) for part, full in loader]
    return (-10 * torch.cat(errors).log10()).mean().item()


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    sites = [make_site(240, seed, 1.0, 0.5), make_site(240, seed + 100, 0.7, 0.4)]
    target_train, target_test = make_site(240, seed + 200, 0.5, 0.3), make_site(120, seed + 300, 0.5, 0.3)
    loaders = [DataLoader(s, batch_size=16, shuffle=True) for s in sites]
    target_iter = endless(DataLoader(target_train, batch_size=16, shuffle=True))
    model = ReconNet()
    clients = [copy.deepcopy(model) for _ in sites]
    discs = [Discriminator() for _ in sites]
    opt_g = [torch.optim.Adam(c.parameters(), lr=1e-3) for c in clients]
    opt_d = [torch.optim.Adam(d.parameters(), lr=1e-3) for d in discs]
    for rnd in range(8):
        logs = []
        for k, client in enumerate(clients):
            client.load_state_dict(model.state_dict())
            logs.append(local_update(client, discs[k], opt_g[k], opt_d[k], loaders[k], target_iter, lam=0.1))
        model.load_state_dict(average([c.state_dict() for c in clients]))
        print(f"round {rnd} " + " ".join(f"{k} {np.mean([l[k] for l in logs]):.4f}" for k in logs[0]))
    adv, disc = np.mean([l["adv"] for l in logs]), np.mean([l["disc"] for l in logs])
    psnr = test(model, DataLoader(target_test, batch_size=40))
    print(f"RESULT target_psnr={psnr:.3f} adv_loss={adv:.4f} disc_loss={disc:.4f}")


if __name__ == "__main__":
    main()
