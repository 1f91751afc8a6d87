"""The gradient norms of the three layers, as the step has used them."""


def start():
    pass


def look(names):
    model = names["model"]
    layers = {"encoder": model.encoder[0], "wide": model.wide[0], "head": model.head}
    return {f"gradient_{name}": layer.weight.grad.norm().item() for name, layer in layers.items()}
