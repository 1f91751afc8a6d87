"""The tasks of the review track: programs under neutral names, one question, and a key apart."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from evaluation.catalog.controls import Controls
from evaluation.catalog.declared import declared_programs
from evaluation.exporting import imported_packages, named_at_random, read_key, write_export
from evaluation.keys import program_digest
from evaluation.model import CONTROL, SCRIPT, Kind
from evaluation.records import FaultSite, Hash
from evaluation.review.answers import ReviewAnswer
from evaluation.rewriting.layout import RewriteError
from evaluation.running.perturbation import perturb, read_texts
from evaluation.running.rewritten_session import RewrittenProgram
from runner.bugs.bug import Bug, Target
from runner.bugs.catalog import Catalog
from runner.bugs.catalogue_version import CATALOGUE_VERSION
from runner.environments import spec
from runner.field_types import Name, Scalar
from runner.files.structs import schema

QUESTION = (
    "The program trains a model in PyTorch. It runs to its end without an error. Does it have a "
    "silent bug: a mistake, in the program or in a library that it uses, by which it learns worse, "
    "reports wrong numbers or wastes work? Give your suspicion that it has one, from 0 (none) to "
    "100 (certain), and the places that you suspect, the likeliest one first: the line of "
    "program.py, the API that is called there, and why. The program may well be correct."
)
TaskId = Annotated[str, Meta(pattern=r"^[0-9a-f]{16}$(?!\n)")]


class ReviewTask(Struct, frozen=True):
    """A line of tasks.jsonl. `files` holds the text of the program and of modules of its own;
    `parameters` are what it reads from config.json, `packages` the versions of what it imports.
    """

    schema: Literal[1]
    id: str
    question: str
    files: Mapping[str, str]
    parameters: Mapping[str, Scalar]
    python: str
    packages: Mapping[str, str]
    answer_schema: Mapping[str, Any]


class KeyEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """What a task is. `fix` is what the fixed twin is; it and the site are None for a control.

    Scores use neither `fix`, `development` (whether the bug was there for the choice of rules) nor
    `program`, a digest: they are for whoever looks into the answers.
    """

    bug: Name
    case: Name
    kind: Kind
    family: str
    fix: str | None
    development: bool
    site: FaultSite | None
    program: Hash

    def __post_init__(self) -> None:
        if self.kind == "buggy" and self.site is None:
            raise ValueError("site: a buggy program has one, expected file, line and api")


class ReviewKey(Struct, frozen=True, forbid_unknown_fields=True):
    """key.json: what the tasks are. It tells everything, and no reviewer may see it."""

    schema: Literal[1]
    catalogue: int
    rewriting: str
    tasks: dict[TaskId, KeyEntry]


@dataclass(frozen=True)
class ReviewedProgram:
    """A program to be reviewed, with what is true of it."""

    entry: KeyEntry
    files: Mapping[str, str]
    parameters: Mapping[str, Scalar]
    environment: spec.Environment


def collect_programs(
    catalog: Catalog, controls: Controls, perturb_seed: int | None = None
) -> tuple[list[ReviewedProgram], list[str]]:
    """The twins of all cases that count, and the controls; and a line for each that is left out.

    With `perturb_seed` the texts are rewritten: other names, order and layout. Raises CatalogError.
    """
    uncounted = declared_programs(catalog).uncounted
    targets = [
        target for target in catalog.select(catalog.active()) if target.case.id not in uncounted
    ]
    programs: list[ReviewedProgram] = []
    left_out: list[str] = []
    for target in [*targets, *controls.targets()]:
        try:
            programs += _programs(target, catalog, perturb_seed)
        except RewriteError as error:
            left_out.append(f"{target.case.id}: left out, {error}")
    return programs, left_out


def write_tasks(
    folder: Path, programs: Sequence[ReviewedProgram], rewriting: str = ""
) -> ReviewKey:
    """Write tasks.jsonl and key.json into a folder, in an order that tells nothing.

    `rewriting` says how the programs were rewritten, and by which seed. Raises OSError.
    """
    by_id = named_at_random(programs)
    answer_schema = schema(ReviewAnswer)
    tasks = [_task(name, program, answer_schema) for name, program in by_id.items()]
    entries = {name: program.entry for name, program in by_id.items()}
    key = ReviewKey(1, CATALOGUE_VERSION, rewriting, entries)
    write_export(folder, tasks, key)
    return key


def read_review_key(path: Path) -> ReviewKey:
    """A key; raises ResultsError for a file that is none."""
    return read_key(path, ReviewKey, "trainbugs review export")


def _task(name: str, program: ReviewedProgram, answer_schema: Mapping[str, Any]) -> ReviewTask:
    environment = program.environment
    return ReviewTask(
        schema=1,
        id=name,
        question=QUESTION,
        files=program.files,
        parameters=program.parameters,
        python=environment.python,
        packages=imported_packages(program.files.values(), environment.pins),
        answer_schema=answer_schema,
    )


def _programs(
    target: Target, catalog: Catalog, perturb_seed: int | None
) -> Iterator[ReviewedProgram]:
    """The programs of a target; raises RewriteError."""
    if perturb_seed is not None:
        yield from rewritten_programs(perturb(target, perturb_seed), catalog.root)
        return
    for variant in target.variants:
        yield _program(target, variant, read_texts(target, variant), catalog.root)


def rewritten_programs(rewritten: RewrittenProgram, root: Path) -> Iterator[ReviewedProgram]:
    """The programs of a case as it was rewritten."""
    target = rewritten.target
    for variant in target.variants:
        source_variant = rewritten.variants[variant]
        texts = read_texts(rewritten.source, source_variant)
        texts |= _decode(rewritten.scripts[variant])
        yield _program(target, variant, texts, root)


def _decode(scripts: Mapping[str, bytes]) -> dict[str, str]:
    return {name: text.decode() for name, text in scripts.items()}


def _program(target: Target, variant: str, texts: Mapping[str, str], root: Path) -> ReviewedProgram:
    bug, case, site = target.bug, target.case, target.bug.site
    program = case.program.variants[variant]
    files = {SCRIPT if name == program.script.name else name: text for name, text in texts.items()}
    parameters = {**case.program.parameters, "seed": case.program.seeds[0], "device": "cpu"}
    is_control = bug.id == CONTROL
    buggy_script = "" if is_control else case.program.variants["buggy"].script.name
    fault = FaultSite(SCRIPT if site.file == buggy_script else site.file, site.line, site.api)
    kind: Literal["buggy", "fixed"] = "buggy" if variant == "buggy" else "fixed"
    entry = KeyEntry(
        bug=bug.id,
        case=case.name,
        kind=CONTROL if is_control else kind,
        family=case.name if is_control else bug.family,
        fix=None if is_control else case.program.variants["fixed"].fix,
        development=_is_development(bug),
        site=None if is_control else fault,
        program=program_digest({name: text.encode() for name, text in files.items()}, parameters),
    )
    return ReviewedProgram(entry, files, parameters, spec.load(root, program.place))


def _is_development(bug: Bug) -> bool:
    """Whether rules may be chosen by this bug."""
    return bug.declared is not None and bug.declared.split == "development"
