"""What does guardtower say of one step? Its function `audit`, with the model, batch, loss and optimizer of the first
step; and its `monitor`, which watches all activations for NaN and Inf from the second step on.
"""

import warnings

import torch
from one_batch import HandOver
from torch.utils._pytree import tree_flatten

import guardtower
from guardtower import Severity

SEVERITIES = {Severity.WARN: "warning", Severity.ERROR: "error"}
# The code of an alarm of `monitor`; those of `audit` are called as its checks are.
LIVE = "live-nonfinite"


class Tower(HandOver):
    def __init__(self, program, emit):
        super().__init__(program, emit, self.audit)
        self.monitors, self.told = [], set()

    def audit(self, batch, optimizer):
        if batch.loss is None:
            return False
        inputs = [leaf for leaf in tree_flatten((batch.arguments, batch.options))[0] if isinstance(leaf, torch.Tensor)]

        def step():
            return batch.loss(batch.call(), batch.loss.targets)

        report = guardtower.audit(batch.module, step, optimizer=optimizer, inputs=inputs)
        for finding in report:
            if finding.severity in SEVERITIES:
                self.emit(finding.check, finding.message, severity=SEVERITIES[finding.severity])
        self.watch(batch.module)
        return True

    def watch(self, module):
        monitor = guardtower.monitor(module, on_nonfinite="warn")
        monitor.__enter__()
        self.monitors.append(monitor)

    def after_step(self, optimizer):
        super().after_step(optimizer)
        self.report()

    def report(self):
        for monitor in self.monitors:
            for module in dict.fromkeys(monitor.hits):
                if module not in self.told:
                    self.told.add(module)
                    self.emit(LIVE, f"non-finite activation in module {module}", severity="error")
            monitor.hits.clear()

    def end(self):
        self.report()
        super().end()


def watch(program, emit):
    warnings.filterwarnings("ignore", message="non-finite activation")
    return Tower(program, emit)
