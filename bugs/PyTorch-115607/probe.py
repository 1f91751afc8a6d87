"""How far the compiled training is from the same program without Dynamo, which is run first, record by record.

It runs in a process of its own, as `python probe.py SCRIPT CONFIG` with Dynamo switched off: an optimizer that has been
used is compiled otherwise than a new one.
"""

import os
import pickle
import runpy
import subprocess
import sys

import torch

# Rounding stays below 1e-6 for values around 1; one lost update is at least as large as the learning rate, 1e-3.
TOLERANCE = 1e-5
# What parameters and state of the optimizer are at each record of the program without Dynamo.
eager = []


class Listener:
    """Standard output of the program without Dynamo: nothing of it is printed."""

    def write(self, text):
        if text.startswith("{"):
            frame = sys._getframe(1)
            eager.append(values({**frame.f_globals, **frame.f_locals}["optimizer"]))

    def flush(self):
        pass


def start():
    environment = {**os.environ, "TORCHDYNAMO_DISABLE": "1"}
    done = subprocess.run([sys.executable, __file__, *sys.argv], env=environment, stdout=subprocess.PIPE, check=True)
    eager.extend(pickle.loads(done.stdout))


def look(names):
    expected, found = eager.pop(0), values(names["optimizer"])
    if "iteration" in names:
        return {
            "step": found["step of 0"].item(),
            "eager_step": expected["step of 0"].item(),
            "parameters": distance(expected["parameters"], found["parameters"]),
        }
    return compared(expected, found)


def values(optimizer):
    """Copies of the parameters and of each entry of the optimizer's state; None where there is no optimizer."""
    if optimizer is None:
        return None
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    found = {"parameters": torch.cat([parameter.detach().flatten() for parameter in parameters])}
    for index, parameter in enumerate(parameters):
        for entry, value in optimizer.state.get(parameter, {}).items():
            found[f"{entry} of {index}"] = value.detach().clone() if isinstance(value, torch.Tensor) else value
    return found


def compared(expected, found):
    """What became of one combination: outcome, differences, and which entries of the state differ."""
    if expected is None or found is None:
        outcome = "not offered" if expected is None else "error"
        return {"outcome": outcome, "parameters": None, "state": None, "entries": []}
    far = {name: distance(expected.get(name), found.get(name)) for name in expected.keys() | found.keys()}
    off = {name.split(" of ")[0] for name, value in far.items() if value is None or value > TOLERANCE}
    parameters = far.pop("parameters")
    return {
        "outcome": "parameters differ" if "parameters" in off else "state differs" if off else "same",
        "parameters": parameters,
        "state": max((value for value in far.values() if value is not None), default=0.0),
        "entries": sorted(off - {"parameters"}),
    }


def distance(one, other):
    """The largest difference of two values; None where one of them is absent or they are of different kinds."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)) and len(one) == len(other):
        distances = [distance(a, b) for a, b in zip(one, other, strict=True)]
        return None if None in distances else max(distances, default=0.0)
    if one is None or other is None:
        return 0.0 if one is other else None
    one, other = (torch.as_tensor(value).detach().to("cpu", torch.double) for value in (one, other))
    if one.shape != other.shape or not torch.equal(one.isnan(), other.isnan()):
        return None
    return (one - other).nan_to_num().abs().max().item()


def main():
    printed, sys.stdout = sys.stdout, Listener()
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
    printed.buffer.write(pickle.dumps(eager))
    # Nobody flushes what is standard output no more.
    printed.flush()


if __name__ == "__main__":
    main()
