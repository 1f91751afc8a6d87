"""Train a small network with a compiled optimizer step and a gap: iterations in a row whose batch is skipped.

An iteration is one batch; `accumulation` batches make one update, and the gradients are None after it. For every place
and length of the gap one JSON object is printed; at the end all of them go to `<output>.json`. `updates_lost` is the
share of the steps with gradients that moved no parameter. `shows_at` is the first iteration in which the validation
loss is farther from that of the same training, not compiled, than trainings with other seeds are from each other; null
where there is none. If a training fails, `error` says how. The one argument, a JSON file with `parameters`, is by
default the `gaps.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
import torch._dynamo
import waves
from torch import nn
from torch.nn import functional

# The first iteration of the gap, and how many batches it lacks.
PLACES = [1, 9, 46, 81]
LENGTHS = [1, 2, 5]
OPTIMIZERS = {
    "SGD": lambda parameters: torch.optim.SGD(parameters, lr=0.1, foreach=False),
    "ASGD": lambda parameters: torch.optim.ASGD(parameters, lr=0.3, foreach=False),
    "Adam": lambda parameters: torch.optim.Adam(parameters, lr=0.02, foreach=False),
    "AdamW": lambda parameters: torch.optim.AdamW(parameters, lr=0.02, foreach=False),
    "NAdam": lambda parameters: torch.optim.NAdam(parameters, lr=0.02, foreach=False),
}


def train(config, seed, gap, compiled):
    """The validation loss after each iteration, and whether each step with gradients moved a parameter."""
    torch.manual_seed(seed)
    (inputs, targets), validation = waves.load(config["samples"])
    model = nn.Sequential(nn.Linear(waves.FEATURES, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = OPTIMIZERS[config["optimizer"]](model.parameters())

    def update():
        optimizer.step()

    torch._dynamo.reset()
    step = torch._dynamo.optimize("eager")(update) if compiled else update
    batches = torch.randint(config["samples"], (config["iterations"], config["batch_size"]))

    losses, moved = [], []
    for iteration, batch in enumerate(batches, 1):
        if iteration not in gap:
            loss = functional.mse_loss(model(inputs[batch]), targets[batch])
            (loss / config["accumulation"]).backward()
        if iteration % config["accumulation"] == 0:
            has_gradients = model[0].weight.grad is not None
            before = model[0].weight.detach().clone()
            step()
            if has_gradients:
                moved.append(not torch.equal(before, model[0].weight))
            optimizer.zero_grad()
        losses.append(evaluate(model, validation))
    return losses, moved


@torch.no_grad()
def evaluate(model, data):
    inputs, targets = data
    return functional.mse_loss(model(inputs), targets).item()


def first_apart(losses, expected, others):
    """The first iteration in which the loss is farther from the expected one than the others are from each other."""
    for iteration, (loss, aim, *own) in enumerate(zip(losses, expected, *others, strict=True), 1):
        if abs(loss - aim) > max(own) - min(own):
            return iteration
    return None


def measure(config, gap, others):
    try:
        losses, moved = train(config, config["seed"], gap, compiled=True)
    except RuntimeError as error:
        return {"validation_loss": None, "error": str(error).splitlines()[0]}
    expected, _ = train(config, config["seed"], gap, compiled=False)
    return {
        "validation_loss": losses[-1],
        "updates_lost": moved.count(False) / len(moved),
        "shows_at": first_apart(losses, expected, others),
    }


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("gaps.json")
    config = json.loads(path.read_text())["parameters"]
    torch.set_num_threads(1)
    others = [train(config, 1000 + index, (), compiled=False)[0] for index in range(config["others"])]

    records = []
    for place in PLACES:
        for length in LENGTHS:
            gap = range(place, place + length)
            record = {"gap_end": gap[-1], "gap_start": gap[0], "gap_length": length, **measure(config, gap, others)}
            print(json.dumps(record), flush=True)
            records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
