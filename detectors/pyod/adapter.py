"""Are there more outliers among a program's losses than among those of clean runs?

Both models are fitted to the losses of the references. An alarm is raised where more than a fifth of the losses are
outliers, twice the share that the models take for normal, at the iteration at which their number exceeds that; others,
with the share in percent in their codes, where more than 30 or 50 % are.
"""

import json
from pathlib import Path

import numpy
from detector_kit import UnsupportedError, alarm, main
from pyod.models.iforest import IForest
from pyod.models.lof import LOF

CONTAMINATION = 0.1
# What is added to the code of an alarm, and the share of outliers beyond which it is raised.
SHARES = {"": 2 * CONTAMINATION, "-30": 0.3, "-50": 0.5}
FEWEST = 10


def read(path):
    return [entry for entry in json.loads(Path(path).read_text()) if numpy.isfinite(entry["loss"])]


def prepare(references, state):
    losses = [entry["loss"] for reference in references for entry in read(reference.losses)]
    (state / "losses.json").write_text(json.dumps(losses))


def first_beyond(outliers, share):
    """The index of the outlier that is one too many, or None."""
    beyond = numpy.flatnonzero(numpy.cumsum(outliers) > share * len(outliers))
    return int(beyond[0]) if len(beyond) else None


def check(target, state):
    known, losses = json.loads((state / "losses.json").read_text()), read(target.losses)
    if min(len(known), len(losses)) < FEWEST:
        raise UnsupportedError(f"fewer than {FEWEST} losses")
    models = {
        "iforest": IForest(contamination=CONTAMINATION, random_state=0),
        "lof": LOF(n_neighbors=2, contamination=CONTAMINATION),
    }
    alarms = []
    for code, model in models.items():
        outliers = model.fit(numpy.array(known)[:, None]).predict(numpy.array([e["loss"] for e in losses])[:, None])
        message = f"{outliers.sum()} of {len(outliers)} losses are outliers"
        for suffix, share in SHARES.items():
            index = first_beyond(outliers, share)
            if index is not None:
                alarms.append(alarm(code + suffix, message, iteration=losses[index]["iteration"]))
    return {"alarms": alarms}


if __name__ == "__main__":
    main(check, prepare)
