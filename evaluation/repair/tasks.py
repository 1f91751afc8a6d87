"""The tasks of the repair track: buggy programs under random names, and a key apart."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from evaluation.catalog.declared import declared_programs
from evaluation.exporting import imported_packages, named_at_random, read_key, write_export
from evaluation.keys import program_digest
from evaluation.model import SCRIPT
from evaluation.records import Hash
from evaluation.repair import further_seeds
from evaluation.repair.patches import TaskId
from evaluation.running.perturbation import read_texts
from runner.bugs.bug import Target
from runner.bugs.catalog import Catalog
from runner.bugs.catalogue_version import CATALOGUE_VERSION
from runner.environments import spec
from runner.errors import ResultsError
from runner.field_types import Record, Scalar
from runner.results.expected import expected_records

QUESTION = (
    "This program trains a model in PyTorch. It runs to its end without an error, and it has a "
    "silent bug, in the program or in a library that it uses. Write program.py so that it trains "
    "and measures as it should. Leave model, data, measurement, output, number of steps and kind "
    "of optimizer as they are where they are right: a program that changes them otherwise is "
    "refused. Keep the names in `keep`, which are measured."
)
# How much is shown of what the program printed: lines at the beginning, and at the end.
FIRST, LAST = 3, 3


class RepairTask(Struct, frozen=True):
    """A line of tasks.jsonl: the buggy program, the versions of what it uses, what is wrong in one
    word of the taxonomy, and lines of what it printed.
    """

    schema: Literal[1]
    id: str
    question: str
    files: Mapping[str, str]
    parameters: Mapping[str, Scalar]
    python: str
    packages: Mapping[str, str]
    effect: str | None
    printed: Sequence[Record]
    keep: Sequence[str]


class RepairKey(Struct, frozen=True, forbid_unknown_fields=True):
    """key.json: which case each task is, and the digest of its buggy program and parameters.

    A key from before 29 November 2026 has no digests.
    """

    schema: Literal[1]
    catalogue: int
    tasks: dict[TaskId, str]
    programs: dict[TaskId, Hash] = {}

    def __post_init__(self) -> None:
        if self.programs and self.programs.keys() != self.tasks.keys():
            raise ValueError("programs: expected the digest of each task's program")


def repairable(catalog: Catalog) -> tuple[list[Target], list[str]]:
    """The cases of the track, and a line for each that is not in it."""
    uncounted = declared_programs(catalog).uncounted
    unsteady = further_seeds.unsteady(further_seeds.read_table())
    targets: list[Target] = []
    left_out: list[str] = []
    for target in catalog.select(catalog.active()):
        name = target.case.id
        reason = _obstacle(target) or uncounted.get(name) or unsteady.get(name)
        if reason:
            left_out.append(f"{name}: left out, {reason}")
        else:
            targets.append(target)
    return targets, left_out


def _obstacle(target: Target) -> str | None:
    """Why a case is not in the track; None where it is."""
    case = target.case
    variants = case.program.variants
    if case.benign:
        return "it is benign: nothing gets better by a repair"
    if case.program.data:
        return "it needs data"
    if "gpu" in case.program.tools:
        return "it needs a GPU"
    if variants["buggy"].script.read_bytes() == variants["fixed"].script.read_bytes():
        return "its twins differ by their environments alone"
    return None


def write_tasks(folder: Path, targets: Sequence[Target], root: Path) -> RepairKey:
    """Write tasks.jsonl and key.json into a folder, in an order that tells nothing.

    Raises OSError, or ResultsError where a case has no records.
    """
    by_id = named_at_random(targets)
    tasks = [_task(name, target, root) for name, target in by_id.items()]
    cases = {name: target.case.id for name, target in by_id.items()}
    digests = {task.id: program_digest(_encoded(task.files), task.parameters) for task in tasks}
    key = RepairKey(1, CATALOGUE_VERSION, cases, digests)
    write_export(folder, tasks, key)
    return key


def read_repair_key(path: Path) -> RepairKey:
    """A key; raises ResultsError for a file that is none."""
    return read_key(path, RepairKey, "trainbugs repair export")


def changed_tasks(key: RepairKey, targets: Mapping[str, Target]) -> dict[str, str]:
    """A reason for each task whose program is another one now: a patch of the old one would be
    graded by twins and expectations of today.
    """
    return {
        name: f"the program of task {name} ({key.tasks[name]}) has changed since the export; "
        "export the tasks anew"
        for name, digest in key.programs.items()
        if program_digest(_encoded(_files(targets[name])), _parameters(targets[name])) != digest
    }


def _encoded(files: Mapping[str, str]) -> dict[str, bytes]:
    return {name: text.encode() for name, text in files.items()}


def _files(target: Target) -> dict[str, str]:
    """The texts of the buggy program, under the names that tasks have."""
    script = target.case.program.variants["buggy"].script.name
    texts = read_texts(target, "buggy")
    return {SCRIPT if name == script else name: text for name, text in texts.items()}


def _parameters(target: Target) -> dict[str, Scalar]:
    program = target.case.program
    return {**program.parameters, "seed": program.seeds[0], "device": "cpu"}


def _task(name: str, target: Target, root: Path) -> RepairTask:
    bug, case = target.bug, target.case
    program = case.program.variants["buggy"]
    files = _files(target)
    environment = spec.load(root, program.place)
    return RepairTask(
        schema=1,
        id=name,
        question=QUESTION,
        files=files,
        parameters=_parameters(target),
        python=environment.python,
        packages=imported_packages(files.values(), environment.pins),
        effect=bug.labels.effect,
        printed=list(_printed(target, files[SCRIPT])),
        keep=sorted(_measured_names(bug.probe)) if bug.probe else (),
    )


def _printed(target: Target, text: str) -> Iterator[Record]:
    """The first and the last lines that the buggy program printed, with what it printed itself: a
    probe measures more.
    """
    records = expected_records(target.bug, target.case.name)
    buggy = [record for record in records if record.variant == "buggy"]
    if not buggy:
        raise ResultsError(f"{target.case.id} has no expected records")
    metrics = buggy[0].metrics
    shown = metrics if len(metrics) <= FIRST + LAST else [*metrics[:FIRST], *metrics[-LAST:]]
    for line in shown:
        yield {name: value for name, value in line.items() if f'"{name}"' in text}


def _measured_names(probe: Path) -> set[str]:
    """The names of the program that its probe reads: `names["model"]` is one."""
    import ast

    tree = ast.parse(probe.read_text(encoding="utf-8"))
    names: set[Any] = {
        node.slice.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == "names"
        and isinstance(node.slice, ast.Constant)
    }
    return {name for name in names if isinstance(name, str)}
