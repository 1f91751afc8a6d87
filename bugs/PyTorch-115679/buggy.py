"""Train a small network with a compiled optimizer step, save a checkpoint on the way, and resume from it.

How far a training has come is read from the step counter in the optimizer's state: the second session goes on at the
iteration after it, up to the total that was asked for. Batches are drawn by iteration, so that a resumed training sees
those that the first session has not seen. Every update prints one JSON object; at the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import io
import json
import sys
from pathlib import Path

import torch
from torch import nn

OPTIMIZERS = {"Adadelta": torch.optim.Adadelta, "RMSprop": torch.optim.RMSprop, "Rprop": torch.optim.Rprop}


def make_data(config, device):
    inputs = torch.randn(config["samples"], 8)
    targets = torch.sin(inputs @ torch.randn(8, 1) / 2) + 0.1 * torch.randn(config["samples"], 1)
    return inputs.to(device), targets.to(device)


def build(config, device):
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1)).to(device)
    optimizer = OPTIMIZERS[config["optimizer"]](model.parameters(), lr=config["learning_rate"])
    return model, optimizer


def steps_done(optimizer):
    return max((int(state["step"]) for state in optimizer.state.values()), default=0)


def train(session, model, optimizer, data, until, config, records):
    inputs, targets = data

    @torch.compile(backend="eager")
    def update():
        optimizer.step()

    for iteration in range(steps_done(optimizer) + 1, until + 1):
        generator = torch.Generator().manual_seed(iteration)
        batch = torch.randperm(len(inputs), generator=generator)[: config["batch_size"]].to(inputs.device)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs[batch]), targets[batch])
        loss.backward()
        update()
        record = {
            "update": len(records) + 1,
            "session": session,
            "iteration": iteration,
            "loss": loss.item(),
        }
        print(json.dumps(record), flush=True)
        records.append(record)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    data = make_data(config, device)
    records = []
    model, optimizer = build(config, device)
    train(1, model, optimizer, data, config["checkpoint_at"], config, records)
    checkpoint = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, checkpoint)

    checkpoint.seek(0)
    saved = torch.load(checkpoint, map_location=device)
    model, optimizer = build(config, device)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    train(2, model, optimizer, data, config["iterations"], config, records)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
