"""Train a recurrent network to draw handwritten digits, shade by shade, and look at what it draws after every epoch.

An image is a sequence of 64 shades. Each epoch prints one JSON object. At the end all of them go to `<output>.json`.
The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from digits import load, recognised
from torch import nn
from torch.nn.functional import cross_entropy


class Painter(nn.Module):
    """The next shade of an image, from the digit that it is to show and the shades so far."""

    def __init__(self, shades, width):
        super().__init__()
        self.shade = nn.Embedding(shades, width)
        self.place = nn.Embedding(64, width)
        self.digit = nn.Embedding(10, width)
        self.start = nn.Embedding(10, width)
        self.recurrent = nn.GRU(width, width, batch_first=True)
        self.output = nn.Linear(width, shades)

    def forward(self, digits, images, return_loss=False):
        inputs = torch.cat([self.start(digits).unsqueeze(1), self.shade(images[:, :-1])], 1) + self.place.weight
        states, _ = self.recurrent(inputs, self.digit(digits).unsqueeze(0))
        logits = self.output(states)
        if not return_loss:
            return logits
        return cross_entropy(logits.transpose(1, 2), images, ignore_index=0)

    @torch.no_grad()
    def draw(self, digits, generator):
        shades = []
        shade, state = self.start(digits), self.digit(digits).unsqueeze(0)
        for place in self.place.weight:
            states, state = self.recurrent((shade + place).unsqueeze(1), state)
            chances = self.output(states[:, 0]).softmax(1).cpu()
            shades.append(torch.multinomial(chances, 1, generator=generator).squeeze(1).to(digits.device))
            shade = self.shade(shades[-1])
        return torch.stack(shades, 1)


def train_epoch(model, images, digits, optimizer, batch_size):
    losses = []
    for batch in torch.randperm(len(digits)).to(digits.device).split(batch_size):
        loss = model(digits[batch], images[batch], return_loss=True)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def validate(model, images, digits):
    return model(digits, images, return_loss=True).item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    training, validation = load(config["shades"], config["validation"], device)
    model = Painter(config["shades"], config["width"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    asked = torch.arange(10, device=device).repeat(config["drawn_of_each"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, *training, optimizer, config["batch_size"])
        drawn = model.draw(asked, torch.Generator().manual_seed(config["seed"]))
        record = {
            "epoch": epoch,
            "loss": loss,
            "validation_loss": validate(model, *validation),
            "recognised": recognised(drawn, asked, *training),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
