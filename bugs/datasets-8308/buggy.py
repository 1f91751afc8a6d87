"""Train a small network on a stream of handwritten digits, in sessions of so many steps.

Each session begins as a new program would: it goes on from the checkpoint of the session before. The stream is read
once. Every ten steps print one JSON object: the session, the mean loss of these steps, how many different images were
trained on so far, and loss and accuracy on other images. At the end all of them go to `<output>.json`, the checkpoint
is in `<output>.pt`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import digits
import torch
from datasets import Dataset
from torch import nn
from torch.nn.functional import cross_entropy
from torchdata.stateful_dataloader import StatefulDataLoader


def make_stream(images, labels, config):
    """The images in an order that follows from the seed, with their numbers in it."""
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(config["seed"]))
    columns = {
        "image": images[order].flatten(1).tolist(),
        "label": labels[order].tolist(),
        "number": list(range(len(order))),
    }
    return Dataset.from_dict(columns).to_iterable_dataset(num_shards=config["shards"]).with_format("torch")


def network(width):
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))


@torch.no_grad()
def evaluate(model, images, labels):
    outputs = model(images.flatten(1))
    return {
        "validation_loss": cross_entropy(outputs, labels).item(),
        "validation_accuracy": (outputs.argmax(1) == labels).float().mean().item(),
    }


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    train, validation = digits.load(device)
    saved = Path(config["output"] + ".pt")
    records, seen = [], set()

    def session(number, checkpoint=None):
        torch.manual_seed(config["seed"])
        model = network(config["width"]).to(device)
        optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
        stream = make_stream(*train, config)
        loader = StatefulDataLoader(stream, config["batch_size"])
        step, losses = 0, []
        if checkpoint:
            model.load_state_dict(checkpoint["model"])
            optimizer.load_state_dict(checkpoint["optimizer"])
            loader.load_state_dict(checkpoint["loader"])
            step = checkpoint["step"]
        for batch in loader:
            loss = cross_entropy(model(batch["image"].to(device)), batch["label"].to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            losses.append(loss.item())
            seen.update(batch["number"].tolist())
            if step % 10 == 0:
                record = {
                    "step": step,
                    "session": number,
                    "loss": sum(losses) / len(losses),
                    "images_seen": len(seen),
                    **evaluate(model, *validation),
                }
                print(json.dumps(record), flush=True)
                records.append(record)
                losses = []
            if step == number * config["session_steps"]:
                break
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "loader": loader.state_dict()}
        torch.save({**state, "step": step}, saved)

    session(1)
    for number in range(2, config["sessions"] + 1):
        session(number, torch.load(saved, map_location=device, weights_only=False))
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
