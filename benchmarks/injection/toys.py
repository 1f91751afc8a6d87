"""Toy bugs, toy detectors and a toy environment: what they are made to be is known beforehand."""

import base64
import hashlib
import json
import sys
import zipfile
from pathlib import Path

EPOCHS = 4
# What each bug is made to be, and by which factor its two variants multiply.
TRUTH = {"Toy-1": "REPRODUCED", "Toy-2": "NOT REPRODUCED"}
FACTORS = {"Toy-1": {"buggy": 1, "fixed": 2}, "Toy-2": {"buggy": 2, "fixed": 2}}
STATUS = {"REPRODUCED": 0, "NOT REPRODUCED": 1, "INVALID": 2}

SCRIPT = """\
import json, os, sys, time
parameters = json.load(open(sys.argv[1]))["parameters"]
records = []
BEGIN
for epoch in range(1, parameters["num_epoch"] + 1):
    record = {"epoch": epoch, "value": FACTOR * epoch + parameters["seed"]}
    print(json.dumps(record), flush=True)
    records.append(record)
    time.sleep(PAUSE)
    while os.path.exists("HOLD"):
        time.sleep(0.02)
END
"""
WRITE = 'open("metrics.json", "w").write(json.dumps(records))'
# Two children: one in the script's session, and one that leaves it.
CHILDREN = """\
for leave in (False, True):
    if os.fork() == 0:
        if leave:
            os.setsid()
        os.execv("/bin/sleep", ["sleep", "60"])"""


def metrics(bug, variant, seed):
    """The records that a run of a toy has."""
    factor = FACTORS[bug][variant]
    return [{"epoch": epoch, "value": factor * epoch + seed} for epoch in range(1, EPOCHS + 1)]


def script(factor, pause=0.0, begin="", end=WRITE, hold="none"):
    """The text of a toy's script; it goes on for ever while there is a file `hold`."""
    text = (
        SCRIPT.replace("BEGIN", begin)
        .replace("FACTOR", str(factor))
        .replace("PAUSE", f"{pause:.3f}")
    )
    return text.replace("END", end).replace("HOLD", str(hold))


def write_bugs(folder, seeds, environment="toy", **changes):
    """The directories of all toy bugs, below `folder`; `changes` are of their scripts."""
    for bug, factors in FACTORS.items():
        directory = folder / bug
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "config.json").write_text(json.dumps(_config(bug, seeds, environment)))
        for variant, factor in factors.items():
            (directory / f"{variant}.py").write_text(script(factor, **changes))
    return [folder / bug for bug in FACTORS]


def _config(bug, seeds, environment):
    lines = [{"label": "value", "metric": "value"}]
    # It holds for runs that are cut or doubled, too: only that they are not whole tells them.
    higher = {
        "statement": "fixed is higher",
        "variant": "fixed",
        "metric": "value",
        "minus": "buggy",
    }
    return {
        "schema": 1, "id": bug, "title": "a toy", "source": "https://example.org", "environment": environment,
        "labels": {"location": "user code", "root_cause": "a factor", "symptom": "low values"},
        "site": {"file": "buggy.py", "api": "print"}, "timeout_s": 30, "seeds": list(range(seeds)),
        "parameters": {"num_epoch": EPOCHS, "seed": 0, "device": "auto", "output": "metrics"},
        "plot": {"x": "epoch", "panels": [{"label": "value", "lines": lines}]},
        "cases": {"only": {
            "title": "the case", "trigger": {"iteration": 1, "why": "it is a toy"}, "records": EPOCHS,
            "variants": {name: {"script": f"{name}.py"} for name in ("buggy", "fixed")},
            "expectations": [higher | {"reduce": "last", "op": ">=", "value": 1}],
        }},
    }  # fmt: skip


DETECTOR = """\
import json, os, sys, time
from pathlib import Path
from detector_kit import alarm, main
"""
# Says of a program whether its values are low.
HONEST = """\
def check(target, state):
    text = (Path(target.directory) / target.script).read_text()
    return {"alarms": [alarm("low", "low values")] if "1 * epoch" in text else []}

main(check)
"""


def write_detector(directory, text):
    """A detector named like its new directory."""
    directory.mkdir(parents=True)
    described = {
        "schema": 1, "name": directory.name, "version": "1", "title": "a toy", "source": "here", "needs": ["source"],
        "adapter": "adapter.py", "alarm_rules": {"default": {}}, "timeout_s": 20,
    }  # fmt: skip
    (directory / "detector.json").write_text(json.dumps(described))
    (directory / "adapter.py").write_text(DETECTOR + text)
    return directory


def write_environment(directory, wheels):
    """The folder of the toy environment, and the folder with the one wheel that its lock names."""
    directory.mkdir(parents=True)
    wheels.mkdir(parents=True)
    wheel = _write_wheel(
        wheels, {f"toypackage/{name}.py": f"value = {name!r}\n" for name in ("__init__", "a", "b")}
    )
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (directory / "requirements.in").write_text("toypackage==1.0\n")
    (directory / "requirements.txt").write_text(f"toypackage==1.0 \\\n    --hash=sha256:{digest}\n")
    (directory / ".python-version").write_text(
        f"{sys.version_info.major}.{sys.version_info.minor}\n"
    )
    (directory / "environment.json").write_text('{"disk_gb": 0.01}')


def _write_wheel(folder, files):
    info = "toypackage-1.0.dist-info"
    files = {
        **files,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: toypackage\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    hashes = {path: hashlib.sha256(text.encode()).digest() for path, text in files.items()}
    lines = [
        f"{path},sha256={base64.urlsafe_b64encode(digest).rstrip(b'=').decode()},{len(files[path])}\n"
        for path, digest in hashes.items()
    ]
    path = Path(folder) / "toypackage-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in {
            **files,
            f"{info}/RECORD": "".join(lines) + f"{info}/RECORD,,\n",
        }.items():
            wheel.writestr(name, text)
    return path
