"""A study of the toy bug: three factors by two kinds, three rates;
what the programs do is known by heart.
"""

import json

# The accuracy of a training: what the fixed program reaches, and what the other one does to it.
PROGRAM = """\
import json
import sys
from pathlib import Path

path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("grid.json")
config = json.loads(path.read_text())["parameters"]
records = []
for number in range(3):
    rate = config["lowest"] * 10**number
    accuracy = {0: 0.5, 1: 0.9, 2: 0.7}[number] + 0.01 * config["seed"]
    records.append({"rate": rate, "accuracy": accuracy CHANGE, "loss": 1.0, "fine": True})
    print(json.dumps(records[-1]), flush=True)
Path(config["output"] + ".json").write_text(json.dumps(records))
"""
LESS = '- 0.1 * config["factor"]'


def study_file(**changes):
    """The text of studies/grid.json, with changes at the top level."""
    study = {
        "schema": 1,
        "title": "a toy by factor and kind",
        "question": "Does the factor matter?",
        "variants": {"buggy": {"script": "grid_buggy.py"}, "fixed": {"script": "grid_fixed.py"}},
        "parameters": {
            "factor": 0,
            "kind": "a",
            "lowest": 0.001,
            "seed": 0,
            "device": "auto",
            "output": "metrics",
        },
        "grid": [
            {"values": {"factor": [0, 1], "kind": ["a", "b"]}},
            {"values": {"factor": [2], "kind": ["a"]}},
        ],
        "seeds": [0, 1],
        "timeout_s": 20,
        "records": 3,
        "setting": "rate",
        "comparison": {
            "metric": "accuracy",
            "better": "higher",
            "tolerance": 0.05,
            "unstable": 0.2,
        },
        "shown": {"rows": "factor", "panels": ["kind"]},
    }
    return json.dumps(study | changes)


def write_study(toy, name="grid", change=LESS, **changes):
    """Write the study and its programs."""
    toy.write(f"studies/{name}.json", study_file(**changes))
    toy.write("studies/grid_fixed.py", PROGRAM.replace("CHANGE", ""))
    toy.write("studies/grid_buggy.py", PROGRAM.replace("CHANGE", change))
