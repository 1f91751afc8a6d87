"""Is the program one of the faulty ones that are published, letter by letter?"""

import hashlib
from pathlib import Path

from detector_kit import alarm, main


def check(target, state):
    known = {line.split()[0] for line in Path(__file__).with_name("known.txt").read_text().splitlines()}
    text = Path(target.directory, target.script).read_bytes()
    return {"alarms": [alarm("known", "a published program")] if hashlib.sha256(text).hexdigest() in known else []}


if __name__ == "__main__":
    main(check)
