"""Does autograd's own anomaly mode complain? It raises an error at the first gradient that is not a number."""

import torch


def attach(model, optimizer, emit):
    torch.autograd.set_detect_anomaly(True)
