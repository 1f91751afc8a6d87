"""The order in which fixes of libraries are looked at for new bugs, so that the choice of bugs can
be judged.

    python benchmarks/walk.py draw LIBRARIES.txt CLONES --seed 0 --since 2023-01-01 --most 40 \
        --out walk.csv
    python benchmarks/walk.py next walk.csv        # the first ones without a decision
    python benchmarks/walk.py check walk.csv       # no decision is without a reason, none skipped

LIBRARIES.txt names a repository a line, OWNER/NAME; CLONES holds their clones, as OWNER+NAME. A fix
is a commit whose first line says fix or bug, that changes Python files other than tests, docs and
examples, and no more than MOST_LINES lines of these. All fixes of all libraries are shuffled
together, so that a library with many commits is met more often; `--most` bounds how much more. A decision is `taken` with the
name of the bug, or `dropped` with the reason; it is made in this order and none is skipped.
"""

import argparse
import csv
import random
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

FIELDS = ("number", "library", "commit", "date", "title", "decision", "reason")
DECISIONS = ("taken", "dropped")
FIX = re.compile(r"\b(fix(es|ed)?|bug|bugfix)\b", re.IGNORECASE)
# What no user runs.
NO_SOURCE = re.compile(
    r"(^|/)(tests?|testing|docs?|examples?|benchmarks?|scripts|\.github)/|setup\.py$"
)
MOST_LINES = 60
SHOWN = 10


class WalkError(Exception):
    """A walk that cannot be drawn, or is not whole; the text says which line, and what to do."""


def fixes(library: str, clone: Path, since: str) -> Iterator[dict[str, str]]:
    """The fixes of a library, as rows without a number; raises WalkError for what is no clone."""
    git = ["git", "-C", str(clone)]
    log = [*git, "log", "--no-merges", f"--since={since}", "--format=%H%x09%cs%x09%s"]
    done = subprocess.run(log, capture_output=True, text=True, check=False)
    if done.returncode:
        raise WalkError(f"{clone}: no clone of {library}: {done.stderr.strip()[:200]}")
    for entry in done.stdout.splitlines():
        commit, date, title = entry.split("\t", 2)
        if not FIX.search(title):
            continue
        # A clone may lack the large files of some commits: these cannot be told.
        show = [*git, "show", "--numstat", "--format=", commit]
        changes = subprocess.run(show, capture_output=True, text=True, check=False)
        lines = sum(source_lines(changes.stdout.splitlines()))
        if changes.returncode == 0 and 0 < lines <= MOST_LINES:
            yield {"library": library, "commit": commit, "date": date, "title": title}


def source_lines(changes: Iterable[str]) -> Iterator[int]:
    """The changed lines of each Python file that users run, from lines of `git log --numstat`."""
    for change in changes:
        parts = change.split("\t")
        is_text = len(parts) == 3 and parts[0].isdigit()
        if is_text and parts[2].endswith(".py") and not NO_SOURCE.search(parts[2]):
            yield int(parts[0]) + int(parts[1])


def draw(
    libraries: Sequence[str], clones: Path, seed: int, since: str, most: int | None = None
) -> list[dict[str, str]]:
    """The rows of a walk, in its order; no more than `most` of each library, drawn by the seed."""
    rows: list[dict[str, str]] = []
    for library in sorted(set(libraries)):
        clone = clones / library.replace("/", "+")
        repository = clone / "repo" if (clone / "repo").is_dir() else clone
        found = sorted(fixes(library, repository, since), key=lambda row: row["commit"])
        if most is not None and len(found) > most:
            found = random.Random(f"{seed} {library}").sample(found, most)  # noqa: S311
        rows += found
    rows.sort(key=lambda row: (row["library"], row["commit"]))
    random.Random(seed).shuffle(rows)  # noqa: S311
    empty = {"decision": "", "reason": ""}
    return [{"number": str(number), **row, **empty} for number, row in enumerate(rows, 1)]


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: Iterable[dict[str, str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)


def check(rows: Sequence[dict[str, str]]) -> int:
    """How many decisions there are; raises WalkError for one without a reason or out of order."""
    decided = 0
    for row in rows:
        if not row["decision"]:
            continue
        if row["decision"] not in DECISIONS:
            raise WalkError(
                f"number {row['number']}: decision is {row['decision']!r}, expected one of {', '.join(DECISIONS)}"
            )
        if not row["reason"]:
            raise WalkError(f"number {row['number']} is {row['decision']} without a reason")
        decided += 1
        if int(row["number"]) != decided:
            raise WalkError(f"number {row['number']} is decided, and number {decided} is not")
    return decided


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Order fixes of libraries by a seed.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    drawing = verbs.add_parser("draw")
    drawing.add_argument("libraries", type=Path)
    drawing.add_argument("clones", type=Path)
    drawing.add_argument("--seed", type=int, required=True)
    drawing.add_argument("--since", required=True)
    drawing.add_argument("--most", type=int, help="fixes of a library at most, drawn by the seed")
    drawing.add_argument("--out", type=Path, required=True)
    for verb in ("next", "check"):
        verbs.add_parser(verb).add_argument("walk", type=Path)
    options = parser.parse_args(arguments)
    try:
        return _do(options)
    except (WalkError, OSError) as error:
        print(f"walk: {error}", file=sys.stderr)
        return 2


def _do(options: argparse.Namespace) -> int:
    if options.verb == "draw":
        if options.out.exists():
            raise WalkError(f"{options.out} is there: a walk is drawn once")
        lines = options.libraries.read_text(encoding="utf-8").splitlines()
        libraries = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
        rows = draw(libraries, options.clones, options.seed, options.since, options.most)
        write(options.out, rows)
        print(f"{options.out}: {len(rows)} fixes of {len(set(libraries))} libraries")
        return 0
    rows = read(options.walk)
    decided = check(rows)
    taken = sum(row["decision"] == "taken" for row in rows)
    print(f"{decided} of {len(rows)} are decided, {taken} taken")
    if options.verb == "next":
        for row in rows[decided : decided + SHOWN]:
            print(row["number"], row["library"], row["commit"][:12], row["date"], row["title"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
