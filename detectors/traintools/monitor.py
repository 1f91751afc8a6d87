"""What do the monitors of traintools warn of? Its quick start, on each step: `BatchInspector`, `GradientHealthMonitor`,
and `PlasticityProbe` every 200 steps, as its tracker for loops asks it.
"""

import torch

from traintools import BatchInspector, GradientHealthMonitor, PlasticityProbe

# The default of its TraintoolsTracker.
PROBE_EVERY = 200
# The norm at which its quick start says that gradients are to be clipped.
CLIP_AT = 1.0
CLIPPED = "exceeds clipping threshold"


class Tools:
    """The monitors of one optimizer."""

    def __init__(self, model, optimizer, emit):
        self.model, self.optimizer, self.report = model, optimizer, Report(emit)
        self.gradients = GradientHealthMonitor(max_grad_norm=CLIP_AT)
        self.probe = PlasticityProbe(model)

    def before_step(self, iteration):
        rate = float(self.optimizer.param_groups[0]["lr"])
        found = self.gradients.inspect(self.model, step=iteration, lr=rate)
        for warning in found.warnings:
            self.report("clip" if CLIPPED in warning else "gradients", warning)

    def after_step(self, iteration):
        if iteration % PROBE_EVERY == 0:
            for layer in self.probe.measure(step=iteration).critical_layers:
                self.report("plasticity", f"critical layer {layer}")
            self.probe.reset_buffers()

    def end(self, iteration):
        self.probe.remove_hooks()


class Batches:
    """The batches of the whole program: what a model is called with, and the targets of loss functions."""

    def __init__(self, emit):
        self.report, self.inspector = Report(emit), BatchInspector()

    def before_forward(self, module, arguments, options):
        if torch.is_grad_enabled() and next(module.parameters(), None) is not None:
            self.inspect((*arguments, options), None)

    def after_loss(self, name, arguments, output):
        if output.requires_grad and isinstance(arguments.get("target"), torch.Tensor):
            self.inspect((), arguments["target"])

    def inspect(self, inputs, targets):
        for warning in self.inspector.inspect(inputs, targets).warnings:
            self.report("batch", warning)


class Report:
    """Each warning once, whatever its numbers are."""

    def __init__(self, emit):
        self.emit, self.told = emit, set()

    def __call__(self, code, warning):
        key = (code, "".join(character for character in warning.split(" (")[0] if not character.isdigit()))
        if key not in self.told:
            self.told.add(key)
            self.emit(code, warning)


def attach(model, optimizer, emit):
    return Tools(model, optimizer, emit) if model is not None else None


def watch(program, emit):
    return Batches(emit)
