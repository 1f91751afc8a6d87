"""A model of a machine with two devices: the ways that a tensor can take from one device's memory into the other's."""

import torch


class Machine:
    """`unwritten` is the share of direct copies after which the other memory holds zeros."""

    def __init__(self, unwritten):
        self.unwritten = unwritten

    def peer(self, tensor, generator):
        """Straight into the other memory: one copy."""
        written = torch.rand((), generator=generator) >= self.unwritten
        return tensor * written

    def host(self, tensor, generator):
        """By way of the host's memory: two copies."""
        staged = tensor.clone()
        return staged.clone()
