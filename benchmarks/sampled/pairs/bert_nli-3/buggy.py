import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, CLS, SEP, WORDS = 0, 1, 2, 40
LABELS = ("contradiction", "entail", "neutral")


def antonym(w):
    return 3 + (w - 3 + WORDS // 2) % WORDS


def make_pair():
    label = random.randrange(3)
    stems = random.sample(range(WORDS // 2), random.randint(2, 12))
    premise = [3 + s + random.choice((0, WORDS // 2)) for s in stems[1:]] + [3 + stems[0]]
    random.shuffle(premise)
    if label == 1:
        hypothesis = random.choice(premise)
    elif label == 0:
        hypothesis = antonym(random.choice(premise))
    else:
        rest = [s for s in range(WORDS // 2) if s not in stems]
        hypothesis = 3 + random.choice(rest) + random.choice((0, WORDS // 2))
    return premise, [hypothesis], label


def build_batch(pairs):
    token_ids = [[CLS] + p + [SEP] + h + [SEP] for p, h, _ in pairs]
    segments = [[0] * (len(p) + 2) + [1] * (len(h) + 1) for p, h, _ in pairs]
    max_len = max(len(t) for t in token_ids)
    ids_tensor = torch.tensor([t + [PAD] * (max_len - len(t)) for t in token_ids])
    seg_tensor = torch.tensor([s + [0] * (max_len - len(s)) for s in segments])
    mask_tensor = torch.tensor([[1] * max_len for _ in token_ids])
    return ids_tensor, seg_tensor, mask_tensor, torch.tensor([y for _, _, y in pairs])


class BertLayer(nn.Module):
    def __init__(self, dim, heads, dropout):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.fc1, self.fc2 = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, extended_mask):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        probs = (q @ k.transpose(-1, -2) / (d // self.heads) ** 0.5 + extended_mask).softmax(-1)
        x = self.norm1(x + self.drop(self.out((self.drop(probs) @ v).transpose(1, 2).reshape(b, t, d))))
        return self.norm2(x + self.drop(self.fc2(F.gelu(self.fc1(x)))))


class BertNLIModel(nn.Module):
    def __init__(self, dim=64, heads=4, layers=2, dropout=0.05):
        super().__init__()
        self.words = nn.Embedding(3 + WORDS, dim, padding_idx=PAD)
        self.segments, self.positions = nn.Embedding(2, dim), nn.Embedding(20, dim)
        self.norm = nn.LayerNorm(dim)
        self.layers = nn.ModuleList(BertLayer(dim, heads, dropout) for _ in range(layers))
        self.nli_head = nn.Linear(dim, len(LABELS))

    def forward(self, ids, segments, attention_mask):
        x = self.words(ids) + self.segments(segments) + self.positions(torch.arange(ids.shape[1]))
        x = self.norm(x)
        extended = (1.0 - attention_mask[:, None, None, :].float()) * -10000.0
        for layer in self.layers:
            x = layer(x, extended)
        return self.nli_head(x[:, 0])


def batches(data, size):
    for i in range(0, len(data), size):
        yield build_batch(data[i:i + size])


@torch.no_grad()
def evaluate(model, data):
    model.eval()
    hits, loss = 0, 0.0
    for ids, seg, mask, y in batches(data, 100):
        logits = model(ids, seg, mask)
        hits += (logits.argmax(1) == y).sum().item()
        loss += F.cross_entropy(logits, y, reduction="sum").item()
    return loss / len(data), hits / len(data)


def main():
    seed = int(sys.argv[1])
    random.seed(seed)
    torch.manual_seed(seed)
    train_data, test_data = [make_pair() for _ in range(4000)], [make_pair() for _ in range(600)]
    model = BertNLIModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(6):
        model.train()
        random.shuffle(train_data)
        for ids, seg, mask, y in batches(train_data, 50):
            loss = F.cross_entropy(model(ids, seg, mask), y)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")
    test_loss, test_acc = evaluate(model, test_data)
    print(f"RESULT test_loss={test_loss:.4f} test_acc={test_acc:.4f}")


if __name__ == "__main__":
    main()
