import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

WORDS = "abcdefghijklmnopqrstuvwxyz "


class Tokenizer:
    pad_token_id, bos_token_id, eos_token_id = 0, 1, 2

    def __init__(self):
        self.vocab = {c: i + 3 for i, c in enumerate(WORDS)}
        self.size = len(self.vocab) + 3

    def __call__(self, text, max_length):
        ids = [self.bos_token_id] + [self.vocab[c] for c in text][: max_length - 2] + [self.eos_token_id]
        mask = [1] * len(ids) + [0] * (max_length - len(ids))
        ids = ids + [self.pad_token_id] * (max_length - len(ids))
        return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask)}


class PromptDataset(Dataset):
    def __init__(self, texts, tokenizer, max_length=48):
        self.samples = []
        for text in texts:
            enc = tokenizer(text, max_length)
            labels = enc["input_ids"].clone()
            labels[enc["attention_mask"] == 0] = -100
            self.samples.append({**enc, "labels": labels})

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return self.samples[i]


class CausalLM(nn.Module):
    def __init__(self, vocab, dim=64, layers=2, heads=4, max_length=48):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(max_length, dim)
        block = nn.TransformerEncoderLayer(dim, heads, 4 * dim, dropout=0.1, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
        self.lm_head = nn.Linear(dim, vocab)

    def forward(self, input_ids, attention_mask, labels=None):
        t = input_ids.size(1)
        causal = torch.triu(torch.ones(t, t, dtype=torch.bool, device=input_ids.device), 1)
        h = self.tok(input_ids) + self.pos(torch.arange(t, device=input_ids.device))
        logits = self.lm_head(self.blocks(h, mask=causal, src_key_padding_mask=attention_mask == 0))
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        return loss, logits


def make_texts(n, rng):
    names = ["anna", "bert", "carl", "dora", "emil", "fritz"]
    verbs = {"sees": "dog", "eats": "apple", "reads": "book", "plays": "song"}
    texts = []
    for _ in range(n):
        parts = []
        for _ in range(rng.choice([1, 1, 1, 2])):
            verb = rng.choice(list(verbs))
            parts.append(f"{rng.choice(names)} {verb} a {verbs[verb]}")
        texts.append(" and ".join(parts))
    return texts


def evaluate(model, loader):
    model.eval()
    nll, hits, count = 0.0, 0, 0
    with torch.no_grad():
        for batch in loader:
            _, logits = model(batch["input_ids"], batch["attention_mask"])
            target = batch["input_ids"][:, 1:]
            real = batch["attention_mask"][:, 1:].bool()
            logp = logits[:, :-1].log_softmax(-1)
            nll -= logp.gather(-1, target.unsqueeze(-1)).squeeze(-1)[real].sum().item()
            hits += (logp.argmax(-1) == target)[real].sum().item()
            count += real.sum().item()
    return nll / count, hits / count


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    rng = np.random.RandomState(seed)
    tokenizer = Tokenizer()
    train_set = PromptDataset(make_texts(480, rng), tokenizer)
    eval_set = PromptDataset(make_texts(120, rng), tokenizer)
    train_loader = DataLoader(train_set, batch_size=16, shuffle=True)
    eval_loader = DataLoader(eval_set, batch_size=40)
    model = CausalLM(tokenizer.size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    for epoch in range(4):
        model.train()
        running = 0.0
        for batch in train_loader:
            loss, _ = model(**batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        print(f"epoch {epoch} train loss {running / len(train_loader):.4f}")
    nll, acc = evaluate(model, eval_loader)
    print(f"RESULT train_loss={running / len(train_loader):.4f} token_nll={nll:.4f} token_acc={acc:.4f}")


if __name__ == "__main__":
    main()
