import math
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

VOCAB, SEQ, DIM = 48, 24, 64


class GatherShards(torch.autograd.Function):
    @staticmethod
    def forward(ctx, shard, full_shape):
        world = dist.get_world_size()
        ctx.shard_shape = shard.shape
        parts = [torch.empty_like(shard) for _ in range(world)]
        dist.all_gather(parts, shard.contiguous())
        return torch.cat(parts)[: math.prod(full_shape)].view(full_shape)

    @staticmethod
    def backward(ctx, grad):
        world, rank = dist.get_world_size(), dist.get_rank()
        flat = grad.reshape(-1).clone()
        dist.all_reduce(flat)
        flat = F.pad(flat / world, (0, ctx.shard_shape[0] * world - flat.numel()))
        return flat.chunk(world)[rank].clone(), None


def shard_tensor(t):
    world, rank = dist.get_world_size(), dist.get_rank()
    per = -(-t.numel() // world)
    flat = F.pad(t.reshape(-1), (0, per * world - t.numel()))
    return flat.chunk(world)[rank].clone()


def data_parallel(model):
    for mod in list(model.modules()):
        shapes = {}
        for name, p in list(mod.named_parameters(recurse=False)):
            shapes[name] = p.shape
            mod.register_parameter(name, nn.Parameter(shard_tensor(p.data)))
        if shapes:
            props = {n: property(lambda self, n=n, s=s: GatherShards.apply(self._parameters[n], s))
                     for n, s in shapes.items()}
            mod.__class__ = type("Sharded" + mod.__class__.__name__, (mod.__class__,), props)
    return model


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.w1, self.w2 = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (z.view(b, t, self.heads, -1).transpose(1, 2) for z in self.qkv(self.norm1(x)).chunk(3, -1))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(a.transpose(1, 2).reshape(b, t, d))
        return x + self.w2(F.silu(self.w1(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.tok_embeddings = nn.Embedding(VOCAB, DIM)
        self.pos_embeddings = nn.Embedding(SEQ, DIM)
        self.layers = nn.ModuleList(Block(DIM, 4) for _ in range(layers))
        self.norm = nn.LayerNorm(DIM)
        self.output = nn.Linear(DIM, VOCAB)

    def forward(self, ids):
        x = self.tok_embeddings(ids) + self.pos_embeddings(torch.arange(ids.shape[1]))
        for layer in self.layers:
            x = layer(x)
        return self.output(self.norm(x))


def markov_corpus(table, n):
    seqs = torch.randint(VOCAB, (n, 1))
    for _ in range(SEQ):
        seqs = torch.cat([seqs, torch.multinomial(table[seqs[:, -1]], 1)], 1)
    return seqs


def next_token_loss(model, seqs):
    return F.cross_entropy(model(seqs[:, :-1]).flatten(0, 1), seqs[:, 1:].flatten())


def train(model, seqs, epochs, lr):
    opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=lr)
    loader = DataLoader(TensorDataset(seqs), batch_size=32, shuffle=True)
    for epoch in range(epochs):
        model.train()
        for (batch,) in loader:
            loss = next_token_loss(model, batch)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


@torch.no_grad()
def validate(model, seqs):
    model.eval()
    return next_token_loss(model, seqs).item()


def main():
    torch.manual_seed(int(sys.argv[1]))
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    general = torch.softmax(2.0 * torch.randn(VOCAB, VOCAB), -1)
    domain = torch.softmax(general.log() + 1.0 * torch.randn(VOCAB, VOCAB), -1)
    model = Transformer()
    train(model, markov_corpus(general, 1024), epochs=3, lr=3e-3)

    model.tok_embeddings.requires_grad_(False)
    model.pos_embeddings.requires_grad_(False)
    model.layers[0].requires_grad_(False)
    model = data_parallel(model)
    n_train = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print("trainable parameters", n_train)
    train(model, markov_corpus(domain, 512), epochs=5, lr=1e-3)
    val = validate(model, markov_corpus(domain, 256))
    print(f"RESULT val_loss={val:.4f} trainable={n_train}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
