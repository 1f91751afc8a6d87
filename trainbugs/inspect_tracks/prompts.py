"""What a model is asked, and what is read from its answer."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.errors import UsageError
from runner.files import untrusted

NEEDED = {"id", "question", "files", "parameters", "python", "packages"}
MAX_TASKS_BYTES = 200_000_000
# By it the provider that replays answers knows the task.
TASK = re.compile(r"^Task ([0-9a-f]{16})\.$", re.MULTILINE)
BLOCK = re.compile(r"```(?:json|python|py)?\s*\n(.*?)```", re.DOTALL)


def read_tasks(path: Path) -> list[dict[str, Any]]:
    """The tasks of an export; raises UsageError for another file, as for its key."""
    try:
        lines = untrusted.read_bytes(path, MAX_TASKS_BYTES).splitlines()
        tasks = [untrusted.parse_json(line) for line in lines]
        are_tasks = all(isinstance(item, dict) and item.keys() >= NEEDED for item in tasks)
    except untrusted.UnsafeError:
        are_tasks = False
    if not are_tasks:
        raise UsageError(
            f"{untrusted.shown(path)} holds no tasks, expected tasks.jsonl of an export; its key "
            "is for no model"
        )
    return tasks


def review_prompt(task: Mapping[str, Any]) -> str:
    """The text of a review task."""
    form = (
        "Answer with one JSON object in a block of ```json, and nothing else: "
        '{"suspicion": 0 to 100, "suspects": [{"line": N, "api": "…", "why": "…"}]}'
    )
    return "\n\n".join([*_head(task), *_files(task), form])


def repair_prompt(task: Mapping[str, Any]) -> str:
    """The text of a repair task."""
    printed = "\n".join(json.dumps(line) for line in task.get("printed", ()))
    form = "Answer with the whole new program.py in one block of ```python."
    facts = [
        f"What is wrong, in a word of our taxonomy: {task.get('effect')}.",
        f"First and last lines that it printed:\n{printed}",
        f"keep: {', '.join(task.get('keep', ())) or 'nothing'}",
    ]
    return "\n\n".join([*_head(task), *_files(task), *facts, form])


def review_answer(text: str) -> dict[str, Any] | None:
    """The JSON object of an answer; None where there is none."""
    for candidate in [*BLOCK.findall(text)[::-1], text]:
        try:
            # Half a character, which a model may write, is refused there.
            value = untrusted.parse_json(candidate.encode(errors="surrogatepass"))
        except untrusted.UnsafeError:
            continue
        if isinstance(value, dict):
            return value
    return None


def repair_answer(text: str) -> str | None:
    """The program of an answer: its longest block; None where there is none."""
    return max(BLOCK.findall(text), key=len, default=None)


def _head(task: Mapping[str, Any]) -> list[str]:
    versions = ", ".join(f"{name} {version}" for name, version in task["packages"].items())
    return [
        f"Task {task['id']}.",
        task["question"],
        f"Python {task['python']}; {versions}. config.json has: {json.dumps(task['parameters'])}",
    ]


def _files(task: Mapping[str, Any]) -> list[str]:
    return [f"{name}:\n```python\n{_numbered(text)}\n```" for name, text in task["files"].items()]


def _numbered(text: str) -> str:
    lines = enumerate(text.splitlines(), 1)
    return "\n".join(f"{number:4} {line}" for number, line in lines)
