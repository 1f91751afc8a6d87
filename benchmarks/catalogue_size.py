"""What do commands cost as the catalogue grows?

    python benchmarks/catalogue_size.py 100 1000 --commands list validate export site scores

makes a checkout with so many bugs for each number, which are copies of those of the catalogue under
other IDs, with their records. As many times as there are more bugs, the records of detectors are
copied, under other names; `--copies` sets a bound for that. Each command runs once. A line has its
processor seconds and its largest resident memory in MB (10^6 bytes), which work beside it hardly
changes. A command whose seconds a bug exceed three times the ones at the first number is marked: it
grows faster than n log n would.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.bugs.catalog import Catalog

ROOT = Path(__file__).resolve().parents[1]
CODE = ("benchmarks", "submissions", "runner", "evaluation", "plots", "trainbugs", "environments", "docs", "setup.cfg",
        "pyproject.toml", "README.md", "CITATION.cff", "LICENSE", "LICENSES.md", "CHANGELOG.md",
        "CONTRIBUTING.md")  # fmt: skip
COMMANDS = {
    "list": ["list"],
    "validate": ["validate"],
    "export": ["export", "--out", "{out}"],
    "site": ["site", "--out", "{out}"],
    "scores": ["scores", "--figures", "none", "--out", "{out}"],
}
# What `site` ends with where it has no page for a link, as of a retired bug that is not copied.
PROBLEMS = 2
# n log n from 100 to 10,000 doubles the cost of an item; a third of that again is measurement.
FASTER = 3.0


@dataclass(frozen=True)
class Cost:
    """Processor seconds of a command, and its largest resident memory in MB."""

    seconds: float
    memory_mb: float


def make_checkout(root: Path, count: int, most_copies: int) -> None:
    """A checkout with `count` bugs, and with records of detectors in proportion, but not more than
    `most_copies` times today's.
    """
    for name in CODE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(
                source, root / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
            )
        elif source.exists():
            shutil.copy(source, root / name)
    bugs = [bug for bug in Catalog(ROOT) if bug.retired is None]
    for number in range(count):
        copy_bug(bugs[number % len(bugs)].directory, root / "bugs", number // len(bugs))
    turns = max(1, round(count / len(bugs)))
    copy_detectors(root / "detectors", min(turns, most_copies))


def copy_bug(directory: Path, bugs: Path, turn: int) -> None:
    """A copy of a bug; of every turn but the first under another ID, also in its records."""
    old = directory.name
    new = old if turn == 0 else f"{old}-copy{turn}"
    target = bugs / new
    shutil.copytree(directory, target, symlinks=True)
    if turn == 0:
        return
    for path in [target / "config.json", *(target / "expected").rglob("*.json")]:
        text = path.read_text()
        text = text.replace(f'"id": "{old}"', f'"id": "{new}"')
        path.write_text(text.replace(f'"bug": "{old}"', f'"bug": "{new}"'))


def copy_detectors(target: Path, turns: int) -> None:
    """The committed records of detectors, so many times."""
    shutil.copytree(ROOT / "detectors", target, symlinks=True)
    for path in sorted((ROOT / "detectors" / "expected").glob("*.jsonl")):
        name = path.name.partition(".")[0]
        for turn in range(1, turns):
            new = f"{name}-copy{turn}"
            text = re.sub(
                rf'("(?:name|detector)"): ?"{re.escape(name)}"', rf'\1:"{new}"', path.read_text()
            )
            (target / "expected" / path.name.replace(name, new, 1)).write_text(text)


def measure(root: Path, words: Sequence[str], out: Path) -> Cost:
    """The cost of one command of that checkout."""
    command = [sys.executable, "-m", "trainbugs", *(word.format(out=out) for word in words)]
    own = os.environ | {"PYTHONPATH": str(root)}
    with tempfile.TemporaryFile() as shown:
        process = subprocess.Popen(command, cwd=root, env=own, stdout=shown, stderr=shown)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1, PROBLEMS):
            shown.seek(0)
            sys.exit(
                f"{' '.join(command)}: status {process.returncode}\n{shown.read().decode()[-2000:]}"
            )
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("counts", type=int, nargs="+", metavar="BUGS")
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--copies", type=int, default=1000, help="of detectors' records, at most")
    parser.add_argument("--json", type=Path, help="also write the numbers there")
    arguments = parser.parse_args()
    rows: list[dict[str, object]] = []
    first: dict[str, float] = {}
    print("| command | bugs | processor seconds | MB | seconds a bug, of the first |")
    print("|---|---|---|---|---|")
    for count in arguments.counts:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "checkout"
            make_checkout(root, count, arguments.copies)
            for name in arguments.commands:
                cost = measure(root, COMMANDS[name], Path(folder) / name)
                growth = cost.seconds / count / first.setdefault(name, cost.seconds / count)
                mark = " (!)" if growth > FASTER else ""
                print(
                    f"| {name} | {count} | {cost.seconds:.1f} | {cost.memory_mb:.0f} | {growth:.2f}{mark} |",
                    flush=True,
                )
                rows.append(
                    {
                        "command": name,
                        "bugs": count,
                        "seconds": round(cost.seconds, 2),
                        "memory_mb": round(cost.memory_mb),
                    }
                )
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
