"""What does `trainbugs watch` find in the pairs of programs after sampled reports?

    python benchmarks/sampled/watch.py answers.csv [--half development|test] [--checkout DIR]

Each program of `pairs` runs once in torch 2.2.2 with seed 0, one that ends with an error there in
torch 2.13.0, and its row is added to the table. A row says which version of the sanitizer watched.
What is in the table already is not asked again. `--checkout` takes the sanitizer from an older
checkout of this repository. `counts` of this module gives the numbers of the README.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from runner.environments import builder, spec
from runner.progress.lines import on_stderr

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
ENVIRONMENTS, TIMEOUT_S = ("torch-2.2.2", "torch-2.13.0"), 900
FIELDS = ("version", "pair", "program", "torch", "status", "steps", "errors", "advice")
PROGRAMS = ("buggy", "fixed")
Row = dict[str, str]


def read_table(path: Path) -> list[Row]:
    """The rows of a table; none of one that is not there."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def counts(answers: Iterable[Row], pairs: Iterable[Row], version: str, half: str) -> list[int]:
    """Of the pairs of a half that no bug of the catalogue is made of, and that both ran: how many
    there are, how many buggy programs the version accuses by an error that it does not raise on
    the fixed one, and how many fixed programs it accuses.
    """
    errors = {
        (row["pair"], row["program"]): set(row["errors"].split())
        for row in answers
        if row["version"] == version and row["status"] == "0"
    }
    names = [row["name"] for row in pairs if row["half"] == half and row["known"] == "no"]
    asked = [name for name in names if all((name, program) in errors for program in PROGRAMS)]
    found = [name for name in asked if errors[name, "buggy"] - errors[name, "fixed"]]
    accused = [name for name in asked if errors[name, "fixed"]]
    return [len(asked), len(found), len(accused)]


def version_of(checkout: Path) -> str:
    described = json.loads((checkout / "detectors" / "sanitizer" / "detector.json").read_text())
    return str(described["version"])


def ask(path: Path, checkout: Path) -> Row:
    """What the sanitizer of a checkout says of a program."""
    answer: Row = {}
    for name in ENVIRONMENTS:
        environment = spec.load(ROOT, name)
        built = builder.build(environment, on_stderr())
        answer = watch(path, checkout, built.python)
        if answer["status"] == "0":
            break
    return answer


def watch(path: Path, checkout: Path, python: Path) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        options = ["--info", "--json", str(report), "--python", str(python)]
        command = [sys.executable, "-m", "trainbugs", "watch", *options, str(path), "0"]
        environment = {**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"}
        subprocess.run(
            command,
            cwd=folder,
            env=environment,
            timeout=TIMEOUT_S,
            capture_output=True,
            check=False,
        )
        found = json.loads(report.read_text())
    return {
        "torch": found["torch"].partition("+")[0],
        "status": str(found["status"]),
        "steps": str(found["report"]["steps"]),
        "errors": list_names(found["findings"], "error"),
        "advice": list_names(found["findings"], "info"),
    }


def list_names(findings: Sequence[dict[str, str]], severity: str) -> str:
    names = {finding["invariant"] for finding in findings if finding["severity"] == severity}
    return " ".join(sorted(names))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("--half", choices=("development", "test"))
    parser.add_argument("--checkout", type=Path, default=ROOT)
    options = parser.parse_args()
    version = version_of(options.checkout)
    rows = read_table(options.table)
    asked = {(row["version"], row["pair"], row["program"]) for row in rows}
    for pair in read_table(FOLDER / "pairs.csv"):
        if options.half not in (None, pair["half"]):
            continue
        for program in PROGRAMS:
            if (version, pair["name"], program) in asked:
                continue
            path = FOLDER / "pairs" / pair["name"] / f"{program}.py"
            answer = ask(path, options.checkout.resolve())
            named = {"version": version, "pair": pair["name"], "program": program}
            rows.append({**named, **answer})
            write(options.table, rows)
            print(f"version {version}, {pair['name']}/{program}", file=sys.stderr)
    for half in ("development", "test"):
        numbers = counts(rows, read_table(FOLDER / "pairs.csv"), version, half)
        print(half, *numbers)


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write all rows, so that an interrupted run leaves a whole table."""
    with tempfile.NamedTemporaryFile(
        "w", dir=path.parent, suffix=".csv", delete=False, newline="", encoding="utf-8"
    ) as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    Path(file.name).replace(path)


if __name__ == "__main__":
    main()
