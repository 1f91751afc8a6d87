"""What does torchmortem find when the training is over? Its `Autopsy` with its default sampling, told the loss of each
step, as its README does.
"""

from torchmortem import Autopsy, Severity

SEVERITIES = {Severity.INFO: "info", Severity.WARNING: "warning", Severity.CRITICAL: "error"}


class Mortem:
    def __init__(self, model, optimizer, emit):
        self.emit, self.loss = emit, None
        self.autopsy = Autopsy(model, optimizer=optimizer)
        self.autopsy.attach()

    def before_backward(self, iteration, loss):
        if getattr(loss, "numel", lambda: 0)() == 1:
            self.loss = float(loss)

    def after_step(self, iteration):
        self.autopsy.step(loss=self.loss)

    def end(self, iteration):
        self.autopsy.detach()
        report = self.autopsy.get_report()
        for finding in report.findings:
            layers = finding.affected_layers[:1] or [None]
            self.emit(finding.detector, finding.summary, severity=SEVERITIES[finding.severity], parameter=layers[0])
        for insight in report.insights:
            self.emit("insight", f"{insight.rule_name}: {insight.summary}")


def attach(model, optimizer, emit):
    return Mortem(model, optimizer, emit) if model is not None else None
