"""A reviewer that looks for words: the row that a language model has to beat.

    trainbugs review export --out tasks
    python benchmarks/keyword_reviewer.py tasks/tasks.jsonl answers.jsonl
    trainbugs review import answers.jsonl --key tasks/key.json

It runs nothing and knows no bug. Its rules are what a person would grep for; they and their weights
were written down, and committed, before the first answer was scored.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MODEL = "keywords"
# What a program without any hit is suspected of, and the most that hits add up to.
LEAST, MOST = 10, 95


class Hint(NamedTuple):
    """A pattern of a line, and how much suspicion it adds, once; only with `beside` anywhere in the
    program, and only without `without` anywhere.
    """

    pattern: str
    weight: int
    why: str
    beside: str = ""
    without: str = ""


HINTS = (
    Hint(r"softmax\(|sigmoid\(", 25, "applied twice?", r"cross_entropy|CrossEntropy|with_logits"),
    Hint(r"\.step\(", 25, "gradients are never cleared", r"backward\(", r"zero_grad"),
    Hint(r"\.eval\(\)", 15, "evaluation mode is never left", r"backward\(", r"\.train\("),
    Hint(r"\.detach\(\)|\.item\(\)", 5, "cut out of the graph?"),
    Hint(r"clip_grad", 15, "clipped while scaled?", r"GradScaler", r"unscale_"),
    Hint(r"\.view\(|\.reshape\(", 10, "a view in the place of a transposition?"),
    Hint(r"retain_graph", 10, "a graph is kept"),
    Hint(r"dropout\(", 10, "does it know of evaluation?", r"functional|F\."),
    Hint(r"compile\(|_dynamo", 10, "compiled code may differ"),
    Hint(r"checkpoint\(", 10, "checkpointing may change gradients"),
    Hint(r"lr_scheduler|Scheduler", 10, "the order of steps?"),
    Hint(r"requires_grad", 5, "what is frozen?"),
    Hint(r"num_workers", 10, "workers with the same random numbers?"),
    Hint(r"load_state_dict", 10, "is all of it loaded?"),
)


def review(task: dict[str, object], text: str) -> dict[str, object]:
    """The answer to a task."""
    found = list(hits(text))
    suspicion = min(MOST, LEAST + sum(hint.weight for hint, _ in found))
    likeliest = sorted(found, key=lambda pair: -pair[0].weight)
    suspects = [{"line": line, "why": hint.why} for hint, line in likeliest[:5]]
    return {"id": task["id"], "model": MODEL, "suspicion": suspicion, "suspects": suspects}


def hits(text: str) -> Iterator[tuple[Hint, int]]:
    """The hints that a program gives, each with its first line."""
    for hint in HINTS:
        match = re.search(hint.pattern, text)
        is_beside = not hint.beside or re.search(hint.beside, text)
        is_without = not hint.without or not re.search(hint.without, text)
        if match and is_beside and is_without:
            yield hint, text.count("\n", 0, match.start()) + 1


def main() -> None:
    tasks, answers = map(Path, sys.argv[1:3])
    lines = [json.loads(line) for line in tasks.read_text(encoding="utf-8").splitlines()]
    reviews = [review(task, task["files"]["program.py"]) for task in lines]
    answers.write_text("".join(f"{json.dumps(item)}\n" for item in reviews), encoding="utf-8")


if __name__ == "__main__":
    main()
