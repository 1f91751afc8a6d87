"""Toy bugs: tiny, real, without torch and without network."""

import json
import sys
import textwrap
from pathlib import Path

from runner.bugs.catalog import Catalog, load_bug
from runner.progress.lines import Progress
from runner.session.options import Options
from runner.session.session import Session

OWN_PYTHON = ["--python", sys.executable]

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"

# Reads its parameters, prints and writes one record an epoch; `VALUE` is what the variants differ
# in.
SCRIPT = """\
import json
import sys
from pathlib import Path

path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
config = json.loads(path.read_text())["parameters"]
records = []
for epoch in range(1, config["num_epoch"] + 1):
    record = {"epoch": epoch, "accuracy": VALUE * epoch + config["seed"]}
    print(json.dumps(record), flush=True)
    records.append(record)
Path(config["output"] + ".json").write_text(json.dumps(records))
"""

README = """\
# Toy-1

<https://example.org/toy>

Program: *original*. Nothing
differs.

Harm: *reported*. The report
has it.

Facts: code at fault *re-created*; fix *proposed*; upstream *open*; source read: *whole*.

## What to expect
## What is wrong
## Root cause
## The fix

```diff
DIFF
```

## Impact
## How it could be detected
"""


def toy_config(**changes):
    """The config.json of the toy bug as a dict, with changes at the top level."""
    config = {
        "schema": 1,
        "id": "Toy-1",
        "title": "A toy",
        "source": "https://example.org/toy",
        "labels": {
            "location": "user code", "root_cause": "a factor", "symptom": "low values",
            "cause": "wrong logic", "effect": "poor model", "stage": "data",
        },
        "provenance": {
            "derived_from": [{"link": "https://example.org/toy", "author": "a child", "licence": "MIT"}],
            "realism": "original",
            "differs": "Nothing differs.",
            "read_by": [{"date": "2026-11-01", "readable": ["thread"], "facts": ["the factor"]}],
        },
        "declared": {
            "harm": {"kind": "reported", "choices": "The report has it."},
            "code_at_fault": "re-created", "state_upstream": "open", "source_read": "whole", "split": "development",
        },
        "parameter_origins": {"num_epoch": "ours"},
        "site": {"file": "buggy.py", "line": 9, "api": "print"},
        "environment": "toy",
        "timeout_s": 20,
        "seeds": [0, 1],
        "parameters": {"num_epoch": 3, "seed": 0, "device": "auto", "output": "metrics"},
        "plot": {"x": "epoch", "panels": [{"label": "accuracy", "lines": [{"label": "a", "metric": "accuracy"}]}]},
        "cases": {
            "only": {
                "title": "The one case",
                "trigger": {"iteration": 2, "why": "it is a toy"},
                "records": 3,
                "variants": {"buggy": {"script": "buggy.py"}, "fixed": {"script": "fixed.py", "fix": "proposed"}},
                "expectations": [
                    {"statement": "buggy stays low", "variant": "buggy", "metric": "accuracy",
                     "reduce": "last", "op": "<=", "value": 5},
                    {"statement": "fixed is higher by 3", "harm": True, "variant": "fixed", "metric": "accuracy",
                     "minus": "buggy", "reduce": "last", "op": "==", "value": 3},
                ],
            }
        },
    }  # fmt: skip
    return config | changes


class Toy:
    """A catalogue in a temporary folder, with one toy bug that can be changed and run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.directory = root / "bugs" / "Toy-1"
        self.directory.mkdir(parents=True)
        self.results = root / "results"
        self.write("buggy.py", SCRIPT.replace("VALUE", "1"))
        self.write("fixed.py", SCRIPT.replace("VALUE", "2"))
        self.configure()
        diff = "--- buggy.py\n+++ fixed.py\n" + textwrap.dedent("""\
            @@ -6,7 +6,7 @@
             config = json.loads(path.read_text())["parameters"]
             records = []
             for epoch in range(1, config["num_epoch"] + 1):
            -    record = {"epoch": epoch, "accuracy": 1 * epoch + config["seed"]}
            +    record = {"epoch": epoch, "accuracy": 2 * epoch + config["seed"]}
                 print(json.dumps(record), flush=True)
                 records.append(record)
             Path(config["output"] + ".json").write_text(json.dumps(records))""")
        self.write("README.md", README.replace("DIFF", diff))

    def write(self, name: str, text: str) -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def configure(self, **changes) -> Path:
        return self.write("config.json", json.dumps(toy_config(**changes)))

    @property
    def bug(self):
        return load_bug(self.directory)

    @property
    def catalog(self) -> Catalog:
        return Catalog(self.root)

    def session(self, **options) -> Session:
        options = {"python": Path(sys.executable), "results": self.results} | options
        return Session(self.catalog, Options(**options), Progress(sys.stderr))

    def run(self, *targets: str, **options):
        """The outcome of the one case."""
        session = self.session(**options)
        return session.run(session.catalog.select(targets or ["Toy-1"]))[0]


def of_any_length(toy):
    """The toy bug, without a word about how many records a whole run has."""
    case = toy_config()["cases"]["only"]
    del case["records"]
    toy.configure(cases={"only": case})
    return toy.bug


def alone(toy):
    """The toy bug with expectations that judge each variant by itself: buggy ends at 3,
    fixed at 6.
    """
    case = {
        "title": "The one case",
        "trigger": {"iteration": 2, "why": "it is a toy"},
        "variants": {"buggy": {"script": "buggy.py"}, "fixed": {"script": "fixed.py"}},
        "expectations": [
            {"statement": "3", "variant": "buggy", "metric": "accuracy", "reduce": "last", "op": "==", "value": 3},
            {"statement": "6", "variant": "fixed", "metric": "accuracy", "reduce": "last", "op": "==", "value": 6},
        ],
    }  # fmt: skip
    toy.configure(seeds=[0], cases={"only": case})
    return toy.bug
