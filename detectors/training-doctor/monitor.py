"""What does training-doctor say while the program trains? Its `log` is called after each step, in two ways of its
README: with the loss alone (codes `minimal`), and with learning rate and norm of the gradients too (codes `full`).
Codes `confident` are those of `full` with a confidence above 0.5, as in its README.
"""

import math
import weakref

from training_doctor import Doctor

SEVERITIES = {"info": "info", "warning": "warning", "critical": "error"}
CONFIDENT = 0.5


class Log:
    """The two doctors of one optimizer."""

    def __init__(self):
        self.doctors = {"minimal": Doctor(), "full": Doctor()}
        self.steps = 0


class Clinic:
    def __init__(self, emit):
        self.emit = emit
        self.logs = weakref.WeakKeyDictionary()
        self.loss, self.norm = None, None

    def before_backward(self, tensors):
        if getattr(tensors, "numel", lambda: 0)() == 1:
            self.loss = float(tensors)

    def after_clip(self, parameters, limit, norm):
        self.norm = float(norm)

    def before_step(self, optimizer):
        if self.norm is None:
            self.norm = norm_of_gradients(optimizer)

    def after_step(self, optimizer):
        if self.loss is not None:
            self.record(optimizer)
        self.norm = None

    def record(self, optimizer):
        log = self.logs.setdefault(optimizer, Log())
        more = {"lr": float(optimizer.param_groups[0]["lr"])}
        if self.norm is not None:
            more["grad_norm"] = self.norm
        self.tell("minimal", log.doctors["minimal"].log(step=log.steps, loss=self.loss))
        self.tell("full", log.doctors["full"].log(step=log.steps, loss=self.loss, **more))
        log.steps += 1

    def tell(self, way, diagnoses):
        for diagnosis in diagnoses:
            severity = SEVERITIES[diagnosis.severity.value]
            evidence = "; ".join(str(evidence) for evidence in diagnosis.evidence)
            message = f"{diagnosis.problem}: {evidence}"
            self.emit(f"{way} {diagnosis.detector_name}", message, severity=severity)
            if way == "full" and diagnosis.confidence > CONFIDENT:
                self.emit(f"confident {diagnosis.detector_name}", message, severity=severity)


def norm_of_gradients(optimizer):
    norms = []
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is not None:
                norms.append(float(parameter.grad.detach().norm()))
    return math.hypot(*norms) if norms else None


def watch(program, emit):
    return Clinic(emit)
