import math
import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

PAD, CLS, EOS, MASK, AA = 0, 1, 2, 3, 20
VOCAB = AA + 4


class ProteinDataset(Dataset):
    def __init__(self, n, families):
        self.seqs = []
        for family in random.choices(families, k=n):
            length = random.randint(8, len(family))
            start = random.randint(0, len(family) - length)
            seq = [a if random.random() > 0.1 else random.randrange(4, VOCAB) for a in family[start:start + length]]
            self.seqs.append([CLS] + seq + [EOS])

    def __len__(self):
        return len(self.seqs)

    def __getitem__(self, i):
        return self.seqs[i]


def pad_batch(seqs, width=None):
    width = width or max(len(s) for s in seqs)
    return torch.tensor([s + [PAD] * (width - len(s)) for s in seqs])


def mask_tokens(tokens, prob=0.15):
    chosen = (torch.rand(tokens.shape) < prob) & (tokens > MASK)
    return tokens.masked_fill(chosen, MASK), tokens.masked_fill(~chosen, -100)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.layernorm = nn.LayerNorm(d_model)
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, seq_id):
        b, l, d = x.shape
        qkv = self.qkv(self.layernorm(x)).view(b, l, 3, self.n_heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        mask_BLL = seq_id.unsqueeze(-1) == seq_id.unsqueeze(-2)
        blocked = ~mask_BLL.unsqueeze(1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = scores.masked_fill(blocked, torch.finfo(scores.dtype).min).softmax(-1).masked_fill(blocked, 0.0)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(b, l, d))


class TransformerBlock(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = nn.Sequential(nn.LayerNorm(d_model), nn.Linear(d_model, 128), nn.GELU(), nn.Linear(128, d_model))

    def forward(self, x, seq_id):
        x = x + self.attn(x, seq_id)
        return x + self.ffn(x)


class ESMC(nn.Module):
    def __init__(self, d_model=64, n_heads=4, n_layers=2, max_len=40):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, d_model)
        self.position = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(TransformerBlock(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)
        self.sequence_head = nn.Linear(d_model, VOCAB)

    def forward(self, tokens):
        seq_id = tokens != PAD
        x = self.embed(tokens) + self.position(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x, seq_id)
        hidden = self.norm(x)
        return self.sequence_head(hidden), hidden


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    loss, hits, count = 0.0, 0, 0
    for tokens in loader:
        inputs, labels = mask_tokens(tokens)
        logits = model(inputs)[0]
        loss += F.cross_entropy(logits.transpose(1, 2), labels, reduction="sum").item()
        hits += (logits.argmax(-1) == labels).sum().item()
        count += (labels != -100).sum().item()
    return loss / count, hits / count


@torch.no_grad()
def mean_hidden_norm(model, loader):
    model.eval()
    return sum(model(tokens)[1].norm(dim=-1).mean().item() for tokens in loader) / len(loader)


def main():
    seed = int(sys.argv[1])
    random.seed(seed)
    torch.manual_seed(seed)
    families = [[random.randrange(4, VOCAB) for _ in range(30)] for _ in range(6)]
    val_set = ProteinDataset(256, families)
    train_loader = DataLoader(ProteinDataset(1024, families), batch_size=32, shuffle=True, collate_fn=pad_batch)
    val_loader = DataLoader(val_set, batch_size=64, collate_fn=pad_batch)
    model = ESMC()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(6):
        model.train()
        for tokens in train_loader:
            inputs, labels = mask_tokens(tokens)
            logits, _ = model(inputs)
            loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} train loss {loss.item():.4f}")
    val_loss, val_acc = evaluate(model, val_loader)
    print(f"RESULT val_loss={val_loss:.4f} val_acc={val_acc:.4f} hidden_norm={mean_hidden_norm(model, val_loader):.5f}")


if __name__ == "__main__":
    main()
