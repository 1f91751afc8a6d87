"""Does the loss spike, or rise for long? Two thresholds, on the loss of every iteration.

spike: two losses in a row differ by more than 75. trend: the loss rises more than three times in a row.
"""

import json
from pathlib import Path

from detector_kit import alarm, main

SPIKE = 75.0
TOLERANCE = 3


def check(target, state):
    losses = json.loads(Path(target.losses).read_text())
    alarms, rises = [], 0
    for before, now in zip(losses, losses[1:]):  # noqa: B905
        change = now["loss"] - before["loss"]
        rises = rises + 1 if change > 0 else 0
        if abs(change) > SPIKE:
            alarms.append(alarm("spike", f"the loss changes by {change:.3g}", iteration=now["iteration"]))
        if rises == TOLERANCE + 1:
            alarms.append(alarm("trend", f"the loss rises {rises} times in a row", iteration=now["iteration"]))
    return {"alarms": alarms}


if __name__ == "__main__":
    main(check)
