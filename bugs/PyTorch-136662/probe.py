"""For each part of the model, the length of its compiled gradient over that of its gradient without the compiler.

Both are of the first batch of the data, and of the parameters after the epoch.
"""

import torch


def start():
    pass


def look(names):
    batch = [column[: names["config"]["batch_size"]] for column in names["loads"]]
    compiled = names["gradient"](names["parameters"], *batch)
    right = torch.func.grad(names["criterion"])(names["parameters"], *batch)
    return {f"{name}_gradient": (compiled[name].norm() / right[name].norm()).item() for name in right}
