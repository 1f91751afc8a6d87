"""Whether an epoch is one of the last five, in which the schedule has come near its end."""


def start():
    pass


def look(names):
    return {"late": names["epoch"] > 3 * names["config"]["first_cycle"] - 5}
