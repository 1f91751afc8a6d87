"""Numbers of things, in words."""


def counted(number: int, noun: str) -> str:
    """For example `1 case`, `3 cases`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
