"""How the held-out sequences fare without padding, and how far more padding moves the outputs for some of them."""

import torch


def start():
    pass


@torch.no_grad()
def look(names):
    model, validation, predict, device = (names[name] for name in ("model", "validation", "predict", "device"))
    lengths = [len(sequence) for sequence, _ in validation]
    right, short = [], []
    for length in sorted(set(lengths)):
        alike = [example for example in validation if len(example[0]) == length]
        found = predict(model, alike, len(alike), device)
        hits = [prediction == label for prediction, (_, label) in zip(found, alike, strict=True)]
        right += hits
        short += hits if length <= names["config"]["short"] else []
    longest = max(lengths)
    rows = [sequence for sequence, _ in validation if len(sequence) == min(lengths)]
    tokens = torch.stack(rows).to(device)
    padded = torch.nn.functional.pad(tokens, (longest - tokens.shape[1], 0))
    return {
        "accuracy_unpadded": sum(right) / len(right),
        "short_accuracy_unpadded": sum(short) / len(short),
        "moved_by_padding": (model(padded) - model(tokens)).abs().max().item(),
    }
