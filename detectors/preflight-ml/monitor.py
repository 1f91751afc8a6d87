"""What does preflight-ml say of a program's data? Its `run_checks`, after the first step, with the first DataLoader
that the program iterated over, and with the model and the loss where batches of the loader are what the model and the
loss got. A program without a DataLoader has a list with the one batch in its place.
"""

import contextlib
import copy

import torch
from one_batch import HandOver
from preflight import Severity, run_checks

SEVERITIES = {Severity.FATAL: "error", Severity.WARN: "warning", Severity.INFO: "info"}


class Preflight(HandOver):
    def __init__(self, program, emit):
        super().__init__(program, emit, self.check)
        self.loader, self.is_pair = None, False

    def before_epoch(self, loader):
        if self.loader is None:
            self.loader = loader

    def after_batch(self, loader, batch):
        if loader is self.loader:
            self.is_pair = is_pair(batch)

    def check(self, batch, optimizer):
        loss, is_pair_for_model = batch.loss, False
        if loss is not None and len(batch.arguments) == 1 and not batch.options:
            is_pair_for_model = isinstance(loss.targets, torch.Tensor)
        if self.loader is None and not is_pair_for_model:
            return False
        if self.loader is None:
            self.report([(batch.arguments[0], loss.targets)], batch.model, loss)
            return True
        given = (batch.model, loss) if is_pair_for_model and self.is_pair else (None, None)
        with generators_preserved(self.loader):
            self.report(second_loader(self.loader), *given)
        return True

    def report(self, loader, model, loss):
        for result in run_checks(dataloader=loader, model=model, loss_fn=loss):
            if not result.passed:
                self.emit(result.name, result.message, severity=SEVERITIES[result.severity])


def is_pair(batch):
    return isinstance(batch, (list, tuple)) and len(batch) == 2 and all(torch.is_tensor(part) for part in batch)


def second_loader(loader):
    """A loader like this one, without workers: an iteration over the program's own could end the one that goes on."""
    second = copy.copy(loader)
    changes = {"num_workers": 0, "prefetch_factor": None, "persistent_workers": False, "timeout": 0, "_iterator": None}
    vars(second).update(changes)
    return second


@contextlib.contextmanager
def generators_preserved(loader):
    """The generators of a loader and its samplers go on where they were."""
    places = [loader, loader.sampler, loader.batch_sampler, getattr(loader.batch_sampler, "sampler", None)]
    generators = [getattr(place, "generator", None) for place in places]
    states = [(generator, generator.get_state()) for generator in generators if generator is not None]
    try:
        yield
    finally:
        for generator, state in states:
            generator.set_state(state)


def watch(program, emit):
    return Preflight(program, emit)
