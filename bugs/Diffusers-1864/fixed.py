"""Train a diffusion model on handwritten digits, and judge it by a moving average of its weights.

The network learns to tell the noise that was added to an image of a known digit. Every few epochs the averaged weights
are put into a second network, which predicts the noise of held-out images and draws new digits. Each time one JSON
object is printed; at the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by
default the `config.json` beside this file.
"""

import copy
import json
import sys
from pathlib import Path

import torch
from digits import frechet_distance, load
from torch import nn
from torch.nn.functional import mse_loss


class NoisePredictor(nn.Module):
    """Which noise is in the images of these digits at these times?"""

    def __init__(self, times, width, blocks):
        super().__init__()
        self.image = nn.Linear(64, width)
        self.time = nn.Embedding(times, width)
        self.digit = nn.Embedding(10, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
            for _ in range(blocks)
        )
        self.noise = nn.Linear(width, 64)

    def forward(self, images, times, digits):
        condition = self.time(times) + self.digit(digits)
        hidden = self.image(images)
        for block in self.blocks:
            hidden = hidden + block(hidden + condition)
        return self.noise(hidden)


class MovingAverage:
    """An exponential moving average of parameters, shorter in the first steps, in which they change fast."""

    def __init__(self, parameters, decay=0.9999):
        self.averages = [parameter.detach().clone() for parameter in parameters]
        self.decay = decay
        self.steps = 0

    def get_decay(self):
        """The share that this step's parameters get in the average."""
        return 1 - min(self.decay, (1 + self.steps) / (10 + self.steps))

    @torch.no_grad()
    def step(self, parameters):
        self.steps += 1
        decay = self.get_decay()
        for average, parameter in zip(self.averages, parameters, strict=True):
            average.sub_(decay * (average - parameter))

    @torch.no_grad()
    def copy_to(self, parameters):
        for average, parameter in zip(self.averages, parameters, strict=True):
            parameter.copy_(average)


class Diffusion:
    """Noise is added in small steps, with a variance that grows from one to the next."""

    def __init__(self, times, device):
        self.times = times
        self.variances = torch.linspace(0.1 / times, 20 / times, times, device=device)
        self.kept = (1 - self.variances).cumprod(0)

    def loss(self, network, images, digits, generator=None):
        times = torch.randint(self.times, (len(images),), generator=generator).to(images.device)
        noise = torch.randn(images.shape, generator=generator).to(images.device)
        kept = self.kept[times].unsqueeze(1)
        return mse_loss(network(kept.sqrt() * images + (1 - kept).sqrt() * noise, times, digits), noise)

    @torch.no_grad()
    def sample(self, network, digits, generator):
        images = torch.randn(len(digits), 64, generator=generator).to(digits.device)
        for time in reversed(range(self.times)):
            noise = network(images, torch.full_like(digits, time), digits)
            variance = self.variances[time]
            images = (images - variance / (1 - self.kept[time]).sqrt() * noise) / (1 - variance).sqrt()
            if time > 0:
                images += variance.sqrt() * torch.randn(images.shape, generator=generator).to(digits.device)
        return images.clamp(-1, 1)


def train_epoch(network, average, diffusion, images, digits, optimizer, batch_size):
    network.train()
    losses = []
    for batch in torch.randperm(len(digits)).to(digits.device).split(batch_size):
        optimizer.zero_grad()
        loss = diffusion.loss(network, images[batch], digits[batch])
        loss.backward()
        optimizer.step()
        average.step(network.parameters())
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def evaluate(network, diffusion, images, digits, repeats):
    """The loss with the same noise each time, and the distance of as many new images from these ones."""
    network.eval()
    generator = torch.Generator().manual_seed(0)
    loss = diffusion.loss(network, images.repeat(repeats, 1), digits.repeat(repeats), generator).item()
    return loss, frechet_distance(diffusion.sample(network, digits, generator), images)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    training, validation = load(device)
    diffusion = Diffusion(config["times"], device)
    network = NoisePredictor(config["times"], config["width"], config["blocks"]).to(device)
    averaged = copy.deepcopy(network)
    average = MovingAverage(network.parameters())
    optimizer = torch.optim.AdamW(network.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(network, average, diffusion, *training, optimizer, config["batch_size"])
        if epoch % config["evaluate_every"]:
            continue
        average.copy_to(averaged.parameters())
        validation_loss, distance = evaluate(averaged, diffusion, *validation, config["repeats"])
        record = {"epoch": epoch, "loss": loss, "validation_loss": validation_loss, "distance": distance}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
