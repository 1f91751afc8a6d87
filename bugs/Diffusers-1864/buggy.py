"""Train a small diffusion model on handwritten digits, and keep an exponential moving average of its weights.

Every few steps the denoising loss on held-out digits is measured with the weights as they are and with the averaged
ones, and one JSON object is printed. At the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import copy
import json
import sys
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.functional import mse_loss


class MovingAverage:
    """Averaged weights; the first steps count for more, since there is little to average yet."""

    def __init__(self, parameters, decay):
        self.averages = [parameter.detach().clone() for parameter in parameters]
        self.decay = decay
        self.steps = 0

    def get_decay(self, steps):
        return 1 - min(self.decay, (1 + steps) / (10 + steps))

    @torch.no_grad()
    def update(self, parameters):
        self.steps += 1
        self.decay = self.get_decay(self.steps)
        for average, parameter in zip(self.averages, parameters, strict=True):
            average.sub_(self.decay * (average - parameter))

    @torch.no_grad()
    def copy_to(self, parameters):
        for average, parameter in zip(self.averages, parameters, strict=True):
            parameter.copy_(average)


class Denoiser(nn.Module):
    """The noise in an image of 64 pixels, told from the image and from how noisy it is."""

    def __init__(self, width, timesteps):
        super().__init__()
        self.enter = nn.Linear(64, width)
        self.time = nn.Embedding(timesteps, width)
        self.hidden = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.leave = nn.Linear(width, 64)
        self.activation = nn.SiLU()

    def forward(self, images, times):
        x = self.enter(images) + self.time(times)
        for layer in self.hidden:
            x = x + layer(self.activation(x))
        return self.leave(self.activation(x))


class Diffusion:
    """The noise schedule: `kept` is the share of an image's variance that is left after so many steps of noise."""

    def __init__(self, timesteps, device):
        self.timesteps = timesteps
        self.kept = torch.cumprod(1 - torch.linspace(1e-3, 0.2, timesteps, device=device), 0)

    def add_noise(self, images, noise, times):
        kept = self.kept[times].unsqueeze(1)
        return kept.sqrt() * images + (1 - kept).sqrt() * noise

    def loss(self, model, images, noise, times):
        return mse_loss(model(self.add_noise(images, noise, times), times), noise)


def digits(device):
    """Images to train on, 1500 of them, and 297 others: 64 pixels each, from -1 to 1."""
    images = torch.tensor(load_digits().data, dtype=torch.float32) / 8 - 1
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(0))
    return images[order[:1500]].to(device), images[order[1500:]].to(device)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    images, held_out = digits(device)
    held_out = held_out.repeat(config["evaluation_noises"], 1)
    held_out_noise = torch.randn_like(held_out)
    held_out_times = torch.randint(config["timesteps"], (len(held_out),), device=device)

    diffusion = Diffusion(config["timesteps"], device)
    model = Denoiser(config["width"], config["timesteps"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    ema = MovingAverage(model.parameters(), config["ema_decay"])
    averaged = copy.deepcopy(model)

    records, losses = [], []
    for step in range(1, config["steps"] + 1):
        batch = images[torch.randint(len(images), (config["batch_size"],))]
        times = torch.randint(config["timesteps"], (len(batch),), device=device)
        loss = diffusion.loss(model, batch, torch.randn_like(batch), times)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update(model.parameters())
        losses.append(loss.item())

        if step % config["interval"] == 0:
            ema.copy_to(averaged.parameters())
            with torch.no_grad():
                record = {
                    "step": step,
                    "loss": sum(losses) / len(losses),
                    "held_out_loss": diffusion.loss(model, held_out, held_out_noise, held_out_times).item(),
                    "ema_held_out_loss": diffusion.loss(averaged, held_out, held_out_noise, held_out_times).item(),
                }
            print(json.dumps(record), flush=True)
            records.append(record)
            losses.clear()
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
