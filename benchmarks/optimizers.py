"""What the sanitizer says of all optimizers of a package, in two of its releases.

    python benchmarks/optimizers.py write program.py
    trainbugs watch --python PYTHON --json report.json program.py
    python benchmarks/optimizers.py add report.json RELEASE benchmarks/optimizers.csv

The program trains one small network with each optimizer that `pytorch_optimizer` lists, for six
steps, with a schedule, and loads what the optimizer has saved. An optimizer that asks for more than
parameters, a learning rate and a weight decay is left out. PYTHON has the release.
"""

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path

FIELDS = ("release", "optimizer", "invariant", "message")
HEAD = '''\
import copy
import inspect
import warnings

import pytorch_optimizer
import torch
from torch.nn.functional import cross_entropy

warnings.simplefilter("ignore")
torch.manual_seed(0)
points, labels = torch.randn(64, 8), torch.randint(3, (64,))


def make_network():
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))


def make(name, network):
    """The optimizer with a weight decay, if it takes one."""
    made_of = getattr(pytorch_optimizer, name)
    takes = inspect.signature(made_of.__init__).parameters
    options = {"weight_decay": 0.01} if "weight_decay" in takes else {}
    return made_of(network.parameters(), lr=0.01, **options)


'''
# An alarm is about a line, and an invariant says one thing of a line: each optimizer has its own.
PART = """\
try:
    network = make_network()
    optimizer = make("{name}", network)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    for iteration in range(6):
        optimizer.zero_grad()
        cross_entropy(network(points), labels).backward()
        optimizer.step()
        schedule.step()
    saved = copy.deepcopy(optimizer.state_dict())
    resumed = make("{name}", network)
    resumed.load_state_dict(saved)
    print("{name}: trained")
except Exception as error:
    print("{name}: left out,", type(error).__name__)
"""
NAMES = (
    "ASGD", "AccSGD", "AdEMAMix", "AdaBelief", "AdaBound", "AdaDelta", "AdaFactor", "AdaMax",
    "AdaMod", "AdaNorm", "AdaPNM", "AdaShift", "AdaSmooth", "AdaTAM", "Adai", "Adalite",
    "AdamG", "AdamP", "AdamS", "Adan", "AggMo", "Aida", "Amos", "ApolloDQN", "AvaGrad", "CAME",
    "DAdaptAdaGrad", "DAdaptAdam", "DAdaptAdan", "DAdaptLion", "DAdaptSGD", "DiffGrad", "FAdam",
    "FTRL", "Fromage", "GaLore", "Grams", "Gravity", "Kate", "Kron", "LARS", "LaProp", "Lamb",
    "Lion", "MADGRAD", "MARS", "MSVAG", "Muon", "Nero", "NovoGrad", "OrthoGrad", "PAdam", "PID",
    "PNM", "Prodigy", "QHAdam", "QHM", "RACS", "RAdam", "Ranger", "SCION", "SGDP", "SGDSaI",
    "SGDW", "SM3", "SOAP", "SPAM", "SRMM", "SWATS", "ScheduleFreeAdamW", "ScheduleFreeSGD",
    "Shampoo", "SignSGD", "StableAdamW", "StableSPAM", "TAM", "Tiger", "VSGD", "Yogi",
)  # fmt: skip


def write(path: Path) -> None:
    """Write the program."""
    path.write_text(HEAD + "".join(PART.format(name=name) for name in NAMES), encoding="utf-8")


def rows(report: Path, release: str) -> list[dict[str, str]]:
    """What a report says, an error a row, with the optimizer that the API names."""
    findings = json.loads(report.read_text(encoding="utf-8"))["findings"]
    errors = [item for item in findings if item["severity"] == "error"]
    accused = [
        {
            "release": release,
            "optimizer": item["api"].split(".")[-2],
            "invariant": item["invariant"],
            "message": item["message"],
        }
        for item in errors
    ]
    return sorted(accused, key=lambda row: (row["optimizer"], row["invariant"]))


def main(arguments: Sequence[str]) -> int:
    """Write the program, or add a report to the table."""
    if arguments[0] == "write":
        write(Path(arguments[1]))
        return 0
    _, report, release, path = arguments
    table = Path(path)
    text = table.read_text(encoding="utf-8") if table.is_file() else ""
    old = csv.DictReader(text.splitlines())
    new = [row for row in old if row["release"] != release] + rows(Path(report), release)
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(new)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
