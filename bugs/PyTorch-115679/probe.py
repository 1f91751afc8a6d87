"""The step counter in the state of the optimizer, of all parameters the furthest."""


def start():
    pass


def look(names):
    return {"step": max(int(state["step"]) for state in names["optimizer"].state.values())}
