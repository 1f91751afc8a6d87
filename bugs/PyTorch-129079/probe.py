"""The learning rate with which the optimizer has made the steps of the epoch."""


def start():
    pass


def look(names):
    return {"learning_rate": names["optimizer"].param_groups[0]["lr"]}
