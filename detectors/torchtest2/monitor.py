"""What does torchtest2 say of one batch? Its function `check_model`, with the model, batch, loss and optimizer of the
first step, as its README calls it. Without a known loss it is called without one, which it allows.
"""

import inspect

import torch.nn.functional as F  # noqa: N812
from one_batch import CalledLoss, HandOver

from torchtest2 import Status, check_model

SEVERITIES = {Status.FAIL: "error", Status.WARN: "warning"}


def watch(program, emit):
    def use(batch, optimizer):
        report = check_model(batch.model, optimizer=optimizer, **inputs_of(batch), **loss_of(batch))
        for result in report.results:
            if result.status in SEVERITIES:
                emit(result.name, result.message, severity=SEVERITIES[result.status])
        return True

    return HandOver(program, emit, use)


def inputs_of(batch):
    """Its inputs are positional or named arguments. For both, the model is called by its two hooks."""
    if not (batch.arguments and batch.options):
        return {"inputs": batch.options or tuple(batch.arguments)}

    def forward(model, inputs, targets=None):
        return model(*inputs[0], **inputs[1])

    return {"inputs": (batch.arguments, batch.options), "forward_fn": forward, "eval_forward_fn": forward}


def loss_of(batch):
    loss = batch.loss
    if loss is None:
        return {}
    return {"loss_fn": F.cross_entropy if is_plain_cross_entropy(loss, batch) else loss, "targets": loss.targets}


def is_plain_cross_entropy(loss, batch):
    """It knows what the first loss should be of this function, and of no other one."""
    if not isinstance(loss, CalledLoss) or loss.function is not F.cross_entropy or not loss.is_whole:
        return False
    defaults = {name: parameter.default for name, parameter in inspect.signature(F.cross_entropy).parameters.items()}
    return loss.has_one_output and all(value is defaults[name] for name, value in loss.rest.items())
