"""Over all validation images: the share that was counted, and what the current and the kept weights really reach."""

import copy

import torch


def start():
    pass


@torch.no_grad()
def predict(network, images):
    network.eval()
    device = next(network.parameters()).device
    return torch.cat([network(batch.to(device)).argmax(1).cpu() for batch in images.split(16)])


def mean_iou(found, masks):
    """Mean intersection over union, counted class by class over these images at once."""
    overlaps = []
    for one in range(int(masks.max()) + 1):
        overlaps.append(((found == one) & (masks == one)).sum() / ((found == one) | (masks == one)).sum())
    return torch.stack(overlaps).mean().item()


def look(names):
    images, masks = names["validation"].tensors
    found = predict(names["network"], images)
    kept = copy.deepcopy(names["network"])
    kept.load_state_dict(names["best_weights"])
    true = mean_iou(found, masks)
    return {
        "true_mean_iou": true,
        "error": names["mean"] - true,
        "contrast_mean_iou": mean_iou(found[0::2], masks[0::2]),
        "native_mean_iou": mean_iou(found[1::2], masks[1::2]),
        "kept_mean_iou": mean_iou(predict(kept, images), masks),
        "counted": int(names["matrix"].counts.sum()) / masks.numel(),
    }
