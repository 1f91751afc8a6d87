"""Tools as reviewers: what they say of the programs of an export, as a file of answers.

    trainbugs review export --out tasks
    python benchmarks/tool_reviewers.py sanitizer tasks/tasks.jsonl answers.jsonl --results FOLDER
    python benchmarks/tool_reviewers.py torch-preflight tasks/tasks.jsonl answers.jsonl
    trainbugs review import answers.jsonl --key tasks/key.json

`sanitizer` takes what it saw from the records of `trainbugs evaluate sanitizer` in FOLDER (or
`--committed`, `--watch`, as template_repairer.py does); a program that it has not seen gets no
answer. `torch-preflight` reads the text and runs nothing; `pip install torch-preflight`, and
`--tool PATH` where it is not in PATH. Neither reads the key.

What an alarm is worth was written down, and committed, before the first answer was scored.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import sanitizer_answers

# By the severity of the worst finding. What torch-preflight calls a note is about speed.
SUSPICION = {"error": 90, "warning": 60, "note": 10}
WITHOUT_FINDING = 10
MOST_SUSPECTS = 5
MAX_WHY = 1000
PREFLIGHT = "torch-preflight"


class Finding(NamedTuple):
    """What a tool says of a place in a program."""

    severity: str
    line: int | None
    api: str | None
    why: str
    file: str


def answer(name: str, model: str, findings: Iterable[Finding]) -> dict[str, Any]:
    """The answer to a task: the worst findings first, in the tool's order."""
    counted = [item for item in findings if item.severity in SUSPICION]
    worst = sorted(counted, key=lambda item: -SUSPICION[item.severity])
    suspicion = SUSPICION[worst[0].severity] if worst else WITHOUT_FINDING
    suspects = [_suspect(item) for item in worst[:MOST_SUSPECTS]]
    return {"id": name, "model": model, "suspicion": suspicion, "suspects": suspects}


def _suspect(finding: Finding) -> dict[str, Any]:
    suspect = {"line": finding.line, "api": finding.api, "why": finding.why[:MAX_WHY]}
    return {key: value for key, value in suspect.items() if value is not None} | {
        "file": finding.file
    }


def by_sanitizer(
    tasks: Sequence[Mapping[str, Any]], options: argparse.Namespace
) -> list[dict[str, Any]]:
    """The answers of the sanitizer, whose errors count."""
    alarms = sanitizer_answers.alarms_of(tasks, options)
    answers = []
    for name, seen in alarms.items():
        findings = [
            Finding("error", item.line, item.api, f"{item.code}: {item.message}", item.file or "-")
            for item in seen
        ]
        answers.append(answer(name, options.detector, findings))
    return answers


def by_preflight(
    tasks: Sequence[Mapping[str, Any]], options: argparse.Namespace
) -> list[dict[str, Any]]:
    """The answers of torch-preflight, which reads all programs at once."""
    with tempfile.TemporaryDirectory() as folder:
        for task in tasks:
            Path(folder, task["id"]).mkdir()
            for name, text in task["files"].items():
                Path(folder, task["id"], name).write_text(text, encoding="utf-8")
        command = [options.tool, "check", "--format", "json", "--jobs", "1", "."]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    findings: dict[str, list[Finding]] = {task["id"]: [] for task in tasks}
    for item in json.loads(done.stdout)["diagnostics"]:
        name, _, file = item["path"].removeprefix("./").partition("/")
        why = f"{item['code']}: {item['message']}"
        findings[name].append(Finding(item["severity"], item["line"], None, why, file))
    return [answer(name, PREFLIGHT, seen) for name, seen in findings.items()]


REVIEWERS = {"sanitizer": by_sanitizer, PREFLIGHT: by_preflight}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("reviewer", choices=REVIEWERS)
    parser.add_argument("tasks", type=Path, help="tasks.jsonl of the export")
    parser.add_argument("answers", type=Path, help="the file to write")
    parser.add_argument("--tool", default=PREFLIGHT, help="default: torch-preflight of PATH")
    sanitizer_answers.add_sources(parser)
    options = parser.parse_args()
    tasks = sanitizer_answers.read_tasks(options.tasks)
    answers = REVIEWERS[options.reviewer](tasks, options)
    lines = "".join(f"{json.dumps(item)}\n" for item in answers)
    options.answers.write_text(lines, encoding="utf-8")
    print(f"{options.answers}: {len(answers)} answers to {len(tasks)} tasks", file=sys.stderr)


if __name__ == "__main__":
    main()
