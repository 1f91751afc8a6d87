import random
import sys

import torch
import torch.nn as nn
from torch.nn import NLLLoss
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, Dataset

PAD, BOS, EOS, VOCAB, REGIONS, FEAT, OBJECTS, MAX_LEN = 0, 1, 2, 40, 8, 32, 12, 12


class CaptionDataset(Dataset):
    """Region features of a few objects, each with a caption naming them from left to right."""

    def __init__(self, n, prototypes):
        self.items = []
        for _ in range(n):
            objects = random.sample(range(OBJECTS), random.randint(2, 4))
            feats = 0.3 * torch.randn(REGIONS, FEAT)
            for slot, o in zip(sorted(random.sample(range(REGIONS), len(objects))), objects):
                feats[slot] += prototypes[o]
            words = []
            for o in objects:
                words += [3 + o, 15 + 2 * o + random.randrange(2)]
            self.items.append((feats, torch.tensor([BOS] + words + [EOS] + [PAD] * (MAX_LEN - len(words) - 2))))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class Captioner(nn.Module):
    def __init__(self, d_model=64, heads=4, memory=4):
        super().__init__()
        self.in_proj = nn.Sequential(nn.Linear(FEAT, d_model), nn.ReLU(), nn.Dropout(0.1), nn.LayerNorm(d_model))
        self.region_pos = nn.Embedding(REGIONS, d_model)
        self.memory = nn.Parameter(torch.randn(1, memory, d_model) / d_model ** 0.5)
        enc = nn.TransformerEncoderLayer(d_model, heads, 128, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(enc, 1, enable_nested_tensor=False)
        self.word_emb = nn.Embedding(VOCAB, d_model, padding_idx=PAD)
        self.pos_emb = nn.Embedding(MAX_LEN, d_model)
        dec = nn.TransformerDecoderLayer(d_model, heads, 128, dropout=0.1, batch_first=True)
        self.decoder = nn.TransformerDecoder(dec, 2)
        self.fc = nn.Linear(d_model, VOCAB, bias=False)

    def forward(self, images, seq):
        regions = self.in_proj(images) + self.region_pos(torch.arange(REGIONS))
        enc = self.encoder(torch.cat([regions, self.memory.expand(len(images), -1, -1)], 1))
        x = self.word_emb(seq) + self.pos_emb(torch.arange(seq.shape[1]))
        causal = torch.ones(seq.shape[1], seq.shape[1], dtype=torch.bool).triu(1)
        out = self.decoder(x, enc, tgt_mask=causal, tgt_key_padding_mask=seq == PAD)
        return self.fc(out).log_softmax(-1)


@torch.no_grad()
def evaluate_loss(model, dataloader, loss_fn):
    model.eval()
    running, hits, count = 0.0, 0, 0
    for images, captions in dataloader:
        out, gt = model(images, captions[:, :-1]), captions[:, 1:]
        running += loss_fn(out.reshape(-1, VOCAB), gt.reshape(-1)).item()
        words = gt != PAD
        hits += (out.argmax(-1) == gt)[words].sum().item()
        count += words.sum().item()
    return running / len(dataloader), hits / count


def train_xe(model, dataloader, optim, scheduler, loss_fn):
    model.train()
    running_loss = 0.0
    for images, captions in dataloader:
        out = model(images, captions[:, :-1])
        optim.zero_grad()
        loss = loss_fn(out.reshape(-1, VOCAB), captions[:, 1:].reshape(-1))
        loss.backward()
        optim.step()
        running_loss += loss.item()
        scheduler.step()
    return running_loss / len(dataloader)


def main():
    seed = int(sys.argv[1])
    random.seed(seed)
    torch.manual_seed(seed)
    prototypes = torch.randn(OBJECTS, FEAT)
    dataloader_train = DataLoader(CaptionDataset(800, prototypes), batch_size=25, shuffle=True)
    dataloader_val = DataLoader(CaptionDataset(200, prototypes), batch_size=50)
    d_model, warmup = 64, 100
    model = Captioner(d_model)

    def lambda_lr(s):
        s += 1
        return (d_model ** -0.5) * min(s ** -0.5, s * warmup ** -1.5)

    optim = torch.optim.Adam(model.parameters(), lr=0.3, betas=(0.9, 0.98))
    scheduler = LambdaLR(optim, lambda_lr)
    loss_fn = NLLLoss(ignore_index=PAD)
    for e in range(6):
        train_loss = train_xe(model, dataloader_train, optim, scheduler, loss_fn)
        val_loss, val_acc = evaluate_loss(model, dataloader_val, loss_fn)
        print(f"Epoch {e} - train {train_loss:.4f} val {val_loss:.4f} word acc {val_acc:.4f}")
    print(f"RESULT val_loss={val_loss:.4f} val_acc={val_acc:.4f} lr={scheduler.get_last_lr()[0]:.6f}")


if __name__ == "__main__":
    main()
