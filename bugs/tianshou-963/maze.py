"""A walk on a square field, from any cell to the far corner, past holes."""

import numpy as np

SIZE = 6
MOVES = np.array([(-1, 0), (0, -1), (1, 0), (0, 1)])
GOAL = (SIZE - 1, SIZE - 1)
HOLES = [(1, 3), (2, 1), (3, 4), (4, 2)]
STEPS = 30


def observe(cells):
    """The cells (count, 2) as one-hot vectors."""
    return np.eye(SIZE * SIZE, dtype=np.float32)[cells[:, 0] * SIZE + cells[:, 1]]


def starts():
    """All cells in which a walk may begin."""
    cells = [(row, column) for row in range(SIZE) for column in range(SIZE)]
    return np.array([cell for cell in cells if cell != GOAL and cell not in HOLES])


def move(cells, actions):
    """The next cells, the rewards, and which walks have ended."""
    cells = np.clip(cells + MOVES[actions], 0, SIZE - 1)
    arrived = (cells == GOAL).all(1)
    fallen = np.any([(cells == hole).all(1) for hole in HOLES], axis=0)
    rewards = np.where(arrived, 1.0, np.where(fallen, -1.0, -0.02))
    return cells, rewards, arrived | fallen


def careless(cells, skill, generator):
    """Steps towards the goal that do not look at holes; some of them go anywhere."""
    towards = np.where(generator.random(len(cells)) < 0.5, 2, 3)
    towards = np.where(cells[:, 0] == SIZE - 1, 3, np.where(cells[:, 1] == SIZE - 1, 2, towards))
    anywhere = generator.integers(4, size=len(cells))
    return np.where(generator.random(len(cells)) < skill, towards, anywhere)
