import sys
from dataclasses import dataclass
from typing import Optional

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class SpeechTextConfig:
    vocab_size: int = 32
    hidden_size: int = 64
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    ffn_dim: int = 128
    max_position_embeddings: int = 32


@dataclass
class CausalLMOutput:
    loss: Optional[torch.Tensor]
    logits: torch.Tensor


def for_causal_lm_loss(logits, labels, vocab_size, shift_labels=None, ignore_index=-100):
    if shift_labels is None:
        labels = F.pad(labels, (0, 1), value=ignore_index)
        shift_labels = labels[..., 1:]
    return F.cross_entropy(logits.view(-1, vocab_size), shift_labels.reshape(-1), ignore_index=ignore_index)


LOSS_MAPPING = {"ForCausalLM": for_causal_lm_loss}


class RMSNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class DecoderLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        d = config.hidden_size
        self.num_heads = config.num_attention_heads
        self.input_layernorm, self.post_attention_layernorm = RMSNorm(d), RMSNorm(d)
        self.qkv_proj, self.o_proj = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
        self.fc1, self.fc2 = nn.Linear(d, 2 * config.ffn_dim, bias=False), nn.Linear(config.ffn_dim, d, bias=False)

    def forward(self, x):
        b, t, d = x.shape
        qkv = self.qkv_proj(self.input_layernorm(x)).view(b, t, 3, self.num_heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        attn = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d)
        x = x + self.o_proj(attn)
        gate, up = self.fc1(self.post_attention_layernorm(x)).chunk(2, -1)
        return x + self.fc2(F.silu(gate) * up)


class SpeechTextForCausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.loss_function = next(fn for key, fn in LOSS_MAPPING.items() if key in type(self).__name__)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.embed_positions = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.num_hidden_layers))
        self.norm = RMSNorm(config.hidden_size)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def forward(self, input_ids, labels=None):
        positions = torch.arange(input_ids.shape[1], device=input_ids.device)
        hidden = self.embed_tokens(input_ids) + self.embed_positions(positions)
        for layer in self.layers:
            hidden = layer(hidden)
        logits = self.lm_head(self.norm(hidden)).float()
        loss = None
        if labels is not None:
            shift_logits = logits[..., :-1, :].contiguous()
            shift_labels = labels[..., 1:].contiguous()
            loss = self.loss_function(shift_logits, shift_labels, self.config.vocab_size)
        return CausalLMOutput(loss=loss, logits=logits)

    @torch.no_grad()
    def generate(self, input_ids, max_new_tokens):
        for _ in range(max_new_tokens):
            next_id = self(input_ids).logits[:, -1].argmax(-1, keepdim=True)
            input_ids = torch.cat([input_ids, next_id], 1)
        return input_ids


def make_dialogues(table, n, length=24):
    ids = torch.randint(table.shape[0], (n, 1))
    for _ in range(length - 1):
        ids = torch.cat([ids, torch.multinomial(table[ids[:, -1]], 1)], 1)
    return ids


@torch.no_grad()
def evaluate(model, loader, table):
    model.eval()
    loss, hits, count, likely = 0.0, 0, 0, []
    for (ids,) in loader:
        out = model(ids, labels=ids)
        loss += out.loss.item() * len(ids)
        hits += (out.logits[:, :-1].argmax(-1) == ids[:, 1:]).sum().item()
        count += ids[:, 1:].numel()
        text = model.generate(ids[:, :4], 8)
        likely.append(table[text[:, 3:-1], text[:, 4:]].log().mean().item())
    return loss / len(loader.dataset), hits / count, sum(likely) / len(likely)


def main():
    torch.manual_seed(int(sys.argv[1]))
    config = SpeechTextConfig()
    table = torch.softmax(3.0 * torch.randn(config.vocab_size, config.vocab_size), -1)
    train_loader = DataLoader(TensorDataset(make_dialogues(table, 1024)), batch_size=32, shuffle=True)
    val_loader = DataLoader(TensorDataset(make_dialogues(table, 256)), batch_size=64)
    model = SpeechTextForCausalLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(5):
        model.train()
        for (ids,) in train_loader:
            out = model(input_ids=ids, labels=ids)
            optimizer.zero_grad()
            out.loss.backward()
            optimizer.step()
        print(f"epoch {epoch} train loss {out.loss.item():.4f}")
    val_loss, acc, gen = evaluate(model, val_loader, table)
    print(f"RESULT val_loss={val_loss:.4f} next_token_acc={acc:.4f} generated_logprob={gen:.4f}")


if __name__ == "__main__":
    main()
