"""A repairer that needs no model: the row that a language model has to beat.

    trainbugs repair export --out tasks
    python benchmarks/template_repairer.py tasks/tasks.jsonl patches.jsonl --results FOLDER
    trainbugs repair grade patches.jsonl --key tasks/key.json

The sanitizer says where a program breaks which invariant, and `templates/` holds the mechanical
cures, by the invariants' names; `--list` prints them. It takes what the sanitizer said from the
records of `trainbugs evaluate --detector sanitizer` in FOLDER, or from the committed ones with
`--committed`,
and knows a program by its digest: it reads no key. With `--watch` it runs `trainbugs watch` on the
programs that have no record, in an environment that is built. A program that no cure fits gets no
patch, and a line says why.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sanitizer_answers
from templates.cures import Accusation, describe, repair

MODEL = "templates"


def patches(
    tasks: list[dict[str, Any]], alarms: dict[str, sanitizer_answers.Alarms]
) -> Iterator[dict[str, str]]:
    """A patch for each task with a cure; what became of the others is told on standard error."""
    for task in tasks:
        name = task["id"]
        if name not in alarms:
            print(f"{name}: the sanitizer has not seen it", file=sys.stderr)
            continue
        accusations = [
            Accusation(alarm.code, alarm.line)
            for alarm in alarms[name]
            if alarm.line is not None and alarm.file == sanitizer_answers.SCRIPT
        ]
        result = repair(task["files"][sanitizer_answers.SCRIPT], accusations)
        told = [*(f"cured {code}" for code in result.applied), *result.failed]
        print(f"{name}: {'; '.join(told) or 'no error was seen'}", file=sys.stderr)
        if result.applied:
            yield {"id": name, "model": MODEL, "script": result.text}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", type=Path, nargs="?", help="tasks.jsonl of the export")
    parser.add_argument("patches", type=Path, nargs="?", help="the file to write")
    parser.add_argument("--list", action="store_true", help="print the cures, and end")
    sanitizer_answers.add_sources(parser)
    options = parser.parse_args()
    if options.list:
        for name, text in describe():
            print(f"{name}\n    {text}")
        return
    if options.patches is None:
        parser.error("name tasks.jsonl, and the file to write")
    tasks = sanitizer_answers.read_tasks(options.tasks)
    found = list(patches(tasks, sanitizer_answers.alarms_of(tasks, options)))
    lines = "".join(f"{json.dumps(patch)}\n" for patch in found)
    options.patches.write_text(lines, encoding="utf-8")
    print(f"{options.patches}: {len(found)} patches for {len(tasks)} tasks", file=sys.stderr)


if __name__ == "__main__":
    main()
