"""How far the momentum that the optimizer keeps is from the last gradient, as a share of the latter."""


def start():
    pass


def look(names):
    optimizer = names["optimizer"]
    apart = size = 0.0
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            buffer = optimizer.state[parameter]["momentum_buffer"]
            apart += (buffer - parameter.grad).square().sum().item()
            size += parameter.grad.square().sum().item()
    return {"momentum_beyond_gradient": (apart / size) ** 0.5}
