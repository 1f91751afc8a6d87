"""Gradients as they were, to tell whether anything has changed them."""

import weakref

import torch


class GradientSnapshot:
    """A parameter, and what its gradient was: which tensor, in which version, and, if asked for,
    some numbers.
    """

    def __init__(self, parameter, samples):
        self.parameter, gradient = weakref.ref(parameter), parameter.grad
        self.identity, self.version = id(gradient), gradient._version
        self.sample = sample_numbers(gradient) if samples else None

    def __call__(self):
        return self.parameter()

    def gradient(self):
        parameter = self.parameter()
        return None if parameter is None else parameter.grad

    def has_its_version(self):
        gradient = self.gradient()
        return (
            gradient is not None
            and id(gradient) == self.identity
            and gradient._version == self.version
        )

    def is_as_it_was(self):
        """Whether it is known that the gradient has not been changed or replaced,
        and is not zero.
        """
        if self.sample is None or not self.has_its_version():
            return False
        now = sample_numbers(self.gradient())
        return (
            now.shape == self.sample.shape
            and bool((now != 0).any())
            and bool((now == self.sample).all())
        )

    def is_cleared(self):
        gradient = self.gradient()
        return (
            gradient is None
            or gradient.is_sparse
            or not bool((sample_numbers(gradient) != 0).any())
        )


def take_snapshots(parameters, samples):
    """What is kept of the parameters that have a gradient that can be compared."""
    return [
        GradientSnapshot(parameter, samples)
        for parameter in parameters
        if parameter is not None and is_comparable(parameter.grad)
    ]


def is_comparable(gradient):
    return gradient is not None and not gradient.is_sparse and not gradient.is_inference()


def sample_numbers(gradient):
    with torch.no_grad():
        return gradient.detach().reshape(-1)[:64].clone()
