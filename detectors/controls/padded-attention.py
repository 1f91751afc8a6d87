"""Does a sequence hold a 7? Attention over sequences of different length, whose padding takes no part."""

import experiment
import torch
from torch import nn
from torch.nn import functional

LONGEST, WIDTH = 12, 32


class Finder(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(10, WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 4, dropout=0.1, batch_first=True)
        self.answer = nn.Linear(WIDTH, 2)

    def forward(self, text, padding):
        state = self.letters(text)
        found, _ = self.attention(state, state, state, key_padding_mask=padding, need_weights=False)
        kept = (~padding).unsqueeze(2)
        return self.answer(((state + found) * kept).sum(dim=1) / kept.sum(dim=1))


def sequences(count, device):
    text = torch.randint(10, (count, LONGEST))
    padding = torch.arange(LONGEST) >= torch.randint(3, LONGEST + 1, (count, 1))
    labels = ((text == 7) & ~padding).any(dim=1).long()
    return text.to(device), padding.to(device), labels.to(device)


def main():
    config = experiment.parameters()
    text, padding, labels = sequences(512, config["device"])
    *held_out, truth = sequences(256, config["device"])
    model = Finder().to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    records = experiment.Records()
    for epoch in range(1, 11):
        model.train()
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            functional.cross_entropy(model(text[batch], padding[batch]), labels[batch]).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            records.add(epoch=epoch, loss=functional.cross_entropy(model(*held_out), truth).item())
    records.write(config)


if __name__ == "__main__":
    main()
