"""Whether the buffers of the average have changed, and how far its weights are from the network's."""

import torch


def start():
    pass


@torch.no_grad()
def look(names):
    model, average = names["model"], names["average"].ema_model
    means = torch.cat([buffer for name, buffer in average.named_buffers() if name.endswith("running_mean")])
    online = torch.cat([buffer for name, buffer in model.named_buffers() if name.endswith("running_mean")])
    weights = torch.cat([parameter.flatten() for parameter in model.parameters()])
    averaged = torch.cat([parameter.flatten() for parameter in average.parameters()])
    return {
        "means_of_average": means.norm().item(),
        "means_of_network": online.norm().item(),
        "weights_apart": ((averaged - weights).norm() / weights.norm()).item(),
    }
