"""What does `trainbugs watch` find in programs that were written after public reports?

    python benchmarks/reports.py FOLDER table.csv [--seed N]

FOLDER has a folder for each report, with `buggy.py` and `fixed.py`, and may have `small`, with
programs of a few lines that were wrong. Each runs in torch 2.8.0, with the seed as its argument.
None of them is a part of this project. They are development data: invariants were written with
these programs in view, so that the table says what is found of them, and nothing of what would be
found of others.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from runner.environments import builder, spec
from runner.progress.lines import on_stderr

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT, TIMEOUT_S = "torch-2.8.0", 600
FIELDS = ("report", "program", "torch", "status", "steps", "errors", "advice")


def list_programs(folder):
    """The programs of a folder: report, name, path."""
    paths = sorted(folder.glob("*/*.py"))
    return [(path.parent.name, path.stem, path) for path in paths]


def watch(path, seed, python):
    """What the sanitizer says of a program, as a row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        options = ["--info", "--json", report, "--python", python]
        command = [sys.executable, "-m", "trainbugs", "watch", *options, path.resolve(), str(seed)]
        subprocess.run(command, cwd=folder, timeout=TIMEOUT_S, capture_output=True)
        found = json.loads(report.read_text())
    return {
        "torch": found["torch"].partition("+")[0],
        "status": found["status"],
        "steps": found["report"]["steps"],
        "errors": list_names(found["findings"], "error"),
        "advice": list_names(found["findings"], "info"),
    }


def list_names(findings, severity):
    names = {finding["invariant"] for finding in findings if finding["severity"] == severity}
    return " ".join(sorted(names))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    python = builder.build(spec.load(ROOT, ENVIRONMENT), on_stderr()).python
    rows = []
    for report, name, path in list_programs(options.folder):
        rows.append({"report": report, "program": name} | watch(path, options.seed, python))
        print(*rows[-1].values(), sep="\t", flush=True)
    with options.table.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
