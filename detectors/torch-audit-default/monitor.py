"""What does torch-audit find while the program trains? Its zero-touch mode, audited at its default interval.

The forward pass is watched by its `autopatch`; its audit after a step is called by us, because a step that was handed
to Dynamo cannot be patched any more. Without a module that holds all parameters of the optimizer there is nothing that
it could audit.
"""

from torch_audit import Auditor, audit_step

SEVERITIES = {"INFO": "info", "WARN": "warning", "ERROR": "error", "FATAL": "error"}


class Audit:
    def __init__(self, model, optimizer, emit):
        self.emit = emit
        self.auditor = Auditor(model, optimizer=optimizer)
        self.auditor.autopatch(patch_optimizer=False)
        self.audit_after_step = audit_step(self.auditor)(lambda: None)

    def before_backward(self, iteration, loss):
        self.report()

    def after_step(self, iteration):
        self.audit_after_step()
        self.report()

    def end(self, iteration):
        self.report()

    def report(self):
        for finding in self.auditor.pop_new_findings():
            severity = SEVERITIES[finding.severity.value]
            self.emit(finding.rule_id, finding.message, severity=severity, parameter=finding.module_path)


def attach(model, optimizer, emit):
    return Audit(model, optimizer, emit) if model is not None else None
