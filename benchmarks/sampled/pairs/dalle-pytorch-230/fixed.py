import os
import sys
import tempfile

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

WORLD = 2
TEXT_LEN, IMAGE_LEN, VOCAB, CODES = 4, 16, 12, 20
EPOCHS, BATCH = 8, 16


class TextImageDataset(Dataset):
    def __init__(self, n, seed):
        rng = np.random.RandomState(seed)
        table = np.random.RandomState(99).randint(0, CODES, (VOCAB, IMAGE_LEN // TEXT_LEN))
        text = rng.randint(0, VOCAB, (n, TEXT_LEN))
        image = table[text].reshape(n, IMAGE_LEN)
        noise = rng.rand(n, IMAGE_LEN) < 0.05
        image = np.where(noise, rng.randint(0, CODES, image.shape), image)
        self.text, self.image = torch.from_numpy(text), torch.from_numpy(image)

    def __len__(self):
        return len(self.text)

    def __getitem__(self, i):
        return self.text[i], self.image[i], i


class DALLE(nn.Module):
    def __init__(self, dim=48, depth=2, heads=4):
        super().__init__()
        self.text_emb = nn.Embedding(VOCAB, dim)
        self.image_emb = nn.Embedding(CODES, dim)
        self.pos = nn.Parameter(torch.randn(TEXT_LEN + IMAGE_LEN - 1, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, heads, 4 * dim, dropout=0.0, batch_first=True, norm_first=True)
        self.transformer = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.to_logits = nn.Linear(dim, CODES)
        total = TEXT_LEN + IMAGE_LEN - 1
        self.register_buffer("mask", torch.triu(torch.full((total, total), float("-inf")), 1))

    def forward(self, text, image):
        h = torch.cat([self.text_emb(text), self.image_emb(image[:, :-1])], dim=1) + self.pos
        h = self.transformer(h, mask=self.mask)
        logits = self.to_logits(h[:, TEXT_LEN - 1:])
        return F.cross_entropy(logits.flatten(0, 1), image.flatten())


def evaluate(model, loader):
    model.eval()
    total, n = 0.0, 0
    with torch.no_grad():
        for text, image, _ in loader:
            total += model(text, image).item() * len(text)
            n += len(text)
    model.train()
    return total / n


def worker(rank, seed, init_file):
    torch.manual_seed(seed)
    np.random.seed(seed)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{init_file}", rank=rank, world_size=WORLD)
    train_set, val_set = TextImageDataset(640, seed), TextImageDataset(128, seed + 1000)
    data_sampler = DistributedSampler(train_set, num_replicas=WORLD, rank=rank, shuffle=True, seed=seed)
    loader = DataLoader(train_set, batch_size=BATCH, sampler=data_sampler, drop_last=True)
    val_loader = DataLoader(val_set, batch_size=64)
    dalle = DDP(DALLE())
    opt = torch.optim.Adam(dalle.parameters(), lr=1e-3)
    orders = []
    for epoch in range(EPOCHS):
        data_sampler.set_epoch(epoch)
        order = []
        for i, (text, image, idx) in enumerate(loader):
            loss = dalle(text, image)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(dalle.parameters(), 0.5)
            opt.step()
            order.extend(idx.tolist())
            if i % 10 == 0 and rank == 0:
                print(epoch, i, f"loss - {loss.item():.4f}")
        orders.append(tuple(order))
    if rank == 0:
        val = evaluate(dalle.module, val_loader)
        print(f"RESULT val_loss={val:.4f} different_orders={len(set(orders))} epochs={EPOCHS}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(worker, args=(seed, os.path.join(folder, "init")), nprocs=WORLD, join=True)


if __name__ == "__main__":
    main()
