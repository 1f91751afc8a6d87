"""Learn the parity of numbers from an embedding with sparse gradients: a step touches the rows of its batch only.

Every iteration prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON file
with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn

NUMBERS = 50


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    embedding = nn.Embedding(NUMBERS, 8, sparse=True).to(device)
    output = nn.Linear(8, 2).to(device)
    sparse = torch.optim.SparseAdam(embedding.parameters(), lr=config["learning_rate"])
    dense = torch.optim.Adam(output.parameters(), lr=config["learning_rate"])
    criterion = nn.CrossEntropyLoss()

    records = []
    for iteration in range(1, config["iterations"] + 1):
        numbers = torch.randint(NUMBERS, (config["batch_size"],), device=device)
        loss = criterion(output(embedding(numbers)), numbers % 2)
        for optimizer in (sparse, dense):
            optimizer.zero_grad()
        loss.backward()
        for optimizer in (sparse, dense):
            optimizer.step()
        record = {
            "iteration": iteration,
            "loss": loss.item(),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
