"""Train a recurrent network with two memories to predict the next frame of small films.

Each layer has a memory of its own; a second one is handed from layer to layer. A term of the loss, the similarity of
what both memories take in, is to keep them from storing the same. Each epoch prints one JSON object: the prediction's
error, that similarity and the whole loss in training, and error and similarity in held-out films. At the end all of
them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside
this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cosine_similarity, mse_loss


class TwoMemoryCell(nn.Module):
    """A convolutional LSTM cell with a temporal memory and a spatial one."""

    def __init__(self, inputs, channels):
        super().__init__()
        self.frame = nn.Conv2d(inputs, 7 * channels, 3, padding=1, bias=False)
        self.hidden = nn.Conv2d(channels, 4 * channels, 3, padding=1, bias=False)
        self.spatial = nn.Conv2d(channels, 3 * channels, 3, padding=1, bias=False)
        self.gate = nn.Conv2d(2 * channels, channels, 3, padding=1, bias=False)
        self.merge = nn.Conv2d(2 * channels, channels, 1, bias=False)

    def forward(self, frame, hidden, temporal, spatial):
        x = self.frame(frame).chunk(7, dim=1)
        h = self.hidden(hidden).chunk(4, dim=1)
        s = self.spatial(spatial).chunk(3, dim=1)
        temporal_update = (x[0] + h[0]).sigmoid() * (x[1] + h[1]).tanh()
        temporal = (x[2] + h[2] + 1).sigmoid() * temporal + temporal_update
        spatial_update = (x[3] + s[0]).sigmoid() * (x[4] + s[1]).tanh()
        spatial = (x[5] + s[2] + 1).sigmoid() * spatial + spatial_update
        memories = torch.cat([temporal, spatial], dim=1)
        hidden = (x[6] + h[3] + self.gate(memories)).sigmoid() * self.merge(memories).tanh()
        return hidden, temporal, spatial, temporal_update, spatial_update


class Predictor(nn.Module):
    """Predicts each frame of a film from those before it."""

    def __init__(self, layers, channels):
        super().__init__()
        self.channels = channels
        self.cells = nn.ModuleList(TwoMemoryCell(1 if i == 0 else channels, channels) for i in range(layers))
        self.adapter = nn.Conv2d(channels, channels, 1, bias=False)
        self.last = nn.Conv2d(channels, 1, 1, bias=False)

    def similarity(self, first, second):
        first, second = self.adapter(first).flatten(2), self.adapter(second).flatten(2)
        return cosine_similarity(first, second, dim=2).abs().mean()

    def forward(self, films):
        number, length, _, height, width = films.shape
        zeros = films.new_zeros(number, self.channels, height, width)
        hidden, temporal = [zeros] * len(self.cells), [zeros] * len(self.cells)
        spatial = zeros
        predictions, similarities = [], []
        for time in range(length - 1):
            x = films[:, time]
            for i, cell in enumerate(self.cells):
                x, temporal[i], spatial, *updates = cell(x, hidden[i], temporal[i], spatial)
                hidden[i] = x
                similarities.append(self.similarity(*updates))
            predictions.append(self.last(x))
        similarity = torch.mean(torch.stack(similarities, dim=0))
        return torch.stack(predictions, dim=1), similarity


def make_films(number, length, size, generator):
    """Two soft balls that fly at constant speed, and turn where they meet the border."""
    rows, columns = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    place = torch.rand(number, 2, 2, generator=generator) * (size - 1)
    speed = torch.randn(number, 2, 2, generator=generator)
    frames = []
    for _ in range(length):
        distance = (rows - place[..., 0, None, None]).square() + (columns - place[..., 1, None, None]).square()
        frames.append(torch.exp(-distance / 2).amax(dim=1, keepdim=True))
        place = place + speed
        speed = torch.where((place < 0) | (place > size - 1), -speed, speed)
        place = place.clamp(0, size - 1)
    return torch.stack(frames, dim=1)


def train_epoch(model, films, optimizer, batch_size, weight):
    """Mean error, similarity and loss of the epoch."""
    model.train()
    sums, batches = [0.0, 0.0, 0.0], torch.randperm(len(films)).to(films.device).split(batch_size)
    for batch in batches:
        predictions, similarity = model(films[batch])
        error = mse_loss(predictions, films[batch, 1:])
        loss = error + weight * similarity
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sums = [total + value.item() for total, value in zip(sums, (error, similarity, loss), strict=True)]
    return [total / len(batches) for total in sums]


@torch.no_grad()
def validate(model, films):
    model.eval()
    predictions, similarity = model(films)
    return mse_loss(predictions, films[:, 1:]).item(), similarity.item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    generator = torch.Generator().manual_seed(config["seed"])
    training = make_films(config["films"], config["length"], config["size"], generator).to(device)
    validation = make_films(config["validation_films"], config["length"], config["size"], generator).to(device)
    model = Predictor(config["layers"], config["channels"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        error, similarity, loss = train_epoch(model, training, optimizer, config["batch_size"], config["weight"])
        validation_error, validation_similarity = validate(model, validation)
        record = {
            "epoch": epoch,
            "error": error,
            "similarity": similarity,
            "loss": loss,
            "validation_error": validation_error,
            "validation_similarity": validation_similarity,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
