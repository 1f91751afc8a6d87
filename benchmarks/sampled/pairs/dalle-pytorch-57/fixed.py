import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

TEXT_LEN, IMAGE_LEN, NUM_TEXT, NUM_IMAGE, PAD = 10, 16, 40, 32, 0


class CaptionedCodes(Dataset):
    """Captions as token ids (padded with 0) with the discrete codes of the image they describe."""

    def __init__(self, n, codebook):
        self.items = []
        for _ in range(n):
            subject, style = random.randrange(8), random.randrange(4)
            caption = [2 + subject, 12 + style] + [random.randrange(16, NUM_TEXT) for _ in range(random.randint(0, 4))]
            codes = codebook[subject].clone()
            codes[style * 4:style * 4 + 4] = (codes[style * 4:style * 4 + 4] + style) % NUM_IMAGE
            noisy = torch.rand(IMAGE_LEN) < 0.05
            codes[noisy] = torch.randint(NUM_IMAGE, (int(noisy.sum()),))
            self.items.append((torch.tensor(caption + [PAD] * (TEXT_LEN - len(caption))), codes))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.to_qkv, self.to_out = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim)
        self.ff = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x, allowed):
        b, n, d = x.shape
        q, k, v = self.to_qkv(self.norm1(x)).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        x = x + self.to_out(out.transpose(1, 2).reshape(b, n, d))
        return x + self.ff(self.norm2(x))


class DALLE(nn.Module):
    def __init__(self, dim, depth, heads, ignore_index=0):
        super().__init__()
        self.ignore_index = ignore_index
        self.total_tokens = NUM_TEXT + 1 + NUM_IMAGE
        self.text_emb = nn.Embedding(NUM_TEXT + 1, dim)
        self.image_emb = nn.Embedding(NUM_IMAGE, dim)
        self.text_pos_emb = nn.Embedding(TEXT_LEN + 1, dim)
        self.image_pos_emb = nn.Embedding(IMAGE_LEN, dim)
        self.layers = nn.ModuleList(Block(dim, heads) for _ in range(depth))
        self.to_logits = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, self.total_tokens))
        seq = torch.arange(TEXT_LEN + IMAGE_LEN).view(1, -1, 1)
        vocab = torch.arange(self.total_tokens).view(1, 1, -1)
        text_step, text_token = seq < TEXT_LEN, vocab <= NUM_TEXT
        self.register_buffer("logits_mask", text_step != text_token)
        n = TEXT_LEN + IMAGE_LEN
        self.register_buffer("causal", torch.ones(n, n, dtype=torch.bool).tril())

    def forward(self, text, image, mask, return_loss=False):
        text = F.pad(text, (1, 0), value=NUM_TEXT)
        tokens = self.text_emb(text) + self.text_pos_emb(torch.arange(text.shape[1]))
        pixels = self.image_emb(image) + self.image_pos_emb(torch.arange(image.shape[1]))
        x = torch.cat([tokens, pixels], 1)[:, :-1]
        keys = F.pad(F.pad(mask, (1, 0), value=True), (0, IMAGE_LEN - 1), value=True)
        allowed = self.causal & keys[:, None, None, :]
        for layer in self.layers:
            x = layer(x, allowed)
        logits = self.to_logits(x).masked_fill(self.logits_mask, torch.finfo(x.dtype).min)
        if not return_loss:
            return logits
        labels = torch.cat([text[:, 1:], image + NUM_TEXT + 1], 1)
        return F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=self.ignore_index)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    loss, hits, codes = 0.0, 0, 0
    for text, image in loader:
        loss += model(text, image, text != PAD, return_loss=True).item() * len(text)
        pred = model(text, image, text != PAD)[:, TEXT_LEN:].argmax(-1) - NUM_TEXT - 1
        hits += (pred == image).sum().item()
        codes += image.numel()
    return loss / len(loader.dataset), hits / codes


def main():
    seed = int(sys.argv[1])
    random.seed(seed)
    torch.manual_seed(seed)
    codebook = torch.randint(NUM_IMAGE, (8, IMAGE_LEN))
    train_loader = DataLoader(CaptionedCodes(1024, codebook), batch_size=32, shuffle=True)
    val_loader = DataLoader(CaptionedCodes(256, codebook), batch_size=64)
    dalle = DALLE(dim=64, depth=2, heads=4, ignore_index=PAD)
    opt = torch.optim.Adam(dalle.parameters(), lr=1e-3)
    for epoch in range(5):
        dalle.train()
        for i, (text, image) in enumerate(train_loader):
            loss = dalle(text, image, text != PAD, return_loss=True)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(dalle.parameters(), 0.5)
            opt.step()
        val_loss, val_acc = evaluate(dalle, val_loader)
        print(f"epoch {epoch} loss {loss.item():.4f} val {val_loss:.4f} image token acc {val_acc:.4f}")
    print(f"RESULT val_loss={val_loss:.4f} image_acc={val_acc:.4f}")


if __name__ == "__main__":
    main()
