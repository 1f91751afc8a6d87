"""Numbers of things, in words."""


def counted(number: int, thing: str) -> str:
    """For example `1 case`, `3 cases`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
