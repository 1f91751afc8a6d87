"""A small network learns from the soft answers of a large one, which it keeps outside of its own modules.

Every epoch prints one JSON object with its loss. At the end all of them go to `<output>.json`. The one argument,
a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional


def generate(n, device):
    targets = torch.arange(n) % 2
    r = torch.rand(n).sqrt().mul(3)
    theta = r.mul(torch.pi).div(2).add(targets.mul(torch.pi))
    x = torch.stack([theta.cos() * r, theta.sin() * r], dim=-1)
    x += 0.1 * torch.randn(n, 2)
    return x.to(device), targets.to(device)


def build_model(hidden):
    layers = [nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 2)]
    return nn.Sequential(*layers)


class Student(nn.Module):
    def __init__(self, teacher):
        super().__init__()
        # In a list, so that it is none of the student's parameters.
        self.teacher, self.net = [teacher], build_model(12)

    def forward(self, x):
        with torch.no_grad():
            wanted = self.teacher[0](x).softmax(dim=1)
        return self.net(x), wanted


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    x, targets = generate(512, device)
    teacher = build_model(64).to(device)
    optimizer = torch.optim.Adam(teacher.parameters(), lr=config["learning_rate"])
    for _ in range(5):
        for batch in torch.randperm(len(targets)).split(config["batch_size"]):
            optimizer.zero_grad()
            functional.cross_entropy(teacher(x[batch]), targets[batch]).backward()
            optimizer.step()

    student = Student(teacher.eval()).to(device)
    optimizer = torch.optim.Adam(student.parameters(), lr=config["learning_rate"])
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        losses = []
        for batch in torch.randperm(len(targets)).split(config["batch_size"]):
            optimizer.zero_grad()
            answer, wanted = student(x[batch])
            loss = functional.cross_entropy(answer, wanted)
            loss.backward()
            optimizer.step()
            losses.append(float(loss))
        record = {
            "epoch": epoch,
            "loss": sum(losses) / len(losses),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
