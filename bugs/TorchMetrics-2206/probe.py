"""The F1 score and the recall of all validation images, and those of the kept model on the test set."""

import torch


def start():
    pass


@torch.no_grad()
def scores(model, dataset, device):
    """F1 score and recall at a threshold of 0.5, counted over all images at once."""
    images, labels = (tensor.to(device) for tensor in dataset.tensors)
    model.eval()
    found, wanted = model(images).squeeze(1) > 0, labels == 1
    hits = int((found & wanted).sum())
    return 2 * hits / int(found.sum() + wanted.sum()), hits / int(wanted.sum())


def look(names):
    model, device = names["model"], names["device"]
    weights = {name: value.clone() for name, value in model.state_dict().items()}
    f1, recall = scores(model, names["validation"], device)
    model.load_state_dict(names["best_weights"])
    kept_f1, _ = scores(model, names["validation"], device)
    kept_test_f1, _ = scores(model, names["test"], device)
    model.load_state_dict(weights)
    return {
        "true_f1": f1,
        "true_recall": recall,
        "f1_error": abs(names["scores"]["f1"] - f1),
        "recall_error": abs(names["scores"]["recall"] - recall),
        "kept_f1": kept_f1,
        "kept_test_f1": kept_test_f1,
    }
