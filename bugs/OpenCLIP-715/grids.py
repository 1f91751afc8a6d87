"""Images of four handwritten digits of scikit-learn in a square, with a caption that names them row by row."""

import torch
from sklearn.datasets import load_digits

PAD, START, END = 0, 11, 12
WORDS = 13


def load(number, seed, part, device):
    """Return images, float32 of shape (number, 3, 16, 16), from -1 to 1, and captions, of shape (number, 6).

    A caption is a start, four words, and an end; word n + 1 is the digit n. `part` 0 is made of other handwriting
    than `part` 1.
    """
    digits, labels = load_digits(return_X_y=True)
    digits = torch.tensor(digits, dtype=torch.float32).view(-1, 8, 8) / 8 - 1
    labels = torch.tensor(labels)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    chosen = order[:1500] if part == 0 else order[1500:]
    drawn = chosen[torch.randint(len(chosen), (number, 4), generator=torch.Generator().manual_seed(seed))]
    tiles = digits[drawn]
    rows = [torch.cat([tiles[:, row], tiles[:, row + 1]], -1) for row in (0, 2)]
    images = torch.cat(rows, -2)[:, None].expand(-1, 3, -1, -1).contiguous()
    ends = torch.tensor([START, END]).expand(number, -1)
    captions = torch.cat([ends[:, :1], labels[drawn] + 1, ends[:, 1:]], 1)
    return images.to(device), captions.to(device)
