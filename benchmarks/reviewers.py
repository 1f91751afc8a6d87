"""Scores of the reviewers that need no model, on the catalogue of today: the rows to beat.

    python benchmarks/reviewers.py [--tool PATH]

They review the programs as they are published, and perturbed by seed 1. The sanitizer's answers are
the committed ones of version 3, about published programs alone. It writes benchmarks/reviews.json,
in the form of `trainbugs review import --out`. `--tool` is the program torch-preflight (`pip
install torch-preflight==0.5.0`).
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import keyword_reviewer
import msgspec
import tool_reviewers

from evaluation.catalog import controls
from evaluation.exporting import TASKS
from evaluation.records import rewritten_as
from evaluation.review.answers import collect_answers
from evaluation.review.scoring import ROW, ReviewScore, score_reviews
from evaluation.review.tasks import ReviewKey, collect_programs, write_tasks
from runner.bugs.catalog import Catalog
from runner.bugs.catalogue_version import CATALOGUE_VERSION
from runner.errors import TrainbugsError
from runner.files.atomic import write_text

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path(__file__).with_name("reviews.json")
SANITIZER = "sanitizer-3"
PERTURBED_BY = 1

Tasks = list[dict[str, Any]]


def review_programs(catalog: Catalog, tool: str) -> list[ReviewScore]:
    """The scores of all reviewers, on published and on perturbed programs."""
    scores: list[ReviewScore] = []
    for seed in (None, PERTURBED_BY):
        tasks, key = _export(catalog, seed)
        options = argparse.Namespace(
            tool=tool, detector=SANITIZER, committed=True, results=None, watch=False
        )
        answers = [*_by_keywords(tasks), *tool_reviewers.by_preflight(tasks, options)]
        # The committed answers are about the published texts.
        if seed is None:
            answers += tool_reviewers.by_sanitizer(tasks, options)
        scores += _score(key, answers)
    return sorted(scores, key=lambda score: (score.model, score.rewriting != "public"))


def _export(catalog: Catalog, seed: int | None) -> tuple[Tasks, ReviewKey]:
    programs, left_out = collect_programs(catalog, controls.load(catalog.root), seed)
    for line in left_out:
        print(line, file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        key = write_tasks(Path(folder), programs, rewritten_as(seed, None))
        lines = Path(folder, TASKS).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines], key


def _by_keywords(tasks: Tasks) -> list[dict[str, Any]]:
    return [keyword_reviewer.review(task, task["files"]["program.py"]) for task in tasks]


def _score(key: ReviewKey, answers: Iterable[Mapping[str, Any]]) -> list[ReviewScore]:
    numbered = ((f"answer {number}", answer) for number, answer in enumerate(answers, 1))
    read = collect_answers(numbered, key.tasks)
    if read.problems:
        raise TrainbugsError("\n".join(read.problems))
    return score_reviews(key, read.answers)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tool", default="torch-preflight", help="default: that of PATH")
    options = parser.parse_args()
    try:
        scores = review_programs(Catalog(ROOT), options.tool)
    except TrainbugsError as error:
        print(error, file=sys.stderr)
        return 2
    document = {
        "schema": 1,
        "catalogue": CATALOGUE_VERSION,
        "scores": msgspec.to_builtins(scores),
    }
    write_text(TABLE, json.dumps(document, indent=1) + "\n")
    for score in scores:
        print("  ".join(f"{name} {cell(score)}" for name, cell in ROW.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
