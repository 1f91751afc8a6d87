"""A training program, and what monitors say of it."""

import json
import subprocess

from evaluation.keys import KIT
from support.paths import ROOT

MONITORS = ("api-sequence", "gradient-cycle", "optimizer-progress")

PROGRAM = """\
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
Optimizer = torch.optim.Adam
#CLASS#
optimizer = Optimizer(model.parameters(), lr=0.01)
#BEFORE#
points, labels = torch.randn(64, 2), torch.randint(2, (64,))


def update():
    #CLEAR#
    loss = nn.functional.cross_entropy(model(points), labels)
    loss.backward()
    #BETWEEN#
    optimizer.step()
    return loss


#COMPILE#
print([update().item() for _ in range(5)])
"""

GOOD = {"CLEAR": "optimizer.zero_grad()"}

LAZY = """
class Optimizer(torch.optim.Adam):
    calls = 0
    def step(self, closure=None):
        self.calls += 1
        return super().step() if self.calls < 3 else None
"""

GREEDY = """
class Optimizer(torch.optim.SGD):
    def step(self, closure=None):
        with torch.no_grad():
            for p in model.parameters():
                p.add_(0.01)
"""

OLD = """
class Optimizer(torch.optim.SGD):
    def step(self, closure=None):
        for p in self.param_groups[0]["params"]:
            p.data.add_(p.grad.data, alpha=-0.01)
"""

STALE = {"api-sequence": ("no-zero-grad", 2), "gradient-cycle": ("not-periodic", 2)}

CASES = {
    "right": ({}, {}),
    "never cleared": ({"CLEAR": "pass"}, STALE),
    "thrown away": (
        {"CLEAR": "pass", "BETWEEN": "optimizer.zero_grad()"},
        {"api-sequence": ("zero-grad-before-step", 1)},
    ),
    "cleared by hand": ({"CLEAR": "for p in model.parameters(): p.grad = None"}, {}),
    "zeroed by hand": ({"CLEAR": "[p.grad.zero_() for p in model.parameters() if p.grad is not None]"}, {}),
    "cleared by the module": ({"CLEAR": "model.zero_grad()"}, {}),
    # Calls alone do not tell: whatever is not zero may be left over.
    "replaced by hand": (
        {"CLEAR": "for p in model.parameters(): p.grad = torch.full_like(p, 0.001)"},
        {"api-sequence": ("no-zero-grad", 2)},
    ),
    "half of it cleared": ({"CLEAR": "model[0].zero_grad()"}, {"gradient-cycle": ("not-periodic", 2)}),
    "another module cleared": ({"BEFORE": "other = nn.Linear(1, 1)", "CLEAR": "other.zero_grad()"}, STALE),
    "a step that stops working": ({"CLASS": LAZY}, {"optimizer-progress": ("no-progress", 3)}),
    "a step that moves all": (
        {"CLASS": GREEDY, "BEFORE": "model[2].weight.requires_grad_(False)"},
        {"optimizer-progress": ("moved-without-gradient", 1)},
    ),
    "an optimizer that writes past autograd": ({"CLASS": OLD}, {}),
    "a learning rate of zero": ({"BEFORE": "optimizer.param_groups[0]['lr'] = 0.0"}, {}),
    "a zero gradient": (
        {"CLASS": "Optimizer = torch.optim.SGD", "BETWEEN": "[p.grad.zero_() for p in model.parameters()]"},
        {},
    ),
    "the same gradients twice": ({"BETWEEN": "optimizer.step()"}, {}),
}  # fmt: skip


def watch(python, folder, monitor, edits):
    """The launcher's report on the program with some of its places filled in,
    and what the program printed.
    """
    text = PROGRAM
    for place, words in (GOOD | edits).items():
        text = text.replace(f"#{place}#", words)
    (folder / "program.py").write_text(text.replace("    #CLEAR#\n", ""))
    out = folder / "out.json"
    out.unlink(missing_ok=True)
    option = ["--monitor", str(ROOT / "detectors" / monitor / "monitor.py")] if monitor else []
    done = subprocess.run(
        [python, KIT / "launcher", out, *option, "program.py"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    return json.loads(out.read_text()), done


def first_alarms(python, folder, edits):
    """By monitor, code and iteration of its first alarm."""
    alarms_by_monitor = {}
    for monitor in MONITORS:
        report, done = watch(python, folder, monitor, edits)
        assert done.returncode == 0 and report["error"] is None, done.stderr
        if report["alarms"]:
            alarms_by_monitor[monitor] = (
                report["alarms"][0]["code"],
                report["alarms"][0]["iteration"],
            )
    return alarms_by_monitor


def works_in(python, folder, compiles):
    """What must hold in every release: eagerly and, where the release can,
    with the whole update compiled.
    """
    ways = [{}] + (
        [{"COMPILE": "update = torch.compile(update, backend='eager')"}] if compiles else []
    )
    for way in ways:
        assert first_alarms(python, folder, way) == {}
        assert first_alarms(python, folder, way | {"CLEAR": "pass"}) == STALE


FORWARDS = """
class M:
    def __init__(self, model):
        self.seen = 0
        self.bare, model.forward = model.forward, self.forward
    def forward(self, *inputs):
        self.seen += 1
        return self.bare(*inputs)
    def end(self, iteration):
        print("forward passes", self.seen, "iterations", iteration)


def attach(model, optimizer, emit):
    return M(model)
"""
