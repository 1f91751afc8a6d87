import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

VOCAB, LENGTH = 24, 24


def causal_lm_loss(logits, labels, vocab_size, ignore_index=-100):
    logits = logits.float()
    shift_logits = logits[..., :-1, :].contiguous()
    shift_labels = labels[..., 1:].contiguous()
    return F.cross_entropy(shift_logits.view(-1, vocab_size), shift_labels.view(-1), ignore_index=ignore_index)


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (z.view(b, t, self.heads, -1).transpose(1, 2) for z in self.qkv(x).chunk(3, -1))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(out.transpose(1, 2).reshape(b, t, d))


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = Attention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class TextModel(nn.Module):
    def __init__(self, dim=64, heads=4, layers=2):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.position = nn.Embedding(LENGTH, dim)
        self.layers = nn.ModuleList(Layer(dim, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)

    def forward(self, input_ids):
        x = self.embed(input_ids) + self.position(torch.arange(input_ids.size(1)))
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


class ForCausalLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = TextModel()
        self.lm_head = nn.Linear(64, VOCAB, bias=False)
        self.loss_function = causal_lm_loss

    def forward(self, input_ids, labels=None):
        logits = self.lm_head(self.model(input_ids))
        loss = None
        if labels is not None:
            loss = self.loss_function(logits, labels, vocab_size=VOCAB)
        return {"loss": loss, "logits": logits}

    @torch.no_grad()
    def generate(self, input_ids, new_tokens):
        for _ in range(new_tokens):
            nxt = self(input_ids)["logits"][:, -1].argmax(-1, keepdim=True)
            input_ids = torch.cat([input_ids, nxt], dim=1)
        return input_ids


def make_sentences(n, rng):
    successor = np.random.RandomState(4).permutation(VOCAB)
    ids = np.zeros((n, LENGTH), dtype=np.int64)
    ids[:, 0] = rng.randint(0, VOCAB, n)
    for t in range(1, LENGTH):
        keep = rng.rand(n) < 0.9
        ids[:, t] = np.where(keep, successor[ids[:, t - 1]], rng.randint(0, VOCAB, n))
    return torch.from_numpy(ids), torch.from_numpy(successor)


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    rng = np.random.RandomState(seed)
    train_ids, _ = make_sentences(800, rng)
    test_ids, successor = make_sentences(200, rng)
    loader = DataLoader(TensorDataset(train_ids), batch_size=16, shuffle=True)
    model = ForCausalLM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    for epoch in range(5):
        model.train()
        running = 0.0
        for (ids,) in loader:
            loss = model(ids, labels=ids)["loss"]
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            running += loss.item()
        print(f"epoch {epoch} loss {running / len(loader):.4f}")
    model.eval()
    with torch.no_grad():
        logits = model(test_ids)["logits"]
    nll = F.cross_entropy(logits[:, :-1].reshape(-1, VOCAB), test_ids[:, 1:].reshape(-1)).item()
    text = model.generate(test_ids[:, :6], 8)
    follows = (text[:, 6:] == successor[text[:, 5:-1]]).float().mean().item()
    print(f"RESULT train_loss={running / len(loader):.4f} next_token_nll={nll:.4f} generated_ok={follows:.4f}")


if __name__ == "__main__":
    main()
