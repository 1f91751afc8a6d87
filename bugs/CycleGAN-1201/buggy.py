"""Train a generative adversarial network that draws heartbeats.

A generator makes beats of an electrocardiogram out of noise, a second network tells them from real ones; `gan_mode`
says by which loss. Every few epochs as many new beats are drawn as are held out, and compared with them. Each time one
JSON object is printed; at the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`,
is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from beats import POINTS, energy_distance, load
from torch import nn


class GANLoss(nn.Module):
    """What the discriminator's predictions cost, if they are to be those of real beats, or of made ones.

    The discriminator ends without a sigmoid. gan_mode is vanilla (cross-entropy), lsgan (least squares) or wgangp
    (Wasserstein distance).
    """

    def __init__(self, gan_mode):
        super().__init__()
        self.gan_mode = gan_mode
        if gan_mode == "vanilla":
            self.loss = nn.BCEWithLogitsLoss()
        elif gan_mode == "lsgan":
            self.loss = nn.MSELoss()
        elif gan_mode != "wgangp":
            raise ValueError(f"gan_mode: {gan_mode}, expected vanilla, lsgan or wgangp")

    def forward(self, predictions, real):
        if self.gan_mode == "wgangp":
            return -predictions.mean() if real else predictions.mean()
        return self.loss(predictions, torch.full_like(predictions, float(real)))


def gradient_penalty(discriminator, real, fake, weight=10.0, norm=1.0):
    """How far the gradients between real and made beats are from the length that a Wasserstein critic should have."""
    shares = torch.rand(len(real), 1).to(real.device)
    mixed = (shares * real + (1 - shares) * fake).requires_grad_()
    (gradients,) = torch.autograd.grad(discriminator(mixed).sum(), mixed, create_graph=True)
    return weight * ((gradients.norm(dim=1) - norm) ** 2).mean()


def make_networks(noise_size, width):
    generator = nn.Sequential(
        nn.Linear(noise_size, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, POINTS)
    )
    discriminator = nn.Sequential(
        nn.Linear(POINTS, width), nn.LeakyReLU(0.2), nn.Linear(width, width), nn.LeakyReLU(0.2), nn.Linear(width, 1)
    )
    return generator, discriminator


class HeartbeatGAN:
    """Both networks with their optimizers."""

    def __init__(self, config, device):
        self.noise_size = config["noise_size"]
        self.device = device
        self.criterion = GANLoss(config["gan_mode"])
        generator, discriminator = make_networks(self.noise_size, config["width"])
        self.generator = generator.to(device)
        self.discriminator = discriminator.to(device)
        betas = (config["beta1"], config["beta2"])
        self.optimizer_g = torch.optim.Adam(self.generator.parameters(), lr=config["learning_rate"], betas=betas)
        self.optimizer_d = torch.optim.Adam(self.discriminator.parameters(), lr=config["learning_rate"], betas=betas)

    def draw(self, number, random=None):
        return self.generator(torch.randn(number, self.noise_size, generator=random).to(self.device))

    def step_discriminator(self, real):
        fake = self.draw(len(real)).detach()
        loss_fake = self.criterion(self.discriminator(fake), False)
        loss_real = self.criterion(self.discriminator(real), True)
        loss = loss_fake + loss_real
        self.optimizer_d.zero_grad()
        loss.backward()
        self.optimizer_d.step()
        return (loss_fake + loss_real).item()

    def step_generator(self, number):
        loss = self.criterion(self.discriminator(self.draw(number)), True)
        self.optimizer_g.zero_grad()
        loss.backward()
        self.optimizer_g.step()
        return loss.item()


def train_epoch(gan, beats, batch_size, discriminator_steps):
    """One step of the generator after every few of the discriminator; return the means of both losses."""
    losses_d, losses_g = [], []
    for batch in torch.randperm(len(beats)).to(beats.device).split(batch_size):
        losses_d.append(gan.step_discriminator(beats[batch]))
        if len(losses_d) % discriminator_steps == 0:
            losses_g.append(gan.step_generator(len(batch)))
    return sum(losses_d) / len(losses_d), sum(losses_g) / len(losses_g)


@torch.no_grad()
def evaluate(gan, beats):
    """Draw new beats, of the same noise each time, and return how far they are from these ones."""
    return energy_distance(gan.draw(len(beats), torch.Generator().manual_seed(0)), beats)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    beats, validation_beats = load(config["beats"], config["validation_beats"], device)
    gan = HeartbeatGAN(config, device)

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss_d, loss_g = train_epoch(gan, beats, config["batch_size"], config["discriminator_steps"])
        if epoch % config["evaluate_every"]:
            continue
        distance = evaluate(gan, validation_beats)
        record = {"epoch": epoch, "discriminator_loss": loss_d, "generator_loss": loss_g, "distance": distance}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
