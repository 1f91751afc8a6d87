"""Train a transformer of ten million parameters to repeat sequences:
what the overhead of a monitor is measured on.

python transformer.py [STEPS]
"""

import sys

import torch
from torch import nn

TOKENS, WIDTH, LENGTH, BATCH = 256, 384, 64, 8


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(TOKENS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, 6, 4 * WIDTH, dropout=0.1, batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)
        self.output = nn.Linear(WIDTH, TOKENS)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(LENGTH))

    def forward(self, tokens):
        embedded = self.tokens(tokens) + self.positions.weight
        return self.output(self.layers(embedded, mask=self.mask, is_causal=True))


def batch():
    """Sequences whose second half repeats the first, and the same one token ahead."""
    half = torch.randint(TOKENS, (BATCH, LENGTH // 2))
    sequences = torch.cat([half, half, half[:, :1]], dim=1)
    return sequences[:, :-1], sequences[:, 1:]


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    torch.manual_seed(0)
    model = Model()
    print(f"{sum(parameter.numel() for parameter in model.parameters()):,} parameters", flush=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for step in range(1, steps + 1):
        model.train()
        inputs, targets = batch()
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 50 == 0:
            model.eval()
            with torch.no_grad():
                inputs, targets = batch()
                validation = nn.functional.cross_entropy(
                    model(inputs).flatten(0, 1), targets.flatten()
                )
            print(f"step {step}: loss {loss:.3f}, validation {validation:.3f}", flush=True)


if __name__ == "__main__":
    main()
