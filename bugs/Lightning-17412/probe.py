"""How many batches a validation has."""


def start():
    pass


def look(names):
    return {"validation_batches": sum(names["trainer"].num_val_batches)}
