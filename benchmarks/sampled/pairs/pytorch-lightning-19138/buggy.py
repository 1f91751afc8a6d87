import math
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

VOCAB, LENGTH, BOS = 13, 8, 0


class PositionalEncoding(nn.Module):
    def __init__(self, dim, dropout=0.1, max_len=5000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.dim, self.max_len = dim, max_len
        self.pe = None

    def forward(self, x):
        if self.pe is None:
            self.pe = self._init_pos_encoding(x.device)
        x + self.pe[: x.size(0), :]
        return self.dropout(x)

    def _init_pos_encoding(self, device):
        pe = torch.zeros(self.max_len, self.dim, device=device)
        position = torch.arange(self.max_len, device=device).unsqueeze(1)
        div = torch.exp(torch.arange(0, self.dim, 2, device=device) * (-math.log(10000.0) / self.dim))
        pe[:, 0::2] = torch.sin(position * div)
        pe[:, 1::2] = torch.cos(position * div)
        return pe.unsqueeze(1)


class Transformer(nn.Module):
    def __init__(self, vocab_size=VOCAB, ninp=48, nhead=4, nhid=96, nlayers=1, dropout=0.1):
        super().__init__()
        self.pos_encoder = PositionalEncoding(ninp, dropout)
        self.embedding = nn.Embedding(vocab_size, ninp)
        self.transformer = nn.Transformer(
            d_model=ninp, nhead=nhead, num_encoder_layers=nlayers, num_decoder_layers=nlayers,
            dim_feedforward=nhid, dropout=dropout, batch_first=True)
        self.decoder = nn.Linear(ninp, vocab_size)
        self.ninp = ninp
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)

    def forward(self, inputs, target):
        mask = nn.Transformer.generate_square_subsequent_mask(target.size(1)).to(inputs.device)
        src = self.pos_encoder(self.embedding(inputs) * math.sqrt(self.ninp))
        tgt = self.pos_encoder(self.embedding(target) * math.sqrt(self.ninp))
        return self.decoder(self.transformer(src, tgt, tgt_mask=mask))


class Translation(Dataset):
    """Word by word translation; the dictionary differs between even and odd places."""

    def __init__(self, n, seed):
        rng = np.random.RandomState(seed)
        shared = np.random.RandomState(2)
        even, odd = shared.permutation(VOCAB - 1) + 1, shared.permutation(VOCAB - 1) + 1
        src = rng.randint(1, VOCAB, (n, LENGTH))
        place = np.arange(LENGTH)[None]
        out = np.where(place % 2 == 0, even[src - 1], odd[src - 1])
        self.src, self.out = torch.from_numpy(src), torch.from_numpy(out)

    def __len__(self):
        return len(self.src)

    def __getitem__(self, i):
        return self.src[i], self.out[i]


def shift_right(out):
    return torch.cat([torch.full_like(out[:, :1], BOS), out[:, :-1]], dim=1)


class LitTransformer:
    def __init__(self):
        self.model = Transformer()

    def configure_optimizers(self):
        return torch.optim.Adam(self.model.parameters(), lr=2e-3)

    def step(self, batch):
        src, out = batch
        logits = self.model(src, shift_right(out))
        return F.cross_entropy(logits.flatten(0, 1), out.flatten()), (logits.argmax(-1) == out).float().mean()


def fit(lit, train_loader, epochs):
    optimizer = lit.configure_optimizers()
    for epoch in range(epochs):
        lit.model.train()
        losses = []
        for batch in train_loader:
            loss, _ = lit.step(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch} train_loss {np.mean(losses):.4f}")
    return float(np.mean(losses))


def validate(lit, loader):
    lit.model.eval()
    with torch.no_grad():
        pairs = [lit.step(batch) for batch in loader]
    return [float(np.mean([p[k].item() for p in pairs])) for k in (0, 1)]


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    train_loader = DataLoader(Translation(1600, seed), batch_size=32, shuffle=True)
    val_loader = DataLoader(Translation(400, seed + 1000), batch_size=100)
    lit = LitTransformer()
    train_loss = fit(lit, train_loader, epochs=12)
    val_loss, val_acc = validate(lit, val_loader)
    print(f"RESULT train_loss={train_loss:.4f} val_loss={val_loss:.4f} val_acc={val_acc:.4f}")


if __name__ == "__main__":
    main()
