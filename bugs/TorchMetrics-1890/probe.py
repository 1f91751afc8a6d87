"""How many metrics of the collection are updated for themselves."""


def start():
    pass


def look(names):
    groups = names["tracked"].compute_groups
    return {"groups": len(groups) or len(names["tracked"])}
