"""All faults that are planted in a program, as a list."""

from evaluation.planting.operators import FaultyProgram, plant_each


def plant_all(text: str, seed: int, published: str | None = None) -> list[FaultyProgram]:
    """All that `plant_each` gives."""
    return list(plant_each(text, seed, published))
