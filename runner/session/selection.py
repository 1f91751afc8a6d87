"""Selection of cases: by label, by what they need, by how long they take."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from msgspec import structs

from runner.bugs.bug import FAULT, Bug, Target
from runner.bugs.case import Case
from runner.bugs.catalog import Catalog
from runner.bugs.taxonomy import LISTS
from runner.errors import UsageError
from runner.files.schema_errors import near
from runner.results.expected import seconds

if TYPE_CHECKING:
    from runner.session.options import Options

T = TypeVar("T")

LOCATIONS = LISTS["location"]


@dataclass(frozen=True)
class Filter:
    """Conditions on cases; there are none by default.

    `label` are locations, or words of the root cause or the symptom; one of them has to fit.
    `needs` is one of `CaseProgram.needs`, or `none`. `max_seconds` is the longest time that all
    runs of the case may have taken when its expected records were made. `declared` has entries of
    `taxonomy.LISTS` and `taxonomy.DECLARED` by their lists, `family`, and `environment`.
    """

    label: Sequence[str] = ()
    needs: str | None = None
    max_seconds: float | None = None
    declared: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise UsageError unless `max_seconds` is above 0."""
        if self.max_seconds is not None and not self.max_seconds > 0:
            raise UsageError(f"--max-seconds is {self.max_seconds:g}, expected a number above 0")

    def of(self, bugs: Iterable[Bug]) -> list[Bug]:
        """The bugs with only their cases that fit; bugs without such a case are left out."""
        fitting: list[Bug] = []
        for bug in bugs:
            if not has_label(bug, self.label) or not self._declares(bug):
                continue
            cases = {name: case for name, case in bug.cases.items() if self._fits(bug, case)}
            if cases:
                fitting.append(structs.replace(bug, cases=cases))
        return fitting

    def lack(self, bugs: Sequence[Bug]) -> str:
        """A line for where none of the bugs fits: the conditions, and what is near a word that none
        of them has.
        """
        needs = {"none"}
        for bug in bugs:
            for case in bug.cases.values():
                needs.update(case.program.needs)
        conditions: list[str] = []
        if self.label:
            labels = [repr(label) + _near_label(label, bugs) for label in self.label]
            conditions.append(f"--label {' or '.join(labels)}")
        if self.needs is not None:
            hint = "" if self.needs in needs else f" (expected one of {', '.join(sorted(needs))})"
            conditions.append(f"--needs {self.needs!r}{hint}")
        if self.max_seconds is not None:
            conditions.append(f"--max-seconds {self.max_seconds:g}")
        for name, entry in self.declared.items():
            hint = _near_declared(name, entry, bugs)
            conditions.append(f"--{name.replace('_', '-')} {entry!r}{hint}")
        return f"no case fits {' and '.join(conditions)}; `trainbugs list` shows all"

    def _declares(self, bug: Bug) -> bool:
        """Whether the bug declares all that is asked for."""
        entries = _declared(bug)
        return all(entry in entries.get(name, ()) for name, entry in self.declared.items())

    def _fits(self, bug: Bug, case: Case) -> bool:
        needs = case.program.needs or ("none",)
        if self.needs is not None and self.needs not in needs:
            return False
        if self.max_seconds is None:
            return True
        duration_s = seconds(bug, case)
        return duration_s is not None and duration_s <= self.max_seconds


def _near_declared(name: str, entry: str, bugs: Sequence[Bug]) -> str:
    """What is near an environment or a family that no bug has; empty for all other facts."""
    if name not in ("environment", "family"):
        return ""
    known = {value for bug in bugs for value in _declared(bug)[name] if value}
    return "" if entry in known else near(entry, sorted(known))


def _declared(bug: Bug) -> dict[str, set[str | None]]:
    """What it declares, by the name of the fact."""
    entries: dict[str, set[str | None]] = {
        "family": {bug.family},
        "environment": _environments(bug),
    }
    for name in LISTS:
        entries[name] = {getattr(bug.labels, name)}
    if bug.declared:
        entries |= {name: {entry} for name, entry in bug.declared.entries.items()}
    return entries


def _environments(bug: Bug) -> set[str | None]:
    """The names of the environments in which its variants run."""
    names: set[str | None] = {bug.environment}
    for case in bug.cases.values():
        names.update(variant.environment for variant in case.program.variants.values())
    return names


def has_label(bug: Bug, labels: Sequence[str]) -> bool:
    """Whether one of the labels is the bug's location, or in its root cause or symptom; without
    labels any bug fits.
    """
    if not labels:
        return True
    words = "\n".join(_texts(bug)).lower()
    return any(
        label == bug.labels.location if label in LOCATIONS else label.lower() in words
        for label in labels
    )


def labelled(catalog: Catalog, names: Iterable[str], labels: Sequence[str]) -> list[str]:
    """Those of the names (BUG, BUG/CASE …) whose bug has one of the labels; raises UsageError for
    one that none has.
    """
    if not labels:
        return list(names)
    bugs = {name: catalog.select([name])[0].bug for name in names}
    for label in labels:
        if not any(has_label(bug, [label]) for bug in bugs.values()):
            raise UsageError(Filter((label,)).lack(list(bugs.values())))
    return [name for name, bug in bugs.items() if has_label(bug, labels)]


def to_run(
    catalog: Catalog, names: Sequence[str], options: "Options"
) -> tuple[list[Target], list[str]]:
    """The targets that are named, or all that can run here, and a note for each that is left out.

    Raises UsageError where nothing is left.
    """
    selected, notes = labelled(catalog, names or catalog.active(), options.label), []
    if not names and options.inject:
        unable = [name for name in selected if catalog.bug(name).fault is None]
        selected = [name for name in selected if name not in unable]
        notes = [f"{', '.join(unable)}: left out, no {FAULT} puts the fault back"] if unable else []
    targets = catalog.select(selected, elsewhere=options.elsewhere)
    notes += [
        f"{target.case.id}: left out, its numbers are of {target.bug.environment} only; name it to "
        "run it"
        for target in catalog.select(selected)
        if target not in targets
    ]
    targets, gpu_notes = without_gpu_cases(targets, names, options)
    notes += gpu_notes
    if not targets:
        raise UsageError(f"nothing is left to run: {'; '.join(notes)}")
    if names or options.data is not None:
        return targets, notes
    notes += [
        f"{target.case.id}: left out, it needs --data; name it to let it download"
        for target in targets
        if target.case.program.data
    ]
    return [target for target in targets if not target.case.program.data], notes


def draw_sample(targets: Sequence[T], size: int, seed: int) -> list[T]:
    """So many of the targets, drawn by a seed, in the order of the catalogue; all where there are
    no more.
    """
    drawn = random.Random(seed).sample(range(len(targets)), min(size, len(targets)))
    return [targets[index] for index in sorted(drawn)]


def without_gpu_cases(
    targets: Sequence[Target], names: Iterable[str], options: "Options"
) -> tuple[list[Target], list[str]]:
    """The targets that `options` let run, and a note for each that needs a GPU where there is none.

    A case that one of `names` (BUG, BUG/CASE, a path) names itself stays, and is refused when its
    runs are planned.
    """
    if _may_have_gpu(options):
        return list(targets), []
    parts = {part for name in names for part in name.split("/")[1:]}
    out = [
        target
        for target in targets
        if "gpu" in target.case.program.tools and target.case.name not in parts
    ]
    notes = [f"{target.case.id}: left out, it needs a GPU" for target in out]
    return [target for target in targets if target not in out], notes


def _may_have_gpu(options: "Options") -> bool:
    if options.device != "auto":
        return options.device != "cpu"
    from runner.environments.interpreter import (
        machine_has_accelerator,
    )  # slow to import, `list` does without

    # Nothing is known here of the machines of a cluster.
    return options.executor != "local" or bool(options.gpus) or machine_has_accelerator()


def _near_label(label: str, bugs: Iterable[Bug]) -> str:
    if label in LOCATIONS or any(has_label(bug, [label]) for bug in bugs):
        return ""
    words: set[str] = set()
    for bug in bugs:
        for text in _texts(bug):
            words.update(word for word in text.lower().split() if len(word) > 3)
    # Among so many words some look like any other one by chance.
    return near(label, LOCATIONS) or near(label, words, cutoff=0.8)


def _texts(bug: Bug) -> tuple[str, str]:
    return bug.labels.root_cause, bug.labels.symptom
