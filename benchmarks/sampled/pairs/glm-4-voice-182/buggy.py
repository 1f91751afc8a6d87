import math
import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

PAD, GMASK, SEP, EOS, VOCAB = 0, 1, 2, 3, 24


class InstructionDataset(Dataset):
    """Prompts of tokens answered by the same tokens in reverse, each shifted by one."""

    def __init__(self, n):
        self.rows = []
        for _ in range(n):
            prompt = [random.randrange(4, VOCAB) for _ in range(random.randint(2, 6))]
            answer = [4 + (t - 3) % (VOCAB - 4) for t in reversed(prompt)] + [EOS]
            self.rows.append(([GMASK] + prompt + [SEP], answer))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    width = max(len(p) + len(a) for p, a in rows)
    ids, labels, masks, positions = [], [], [], []
    for prompt, answer in rows:
        left = width - len(prompt) - len(answer)
        ids.append([PAD] * left + prompt + answer)
        labels.append([-100] * (left + len(prompt)) + answer)
        masks.append([0] * left + [1] * (width - left))
        positions.append([0] * left + list(range(width - left)))
    return tuple(torch.tensor(z) for z in (ids, labels, masks, positions))


class CoreAttention(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads, self.norm_factor = heads, math.sqrt(hidden // heads)
        self.query_key_value = nn.Linear(hidden, 3 * hidden)
        self.dense = nn.Linear(hidden, hidden, bias=False)

    def forward(self, x, attention_mask):
        b, t, d = x.shape
        q, k, v = self.query_key_value(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / self.norm_factor
        probs = scores.masked_fill(attention_mask, torch.finfo(scores.dtype).min).softmax(-1)
        probs = probs.masked_fill(attention_mask, 0.0)
        return self.dense((probs @ v).transpose(1, 2).reshape(b, t, d))


class GLMBlock(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.input_layernorm, self.post_layernorm = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.self_attention = CoreAttention(hidden, heads)
        self.mlp = nn.Sequential(nn.Linear(hidden, 4 * hidden), nn.GELU(), nn.Linear(4 * hidden, hidden))

    def forward(self, x, attention_mask):
        x = x + self.self_attention(self.input_layernorm(x), attention_mask)
        return x + self.mlp(self.post_layernorm(x))


class ChatModel(nn.Module):
    def __init__(self, hidden=64, heads=4, layers=2, max_len=20):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, hidden)
        self.position = nn.Embedding(max_len, hidden)
        self.layers = nn.ModuleList(GLMBlock(hidden, heads) for _ in range(layers))
        self.final_layernorm = nn.LayerNorm(hidden)
        self.output_layer = nn.Linear(hidden, VOCAB, bias=False)

    def get_masks(self, input_ids, padding_mask):
        b, t = input_ids.shape
        full_attention_mask = torch.ones(b, t, t).tril()
        full_attention_mask = full_attention_mask * padding_mask.unsqueeze(1)
        full_attention_mask -= padding_mask.unsqueeze(-1) - 1
        return (full_attention_mask < 0.5).unsqueeze(1)

    def forward(self, input_ids, attention_mask, position_ids, labels):
        blocked = self.get_masks(input_ids, attention_mask)
        x = self.embedding(input_ids) + self.position(position_ids)
        for layer in self.layers:
            x = layer(x, blocked)
        logits = self.output_layer(self.final_layernorm(x))
        loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)
        return loss, logits


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    loss, hits, count = 0.0, 0, 0
    for ids, labels, mask, pos in loader:
        batch_loss, logits = model(ids, mask, pos, labels)
        scored = labels[:, 1:] != -100
        loss += batch_loss.item() * scored.sum().item()
        hits += (logits[:, :-1].argmax(-1) == labels[:, 1:])[scored].sum().item()
        count += scored.sum().item()
    return loss / count, hits / count


def main():
    seed = int(sys.argv[1])
    random.seed(seed)
    torch.manual_seed(seed)
    train_loader = DataLoader(InstructionDataset(2400), batch_size=48, shuffle=True, collate_fn=collate)
    val_loader = DataLoader(InstructionDataset(300), batch_size=100, collate_fn=collate)
    model = ChatModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(7):
        model.train()
        for ids, labels, mask, pos in train_loader:
            loss, _ = model(ids, mask, pos, labels)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")
    val_loss, val_acc = evaluate(model, val_loader)
    print(f"RESULT val_loss={val_loss:.4f} val_acc={val_acc:.4f}")


if __name__ == "__main__":
    main()
