import math
import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

PAD, VOCAB, TAGS = 0, 60, 4


class TaggingDataset(Dataset):
    """The tag of a word is given by its own kind and by the kind of the trigger word of the sentence."""

    def __init__(self, n):
        self.items = []
        for _ in range(n):
            words = [random.randrange(5, VOCAB) for _ in range(random.randint(5, 16))]
            trigger = random.randrange(1, 5)
            words[random.randrange(len(words))] = trigger
            tags = [(w + trigger) % TAGS for w in words]
            self.items.append((words, tags))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    width = max(len(w) for w, _ in batch)
    words = torch.tensor([w + [PAD] * (width - len(w)) for w, _ in batch])
    tags = torch.tensor([t + [-100] * (width - len(t)) for _, t in batch])
    return words, tags


class DotAttention(nn.Module):
    def __init__(self, key_size, dropout=0.0):
        super().__init__()
        self.scale = math.sqrt(key_size)
        self.drop = nn.Dropout(dropout)

    def forward(self, q, k, v, mask_out=None):
        output = torch.matmul(q, k.transpose(-1, -2)) / self.scale
        if mask_out is not None:
            output = output.masked_fill(mask_out, -1e9)
        output = F.softmax(output, dim=2)
        return torch.matmul(self.drop(output), v)


class MultiHeadAttention(nn.Module):
    def __init__(self, input_size, key_size, num_head, dropout=0.1):
        super().__init__()
        self.key_size, self.num_head = key_size, num_head
        size = key_size * num_head
        self.q_in, self.k_in, self.v_in = (nn.Linear(input_size, size) for _ in range(3))
        self.attention = DotAttention(key_size, dropout)
        self.out = nn.Linear(size, input_size)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.num_head, self.key_size).transpose(1, 2)

    def forward(self, x, atte_mask_out):
        q, k, v = self.split(self.q_in(x)), self.split(self.k_in(x)), self.split(self.v_in(x))
        atte = self.attention(q, k, v, atte_mask_out[:, None])
        return self.out(atte.transpose(1, 2).reshape(x.shape[0], x.shape[1], -1))


class TransformerEncoder(nn.Module):
    class SubLayer(nn.Module):
        def __init__(self, size, num_head, dropout):
            super().__init__()
            self.atte = MultiHeadAttention(size, size // num_head, num_head, dropout)
            self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
            self.ffn = nn.Sequential(nn.Linear(size, 2 * size), nn.ReLU(), nn.Linear(2 * size, size), nn.Dropout(dropout))

        def forward(self, x, seq_mask, atte_mask_out):
            x = self.norm1(x + self.atte(x, atte_mask_out)) * seq_mask
            return self.norm2(x + self.ffn(x)) * seq_mask

    def __init__(self, num_layers, size, num_head, dropout=0.1):
        super().__init__()
        self.layers = nn.ModuleList(self.SubLayer(size, num_head, dropout) for _ in range(num_layers))

    def forward(self, x, seq_mask):
        atte_mask_out = (seq_mask == 0)[:, None, :]
        for layer in self.layers:
            x = layer(x, seq_mask[:, :, None].float(), atte_mask_out)
        return x


class Tagger(nn.Module):
    def __init__(self, size=64):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, size, padding_idx=PAD)
        self.encoder = TransformerEncoder(2, size, num_head=4)
        self.fc = nn.Linear(size, TAGS)

    def forward(self, words):
        return self.fc(self.encoder(self.embed(words), words != PAD))


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    loss, hits, count = 0.0, 0, 0
    for words, tags in loader:
        logits = model(words)
        valid = tags != -100
        loss += F.cross_entropy(logits[valid], tags[valid], reduction="sum").item()
        hits += (logits.argmax(-1) == tags)[valid].sum().item()
        count += valid.sum().item()
    return loss / count, hits / count


def main():
    seed = int(sys.argv[1])
    random.seed(seed)
    torch.manual_seed(seed)
    train_loader = DataLoader(TaggingDataset(1600), batch_size=32, shuffle=True, collate_fn=collate)
    dev_loader = DataLoader(TaggingDataset(300), batch_size=100, collate_fn=collate)
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(6):
        model.train()
        for words, tags in train_loader:
            loss = F.cross_entropy(model(words).flatten(0, 1), tags.flatten(), ignore_index=-100)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        dev_loss, dev_acc = evaluate(model, dev_loader)
        print(f"epoch {epoch} train {loss.item():.4f} dev {dev_loss:.4f} acc {dev_acc:.4f}")
    print(f"RESULT dev_loss={dev_loss:.4f} dev_acc={dev_acc:.4f}")


if __name__ == "__main__":
    main()
