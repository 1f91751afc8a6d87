"""Whether the input and the output of the model are one table, and how far the output's has come from it."""


def start():
    pass


def look(names):
    model = names["model"]
    table, head = model.embedding.weight.detach(), model.head.weight.detach()
    return {
        "one_table": int(model.embedding.weight is model.head.weight),
        "distance": ((head - table).norm() / table.norm()).item(),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
    }
