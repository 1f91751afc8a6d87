"""Does the loss end worse than that of a clean run? `trainproof compare BASELINE RUN`; the first reference is BASELINE.

It judges whole logs: an alarm is raised at the last iteration. A log of a loss that it cannot compare (fewer than ten
losses, or one that begins at zero or below) is `unsupported`.
"""

import json
from pathlib import Path

from detector_kit import UnsupportedError, alarm, main
from trainproof.compare import check_compare

BASELINE = "baseline.jsonl"
UNJUDGED = {"TP-NO-RECORDS", "TP-NO-LOSS", "TP-CMP-UNCOMPARABLE"}


def log(losses, path):
    entries = json.loads(Path(losses).read_text())
    lines = [json.dumps({"step": entry["iteration"], "loss": entry["loss"]}) for entry in entries]
    path.write_text("".join(f"{line}\n" for line in lines))
    return entries


def prepare(references, state):
    log(references[0].losses, state / BASELINE)


def check(target, state):
    entries = log(target.losses, Path("run.jsonl"))
    found = check_compare("run.jsonl", state / BASELINE, fmt="jsonl")["findings"]
    unjudged = [finding for finding in found if finding["id"] in UNJUDGED]
    if unjudged:
        raise UnsupportedError(unjudged[0]["message"])
    failed = [finding for finding in found if finding["level"] == "FAIL"]
    last = entries[-1]["iteration"]
    return {
        "alarms": [
            alarm(each["id"], f"{each['message']}: {each['evidence']}", severity="error", iteration=last)
            for each in failed
        ]
    }


if __name__ == "__main__":
    main(check, prepare)
