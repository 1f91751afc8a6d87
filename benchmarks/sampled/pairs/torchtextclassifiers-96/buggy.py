import math
import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

PAD, VOCAB, CLASSES = 0, 200, 5


class TextDataset(Dataset):
    def __init__(self, n, keywords):
        self.rows = []
        for _ in range(n):
            label = random.randrange(CLASSES)
            tokens = [random.randrange(1, VOCAB) for _ in range(random.randint(3, 28))]
            for _ in range(2):
                tokens[random.randrange(len(tokens))] = random.choice(keywords[label])
            self.rows.append((tokens, label))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate_fn(batch):
    width = max(len(t) for t, _ in batch)
    ids = torch.tensor([t + [PAD] * (width - len(t)) for t, _ in batch])
    return {"input_ids": ids, "attention_mask": (ids != PAD).long(), "labels": torch.tensor([y for _, y in batch])}


class LabelAttention(nn.Module):
    def __init__(self, dim, n_head, n_labels):
        super().__init__()
        self.n_head, self.head_dim = n_head, dim // n_head
        self.label_embeds = nn.Embedding(n_labels, dim)
        self.c_q, self.c_k, self.c_v = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.c_proj = nn.Linear(dim, dim, bias=False)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.n_head, self.head_dim).transpose(1, 2)

    def forward(self, token_embeddings, attention_mask):
        b = token_embeddings.shape[0]
        labels = self.label_embeds.weight.unsqueeze(0).expand(b, -1, -1)
        q, k, v = self.split(self.c_q(labels)), self.split(self.c_k(token_embeddings)), self.split(self.c_v(token_embeddings))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        matrix = scores.softmax(dim=-1)
        out = (matrix @ v).transpose(1, 2).reshape(b, labels.shape[1], -1)
        return self.c_proj(out)


class TextClassificationModel(nn.Module):
    def __init__(self, dim=32, n_head=4):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.norm = nn.LayerNorm(dim)
        layer = nn.TransformerEncoderLayer(dim, n_head, 2 * dim, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.label_attention = LabelAttention(dim, n_head, CLASSES)
        self.head = nn.Linear(dim, 1)

    def forward(self, input_ids, attention_mask):
        x = self.norm(self.embedding(input_ids))
        x = self.encoder(x, src_key_padding_mask=attention_mask == 0)
        return self.head(self.label_attention(x, attention_mask)).squeeze(-1)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    correct, loss, count = 0, 0.0, 0
    for batch in loader:
        logits = model(batch["input_ids"], batch["attention_mask"])
        loss += F.cross_entropy(logits, batch["labels"], reduction="sum").item()
        correct += (logits.argmax(-1) == batch["labels"]).sum().item()
        count += len(batch["labels"])
    return correct / count, loss / count


def main():
    seed = int(sys.argv[1])
    random.seed(seed)
    torch.manual_seed(seed)
    keywords = [random.sample(range(1, VOCAB), 12) for _ in range(CLASSES)]
    train_loader = DataLoader(TextDataset(1600, keywords), batch_size=32, shuffle=True, collate_fn=collate_fn)
    val_loader = DataLoader(TextDataset(400, keywords), batch_size=64, collate_fn=collate_fn)
    model = TextClassificationModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        model.train()
        for batch in train_loader:
            logits = model(batch["input_ids"], batch["attention_mask"])
            loss = F.cross_entropy(logits, batch["labels"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        acc, val_loss = evaluate(model, val_loader)
        print(f"epoch {epoch} loss {loss.item():.4f} val acc {acc:.4f}")
    print(f"RESULT val_acc={acc:.4f} val_loss={val_loss:.4f}")


if __name__ == "__main__":
    main()
