import os
import sys
import tempfile

import numpy as np
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

VOCAB, CONTEXT = 24, 6


class TokenModel(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.norm = nn.LayerNorm(CONTEXT * dim)
        self.up = nn.Linear(CONTEXT * dim, 128)
        self.head = nn.Linear(128, VOCAB)

    def forward(self, ids):
        return self.head(F.silu(self.up(self.norm(self.emb(ids).flatten(1)))))


class CheckpointManager:
    def __init__(self, folder, model, optimizer):
        self.folder, self.model, self.optimizer = folder, model, optimizer

    def path(self, step):
        return os.path.join(self.folder, f"step_{step}")

    def _state(self, step):
        state = {"model": self.model.state_dict(), "step": torch.tensor(step)}
        for i, moments in self.optimizer.state_dict()["state"].items():
            for name, value in moments.items():
                state[f"optimizer.{i}.{name}"] = value
        return state

    def save(self, step):
        dcp.save(self._state(step), storage_writer=dcp.FileSystemWriter(self.path(step)))

    def load(self, step):
        state = self._state(0)
        dcp.load(state, storage_reader=dcp.FileSystemReader(self.path(step)))
        self.model.load_state_dict(state["model"])
        optim = self.optimizer.state_dict()
        for key in state:
            if key.startswith("optimizer."):
                _, i, name = key.split(".")
                optim["state"].setdefault(int(i), {})[name] = state[key]
        self.optimizer.load_state_dict(optim)
        return int(state["step"])


def make_corpus(n, rng):
    table = np.random.RandomState(7).randint(0, VOCAB, (VOCAB, VOCAB))
    seq = [int(rng.randint(VOCAB)), int(rng.randint(VOCAB))]
    while len(seq) < n + CONTEXT:
        nxt = int(table[seq[-1], seq[-2]]) if rng.rand() > 0.1 else int(rng.randint(VOCAB))
        seq.append(nxt)
    seq = torch.tensor(seq)
    windows = seq.unfold(0, CONTEXT + 1, 1)
    return TensorDataset(windows[:, :CONTEXT], windows[:, CONTEXT])


def build():
    model = TokenModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.1, betas=(0.9, 0.95))
    return model, optimizer


def train(model, optimizer, batches, start, stop, losses):
    model.train()
    for step in range(start, stop):
        ids, target = batches[step]
        loss = F.cross_entropy(model(ids), target)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if (step + 1) % 40 == 0:
            print(f"step {step + 1} loss {loss.item():.4f}")


def evaluate(model, dataset):
    model.eval()
    with torch.no_grad():
        ids, target = dataset.tensors
        return F.cross_entropy(model(ids), target).item()


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    rng = np.random.RandomState(seed)
    train_set, val_set = make_corpus(4000, rng), make_corpus(800, rng)
    loader = DataLoader(train_set, batch_size=64, shuffle=True, drop_last=True)
    batches = [b for _ in range(4) for b in loader]
    total, cut = 240, 120
    losses = []
    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group("gloo", init_method=f"file://{folder}/init", rank=0, world_size=1)
        model, optimizer = build()
        train(model, optimizer, batches, 0, cut, losses)
        CheckpointManager(folder, model, optimizer).save(cut)
        model, optimizer = build()
        step = CheckpointManager(folder, model, optimizer).load(cut)
        states = len(optimizer.state)
        print(f"resumed at step {step}")
        train(model, optimizer, batches, step, total, losses)
        dist.destroy_process_group()
    before, after = np.mean(losses[cut - 10:cut]), np.mean(losses[cut:cut + 10])
    print(f"RESULT val_loss={evaluate(model, val_set):.4f} moments_after_load={states} "
          f"loss_before_resume={before:.4f} loss_after_resume={after:.4f}")


if __name__ == "__main__":
    main()
