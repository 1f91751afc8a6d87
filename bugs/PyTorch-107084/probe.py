"""The largest difference between what the model puts out in training mode and in evaluation mode.

There is no dropout, and no batch normalisation, so that it should be none.
"""

import torch


def start():
    pass


def look(names):
    model, (inputs, _) = names["model"], names["validation"]
    training = model.training
    with torch.no_grad():
        difference = model.train()(inputs) - model.eval()(inputs)
    model.train(training)
    return {"difference": difference.abs().max().item()}
