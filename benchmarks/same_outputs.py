"""Whether a change of the code changes what users get: texts, tables, figures, pages,
byte for byte.

    python benchmarks/same_outputs.py write before --checkout ../old   # outputs of one checkout
    python benchmarks/same_outputs.py write after
    python benchmarks/same_outputs.py compare before after

`write` runs every command below in a checkout, with this interpreter, and keeps what it prints and
what it writes. `compare` lists the files that differ. Differences that are meant stand with their
reason in benchmarks/same_outputs.csv; the exit status is 1 where another one is found, or where a
meant one is gone.
"""

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

MEANT = Path(__file__).with_suffix(".csv")
# How long a command took, as it says itself.
SECONDS = re.compile(r"\d+\.\d s\)")
# Stands in texts for the folder that a command writes to.
FOLDER = "FOLDER"
COMMANDS: dict[str, list[str]] = {
    "list": ["list"],
    "list-json": ["list", "--json"],
    "list-label": ["list", "--label", "compiler"],
    "list-no-bug": ["list", "--label", "no such label"],
    "info": ["info", "PyTorch-115607"],
    "info-json": ["info", "SO-60335387", "--json"],
    "info-unknown": ["info", "SO-60335388"],
    "detectors": ["detectors"],
    "detectors-json": ["detectors", "--json"],
    "environments": ["env", "list"],
    "validate": ["validate"],
    "results": ["results", "--results", FOLDER],
    "figures": ["figures", "--out", FOLDER],
    "scores": ["scores", "--out", FOLDER],
    "scores-json": ["scores", "--json", "--figures", "none", "--out", FOLDER],
    "scores-latex": ["scores", "--format", "latex", "--figures", "none", "--out", FOLDER],
    "scores-common": ["scores", "--common", "--figures", "none", "--out", FOLDER],
    "scores-label": ["scores", "--label", "compiler", "--figures", "none", "--out", FOLDER],
    "scores-submissions": ["scores", "--from", "submissions", "--figures", "none", "--out", FOLDER],
    "scores-isolated": ["scores", "--isolated", "--figures", "none", "--out", FOLDER],
    "invariants": ["watch", "--list"],
    "site": ["site", "--out", FOLDER],
    "export": ["export", "--out", FOLDER],
    "completion": ["completion", "bash"],
    "wrong-command": ["nothing"],
    "wrong-option": ["run", "--jobs", "none"],
}
HELP_TEXT = """
list info checkout new validate run study figures results env versions why detectors evaluate scores
watch site export completion
"""


@dataclass(frozen=True)
class Checkout:
    """A working copy of the project, and the interpreter that has its dependencies."""

    root: Path

    def revision(self) -> str:
        """The commit, which pages and tables quote."""
        command = ["git", "rev-parse", "HEAD"]
        finished = subprocess.run(
            command, cwd=self.root, capture_output=True, text=True, check=True
        )
        return finished.stdout.strip()

    def call(self, arguments: Sequence[str], folder: Path) -> str:
        """What a command prints, with its exit status; it may write to the folder."""
        words = [str(folder) if word == FOLDER else word for word in arguments]
        environment = os.environ | {"COLUMNS": "100", "PYTHONPATH": str(self.root)}
        finished = subprocess.run(
            [sys.executable, "-m", "trainbugs", *words],
            cwd=self.root,
            env=environment,
            capture_output=True,
            text=True,
        )
        output = f"$ trainbugs {' '.join(arguments)}\n{finished.stdout}\n--- standard error\n"
        return f"{output}{finished.stderr}\n--- exit status {finished.returncode}\n"


def write(checkout: Checkout, target: Path) -> None:
    """Run all commands; raises FileExistsError where the target is there."""
    target.mkdir(parents=True)
    names = {f"{command}-help": [command, "--help"] for command in HELP_TEXT.split()}
    commands = COMMANDS | names
    for number, (name, arguments) in enumerate(commands.items(), 1):
        start = time.monotonic()
        folder = target / name
        text = checkout.call(arguments, folder)
        (target / f"{name}.txt").write_text(text.replace(str(folder), FOLDER), encoding="utf-8")
        seconds = time.monotonic() - start
        print(f"[{number}/{len(commands)}] {name}: {seconds:.1f} s", file=sys.stderr)
    revision = checkout.revision()
    words = {revision: "REVISION", revision[:12]: "REVISION", str(checkout.root): "CHECKOUT"}
    _neutralise(target, words)


def _neutralise(folder: Path, words: dict[str, str]) -> None:
    """Replace what differs between two checkouts of one commit, in all text files."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and _is_text(path):
            text = path.read_text(encoding="utf-8")
            for word, neutral in words.items():
                text = text.replace(word, neutral)
            path.write_text(SECONDS.sub("SECONDS)", text), encoding="utf-8")


def _is_text(path: Path) -> bool:
    suffixes = (".txt", ".html", ".json", ".csv", ".md", ".jsonl")
    return path.suffix in suffixes or path.name.startswith(".trainbugs")


def differences(before: Path, after: Path) -> list[str]:
    """Files, relative to the folders, that only one of them holds or that differ."""
    names = {path.relative_to(root).as_posix() for root in (before, after) for path in _files(root)}
    return sorted(name for name in names if not _is_same(before / name, after / name))


def _files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def _is_same(first: Path, second: Path) -> bool:
    if not (first.is_file() and second.is_file()):
        return False
    return first.read_bytes() == second.read_bytes()


def meant_differences() -> dict[str, str]:
    """Patterns of files that are to differ, with the reason."""
    with MEANT.open(encoding="utf-8", newline="") as file:
        return {row["file"]: row["reason"] for row in csv.DictReader(file)}


def compare(before: Path, after: Path) -> int:
    """Print every difference; 1 where one is not meant, or a meant one is not there."""
    meant = meant_differences()
    unused = set(meant)
    status = 0
    for name in differences(before, after):
        patterns = [pattern for pattern in meant if fnmatchcase(name, pattern)]
        unused.difference_update(patterns)
        reason = meant[patterns[0]] if patterns else "NOT MEANT"
        status = status if patterns else 1
        print(f"{name}: {reason}")
    for pattern in sorted(unused):
        print(f"{pattern}: meant to differ ({meant[pattern]}), and nothing does")
        status = 1
    return status


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    writing = verbs.add_parser("write")
    writing.add_argument("target", type=Path)
    writing.add_argument("--checkout", type=Path, default=Path(__file__).parents[1])
    comparing = verbs.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    options = parser.parse_args(arguments)
    if options.verb == "compare":
        return compare(options.before, options.after)
    shutil.rmtree(options.target, ignore_errors=True)
    write(Checkout(options.checkout.resolve()), options.target.resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
