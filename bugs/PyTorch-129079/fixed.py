"""Forecast the power of a wind turbine as a mixture of Gaussians, trained in sessions of a few epochs.

The weather is made. In a storm the turbine is switched off now and then, so that the power has two likely values. The
model, the optimizer and the scheduler go through a distributed checkpoint from one session to the next, as they do
where a job may run for some hours only and is then queued again. Every epoch prints one JSON object with the negative
log-likelihood (in nats) of the hours that are trained on and of others. At the end all of them go to `<output>.json`;
the checkpoints are in `<output>-checkpoints`. The one argument, a JSON file with `parameters`, is by default the
`config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.nn import functional


class MixtureNetwork(nn.Module):
    def __init__(self, inputs, width, parts):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 3 * parts)
        )

    def forward(self, weather, power):
        """The negative log-likelihood of each hour's power."""
        weights, means, widths = self.layers(weather).chunk(3, dim=1)
        widths = functional.softplus(widths) + 0.01
        distances = (power.unsqueeze(1) - means) / widths
        densities = -0.5 * distances.square() - widths.log() - 0.5 * math.log(2 * math.pi)
        return -torch.logsumexp(weights.log_softmax(1) + densities, dim=1)


class Training:
    """A model and its optimizer, in the form in which a checkpoint holds them."""

    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer

    def state_dict(self):
        model_state, optimizer_state = get_state_dict(self.model, self.optimizer)
        return {"model": model_state, "optimizer": optimizer_state}

    def load_state_dict(self, state):
        set_state_dict(self.model, self.optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])


def make_hours(count, device):
    """The forecast of the weather for each hour (standardised), and the power of the turbine in it."""
    speed = torch.distributions.Weibull(10.0, 2.0).sample((count,))
    angle = 2 * math.pi * torch.rand(count)
    temperature = torch.randn(count)
    wake = 1 - 0.4 * torch.exp(4 * (torch.cos(angle - 1) - 1))
    true_speed = speed * wake * (1 + 0.08 * torch.randn(count))
    power = ((true_speed - 3) / 9).clamp(0, 1) ** 2 * (1 - 0.05 * temperature)
    off = torch.rand(count) < torch.sigmoid(speed - 17)
    power = torch.where(off, 0, power) + 0.02 * torch.randn(count)
    weather = torch.stack([(speed - 9) / 5, torch.sin(angle), torch.cos(angle), temperature], dim=1)
    return weather.to(device), power.to(device)


def train_epoch(model, weather, power, optimizer, batch_size):
    total = 0.0
    for batch in torch.randperm(len(power)).to(power.device).split(batch_size):
        loss = model(weather[batch], power[batch]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(power)


@torch.no_grad()
def evaluate(model, weather, power):
    return {"validation_loss": model(weather, power).mean().item()}


def run_session(config, device, hours, test_hours, session):
    """Train for some epochs, from the checkpoint of the session before on if there is one, and leave one behind."""
    model = MixtureNetwork(hours[0].shape[1], config["width"], config["parts"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, config["decay_epochs"], config["decay"])
    training = Training(model, optimizer)
    checkpoints = Path(config["output"] + "-checkpoints")
    if session > 1:
        dcp.load({"training": training, "scheduler": scheduler}, checkpoint_id=checkpoints / f"session-{session - 1}")

    records = []
    first = (session - 1) * config["session_epochs"] + 1
    for epoch in range(first, min(first + config["session_epochs"], config["num_epoch"] + 1)):
        loss = train_epoch(model, *hours, optimizer, config["batch_size"])
        record = {"session": session, "epoch": epoch, "loss": loss, **evaluate(model, *test_hours)}
        print(json.dumps(record), flush=True)
        records.append(record)
        scheduler.step()
    dcp.save(
        {"training": training.state_dict(), "scheduler": scheduler}, checkpoint_id=checkpoints / f"session-{session}"
    )
    return records


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    hours = make_hours(config["hours"], device)
    test_hours = make_hours(config["held_out"], device)

    records = []
    for session in range(1, math.ceil(config["num_epoch"] / config["session_epochs"]) + 1):
        records += run_session(config, device, hours, test_hours, session)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
