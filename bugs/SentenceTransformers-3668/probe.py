"""How many kinds of questions the batches of an epoch had, and how often the loss of a batch was exactly zero."""

from statistics import fmean

kinds, zero = [], []


def start():
    from sentence_transformers import losses

    original = losses.BatchAllTripletLoss.forward

    def forward(self, sentence_features, labels):
        loss = original(self, sentence_features, labels)
        kinds.append(len(labels.unique()))
        zero.append(loss.item() == 0)
        return loss

    losses.BatchAllTripletLoss.forward = forward


def look(names):
    found = {"one_kind": fmean(number == 1 for number in kinds), "loss_is_zero": fmean(zero)}
    kinds.clear()
    zero.clear()
    return found
