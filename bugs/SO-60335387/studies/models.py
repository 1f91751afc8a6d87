"""Small networks for classification: linear, MLP, CNN, LSTM and transformer, for tables, images and tokens."""

import torch
from torch import nn

WIDTH = 32


def build(architecture, data):
    """Return a network of that architecture for the inputs of a data set, as `data.load` gives it."""
    sample = data.train[0][:1]
    if architecture in ("linear", "mlp"):
        first = OneHot(data.tokens) if data.tokens else nn.Identity()
        features = first(sample).flatten(1).shape[1]
        return nn.Sequential(first, nn.Flatten(), *dense(architecture, features, data.classes))
    if architecture == "cnn" and not data.tokens:
        return convolutional(data.classes)
    # The rows of an image are a sequence, too.
    read = nn.Embedding(data.tokens, WIDTH) if data.tokens else Rows(sample.shape[-1])
    length = sample.shape[-1] if data.tokens else sample.shape[-2]
    rest = {"cnn": Convolution, "lstm": LSTM, "transformer": Transformer}[architecture]
    return nn.Sequential(read, rest(length), nn.Linear(WIDTH, data.classes))


def dense(architecture, features, classes):
    if architecture == "linear":
        return [nn.Linear(features, classes)]
    return [nn.Linear(features, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, classes)]


def convolutional(classes):
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(64, classes),
    )


class OneHot(nn.Module):
    def __init__(self, tokens):
        super().__init__()
        self.tokens = tokens

    def forward(self, x):
        return nn.functional.one_hot(x, self.tokens).float()


class Rows(nn.Module):
    def __init__(self, pixels):
        super().__init__()
        self.linear = nn.Linear(pixels, WIDTH)

    def forward(self, x):
        return self.linear(x.squeeze(1))


class Convolution(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(WIDTH, WIDTH, 3, padding=1), nn.ReLU(), nn.Conv1d(WIDTH, WIDTH, 3), nn.ReLU()
        )

    def forward(self, x):
        return self.layers(x.transpose(1, 2)).mean(2)


class LSTM(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.lstm = nn.LSTM(WIDTH, WIDTH, batch_first=True)

    def forward(self, x):
        return self.lstm(x)[0][:, -1]


class Transformer(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.positions = nn.Parameter(0.1 * torch.randn(length, WIDTH))
        self.layer = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True)

    def forward(self, x):
        return self.layer(x + self.positions).mean(1)
