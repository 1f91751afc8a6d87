"""What does torch-audit find while the program trains? Its zero-touch mode, with an audit at every step.

Without a module that holds all parameters of the optimizer there is nothing that it could audit.
"""

from torch_audit import Auditor

SEVERITIES = {"INFO": "info", "WARN": "warning", "ERROR": "error", "FATAL": "error"}


class Audit:
    def __init__(self, model, optimizer, emit):
        self.emit = emit
        self.auditor = Auditor(model, optimizer=optimizer, every_n_steps=1)
        self.auditor.autopatch()

    def before_backward(self, iteration, loss):
        self.report()

    def after_step(self, iteration):
        self.report()

    def end(self, iteration):
        self.report()

    def report(self):
        for finding in self.auditor.pop_new_findings():
            self.emit(
                finding.rule_id,
                finding.message,
                severity=SEVERITIES[finding.severity.value],
                parameter=finding.module_path,
                iteration=(finding.step or 0) + 1,
            )


def attach(model, optimizer, emit):
    return Audit(model, optimizer, emit) if model is not None else None
