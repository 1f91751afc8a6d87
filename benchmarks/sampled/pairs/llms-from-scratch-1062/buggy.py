import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

CONFIG = {"vocab_size": 40, "context_length": 32, "emb_dim": 64, "n_heads": 4, "n_layers": 2,
          "drop_rate": 0.1, "qkv_bias": False}


class MHAScaledDotProduct(nn.Module):
    def __init__(self, d_in, d_out, num_heads, context_length, dropout=0.0, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.num_heads, self.head_dim, self.d_out = num_heads, d_out // num_heads, d_out
        self.qkv = nn.Linear(d_in, 3 * d_out, bias=qkv_bias)
        self.proj = nn.Linear(d_out, d_out)
        self.dropout = dropout
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1).bool())

    def forward(self, x):
        batch, num_tokens, _ = x.shape
        qkv = self.qkv(x).view(batch, num_tokens, 3, self.num_heads, self.head_dim)
        queries, keys, values = qkv.permute(2, 0, 3, 1, 4)
        attn_mask = self.mask[:num_tokens, :num_tokens]
        use_dropout = self.dropout if self.training else 0.0
        context = nn.functional.scaled_dot_product_attention(
            queries, keys, values, attn_mask=attn_mask, dropout_p=use_dropout, is_causal=False)
        context = context.transpose(1, 2).contiguous().view(batch, num_tokens, self.d_out)
        return self.proj(context)


class TransformerBlock(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        d = cfg["emb_dim"]
        self.att = MHAScaledDotProduct(d, d, cfg["n_heads"], cfg["context_length"], cfg["drop_rate"], cfg["qkv_bias"])
        self.ff = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.drop_shortcut = nn.Dropout(cfg["drop_rate"])

    def forward(self, x):
        x = x + self.drop_shortcut(self.att(self.norm1(x)))
        return x + self.drop_shortcut(self.ff(self.norm2(x)))


class GPTModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.tok_emb = nn.Embedding(cfg["vocab_size"], cfg["emb_dim"])
        self.pos_emb = nn.Embedding(cfg["context_length"], cfg["emb_dim"])
        self.drop_emb = nn.Dropout(cfg["drop_rate"])
        self.trf_blocks = nn.Sequential(*[TransformerBlock(cfg) for _ in range(cfg["n_layers"])])
        self.final_norm = nn.LayerNorm(cfg["emb_dim"])
        self.out_head = nn.Linear(cfg["emb_dim"], cfg["vocab_size"], bias=False)

    def forward(self, in_idx):
        pos = torch.arange(in_idx.shape[1], device=in_idx.device)
        x = self.drop_emb(self.tok_emb(in_idx) + self.pos_emb(pos))
        return self.out_head(self.final_norm(self.trf_blocks(x)))


class GPTDataset(Dataset):
    def __init__(self, token_ids, max_length, stride):
        self.windows = [token_ids[i:i + max_length + 1] for i in range(0, len(token_ids) - max_length, stride)]

    def __len__(self):
        return len(self.windows)

    def __getitem__(self, idx):
        chunk = self.windows[idx]
        return chunk[:-1], chunk[1:]


def make_text(table, words, n_words):
    out, w = [], 0
    for _ in range(n_words):
        out.extend(words[w] + [0])
        w = torch.multinomial(table[w], 1).item()
    return torch.tensor(out)


def calc_loss_batch(x, y, model):
    logits = model(x)
    return nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())


@torch.no_grad()
def evaluate_model(model, loader):
    model.eval()
    losses = [calc_loss_batch(x, y, model).item() for x, y in loader]
    model.train()
    return sum(losses) / len(losses)


def train_model_simple(model, train_loader, val_loader, optimizer, num_epochs):
    for epoch in range(num_epochs):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = calc_loss_batch(x, y, model)
            loss.backward()
            optimizer.step()
        print(f"Ep {epoch + 1}: train loss {loss.item():.3f}, val loss {evaluate_model(model, val_loader):.3f}")


def main():
    torch.manual_seed(int(sys.argv[1]))
    words = [torch.randint(1, CONFIG["vocab_size"], (int(n),)).tolist() for n in torch.randint(2, 6, (60,))]
    table = torch.softmax(2.5 * torch.randn(60, 60), -1)
    ids = make_text(table, words, 5000)
    cut = int(0.9 * len(ids))
    ctx = CONFIG["context_length"]
    train_loader = DataLoader(GPTDataset(ids[:cut], ctx, ctx), batch_size=16, shuffle=True, drop_last=True)
    val_loader = DataLoader(GPTDataset(ids[cut:], ctx, ctx), batch_size=16, shuffle=False, drop_last=True)
    model = GPTModel(CONFIG)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.1)
    train_model_simple(model, train_loader, val_loader, optimizer, num_epochs=5)
    print(f"RESULT train_loss={evaluate_model(model, train_loader):.4f} val_loss={evaluate_model(model, val_loader):.4f}")


if __name__ == "__main__":
    main()
