"""The adapter of every detector that is only a monitor: runs the program in the launcher.

python monitor_adapter.py MONITOR.py check --target target.json --state DIR --out verdict.json
"""

import sys

from detector_kit import launch, main

MONITOR = sys.argv.pop(1)


def check(target, state):
    return launch(target, MONITOR)


if __name__ == "__main__":
    main(check)
