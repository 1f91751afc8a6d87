"""The error for the photographs of each camera, and the largest value that the network gets from each."""


def start():
    pass


def look(names):
    pairs, size, device = names["test_pairs"], (names["side"], names["side"]), names["device"]
    more = {}
    for camera, chosen in {
        "small": [pair for pair in pairs if pair[0].shape[:2] == size],
        "large": [pair for pair in pairs if pair[0].shape[:2] != size],
    }.items():
        more[f"error_{camera}"] = names["test"](names["model"], chosen, size, device)
        more[f"largest_{camera}"] = max(names["load"](image, size, device).max().item() for image, _ in chosen)
    return more
