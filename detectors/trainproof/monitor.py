"""What does trainproof say of the log of a training? Each optimizer has a log with a record for each of its steps, and
one with the means of five steps, as the runs in its own gallery have.

Its guardian (a callback for the Trainer of transformers) looks at a log each 25 steps, from ten records on: codes
`live`. Its command `epoch` looks at the whole log: codes `log`. Both are its function `check_records`.
"""

import math

from trainproof.epoch import check_records

STEPS_OF_A_RECORD = (1, 5)
# The defaults of its TrainproofCallback.
CHECK_EVERY, MIN_POINTS = 25, 10
SEVERITIES = {"FAIL": "error", "WARN": "warning"}
# That it found no losses is nothing that it says of a training.
UNJUDGED = {"TP-NO-RECORDS", "TP-NO-LOSS"}


class Log:
    def __init__(self, optimizer, emit):
        self.optimizer, self.emit = optimizer, emit
        self.steps, self.loss, self.told = [], None, set()

    def before_backward(self, iteration, loss):
        if getattr(loss, "numel", lambda: 0)() == 1:
            self.loss = float(loss)

    def before_step(self, iteration):
        rate = float(self.optimizer.param_groups[0]["lr"])
        self.steps.append({"loss": self.loss, "grad_norm": self.gradient_norm(), "lr": rate})

    def after_step(self, iteration):
        if iteration % CHECK_EVERY == 0:
            self.report("live")

    def end(self, iteration):
        self.report("log")

    def gradient_norm(self):
        """The norm of all gradients of the optimizer's parameters, or None where there is none."""
        groups = self.optimizer.param_groups
        gradients = [each.grad for group in groups for each in group["params"] if each.grad is not None]
        return math.hypot(*(float(gradient.detach().norm()) for gradient in gradients)) if gradients else None

    def report(self, moment):
        for size in STEPS_OF_A_RECORD:
            records = records_of(self.steps, size)
            if moment == "live" and len(records) < MIN_POINTS:
                continue
            for finding in check_records(records)["findings"]:
                self.tell(f"{moment}-{size} {finding['id']}", finding)

    def tell(self, code, finding):
        if finding["level"] not in SEVERITIES or finding["id"] in UNJUDGED or code in self.told:
            return
        self.told.add(code)
        self.emit(code, f"{finding['message']} {finding['evidence']}", severity=SEVERITIES[finding["level"]])


def records_of(steps, size):
    """Loss and norm: the mean over so many steps; learning rate: the last one. A rest of fewer steps is left out."""
    records = []
    for end in range(size, len(steps) + 1, size):
        group = steps[end - size : end]
        record = {"step": end, "lr": group[-1]["lr"]}
        for name in ("loss", "grad_norm"):
            values = [step[name] for step in group if step[name] is not None]
            if values:
                record[name] = sum(values) / len(values)
        records.append(record)
    return records


def attach(model, optimizer, emit):
    return Log(optimizer, emit)
