import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

WORLD, DIM, STEPS = 2, 8, 50
ALPHAS = torch.cumprod(1 - torch.linspace(1e-3, 0.15, STEPS), 0)


class UNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.time_emb = nn.Embedding(STEPS, width)
        self.proj_in = nn.Linear(DIM, width)
        self.down = nn.Linear(width, width)
        self.mid = nn.Linear(width, width)
        self.up = nn.Linear(2 * width, width)
        self.proj_out = nn.Linear(width, DIM)

    def forward(self, x, t):
        h = F.silu(self.proj_in(x) + self.time_emb(t))
        d = F.silu(self.down(h))
        m = F.silu(self.mid(d))
        return self.proj_out(F.silu(self.up(torch.cat([m, h], dim=1))))


class LoRAModule(nn.Module):
    def __init__(self, org_module, rank=4, alpha=4.0):
        super().__init__()
        self.lora_down = nn.Linear(org_module.in_features, rank, bias=False)
        self.lora_up = nn.Linear(rank, org_module.out_features, bias=False)
        nn.init.kaiming_uniform_(self.lora_down.weight, a=5 ** 0.5)
        nn.init.zeros_(self.lora_up.weight)
        self.scale = alpha / rank
        self.org_forward = org_module.forward

    def forward(self, x):
        return self.org_forward(x) + self.lora_up(self.lora_down(x)) * self.scale


class LoRANetwork(nn.Module):
    def __init__(self, unet):
        super().__init__()
        self.targets = [m for m in unet.modules() if isinstance(m, nn.Linear)]
        self.unet_loras = nn.ModuleList(LoRAModule(m) for m in self.targets)

    def apply_to(self):
        for module, lora in zip(self.targets, self.unet_loras):
            module.forward = lora.forward


def transform_if_model_is_ddp(model):
    return model.module if isinstance(model, DDP) else model


def make_latents(n, generator, style):
    base = torch.randn(n, 2, generator=generator)
    mix = torch.randn(2, DIM, generator=torch.Generator().manual_seed(5))
    x = base @ mix
    return torch.tanh(x) if style == "base" else torch.tanh(x.flip(1)) + 0.3


def denoise_loss(unet, x):
    noise = torch.randn_like(x)
    t = torch.randint(0, STEPS, (len(x),))
    a = ALPHAS[t].unsqueeze(1)
    return F.mse_loss(unet(a.sqrt() * x + (1 - a).sqrt() * noise, t), noise)


def pretrain(path, seed):
    torch.manual_seed(seed)
    unet = UNet()
    opt = torch.optim.AdamW(unet.parameters(), lr=2e-3)
    data = make_latents(2000, torch.Generator().manual_seed(seed), "base")
    for _ in range(6):
        for (x,) in DataLoader(TensorDataset(data), batch_size=64, shuffle=True):
            loss = denoise_loss(unet, x)
            opt.zero_grad()
            loss.backward()
            opt.step()
    torch.save(unet.state_dict(), path)


def train(rank, seed, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/init", rank=rank, world_size=WORLD)
    torch.manual_seed(seed + rank)
    unet = UNet()
    unet.load_state_dict(torch.load(os.path.join(folder, "unet.pt")))
    unet.requires_grad_(False)
    network = LoRANetwork(unet)
    network.apply_to()
    generator = torch.Generator().manual_seed(seed + 1)
    dataset = TensorDataset(make_latents(512, generator, "new"))
    val = make_latents(512, generator, "new")
    sampler = DistributedSampler(dataset, num_replicas=WORLD, rank=rank, seed=seed)
    loader = DataLoader(dataset, batch_size=16, sampler=sampler)
    network = DDP(network)
    network = transform_if_model_is_ddp(network)
    optimizer = torch.optim.AdamW(network.parameters(), lr=2e-3)
    for epoch in range(10):
        sampler.set_epoch(epoch)
        for (x,) in loader:
            loss = denoise_loss(unet, x)
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    mine = nn.utils.parameters_to_vector(network.parameters()).detach()
    gathered = [torch.empty_like(mine) for _ in range(WORLD)]
    dist.all_gather(gathered, mine)
    if rank == 0:
        torch.manual_seed(seed)
        with torch.no_grad():
            val_loss = sum(denoise_loss(unet, val).item() for _ in range(20)) / 20
        gap = (gathered[0] - gathered[1]).abs().max().item()
        print(f"RESULT val_loss={val_loss:.4f} rank_gap={gap:.6f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    with tempfile.TemporaryDirectory() as folder:
        pretrain(os.path.join(folder, "unet.pt"), seed)
        mp.spawn(train, args=(seed, folder), nprocs=WORLD, join=True)


if __name__ == "__main__":
    main()
