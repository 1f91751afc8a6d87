"""Selection of cases: by label, by what they need, by how long they take."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import structs

from runner.bugs.model import Bug, Case, Target
from runner.bugs.taxonomy import LISTS
from runner.errors import UsageError
from runner.files.structs import near
from runner.results.expected import seconds

if TYPE_CHECKING:
    from runner.session.options import Options

LOCATIONS = LISTS["location"]


@dataclass(frozen=True)
class Filter:
    """Conditions on cases; there are none by default.

    `label` is a location, or words of the root cause or the symptom; `needs` is one of `Program.needs`, or `none`;
    `max_seconds` is the longest time that all runs of the case may have taken when its expected records were made.
    """

    label: str | None = None
    needs: str | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        """Raise UsageError unless `max_seconds` is above 0."""
        if self.max_seconds is not None and not self.max_seconds > 0:
            raise UsageError(f"--max-seconds is {self.max_seconds:g}, expected a number above 0")

    def of(self, bugs: Iterable[Bug]) -> list[Bug]:
        """The bugs with those of their cases that fit; bugs without any are left out."""
        fitting = [
            structs.replace(bug, cases={name: case for name, case in bug.cases.items() if self._fits(bug, case)})
            for bug in bugs
            if self._has_label(bug)
        ]
        return [bug for bug in fitting if bug.cases]

    def lack(self, bugs: Sequence[Bug]) -> str:
        """A line for where none of the bugs fits: the conditions, and what is near a word that none of them has."""
        needs = {need for bug in bugs for case in bug.cases.values() for need in case.program.needs} | {"none"}
        words = {word for bug in bugs for text in _texts(bug) for word in text.lower().split()}
        conditions = []
        if self.label is not None:
            known = self.label in LOCATIONS or any(map(self._has_label, bugs))
            hint = "" if known else near(self.label, {*LOCATIONS, *words})
            conditions.append(f"--label {self.label!r}{hint}")
        if self.needs is not None:
            hint = "" if self.needs in needs else f" (expected one of {', '.join(sorted(needs))})"
            conditions.append(f"--needs {self.needs!r}{hint}")
        if self.max_seconds is not None:
            conditions.append(f"--max-seconds {self.max_seconds:g}")
        return f"no case fits {' and '.join(conditions)}; `trainbugs list` shows all"

    def _has_label(self, bug: Bug) -> bool:
        if self.label is None or self.label == bug.labels.location:
            return True
        words = "\n".join(_texts(bug)).lower()
        return self.label not in LOCATIONS and self.label.lower() in words

    def _fits(self, bug: Bug, case: Case) -> bool:
        if self.needs not in (None, *case.program.needs, *(() if case.program.needs else ("none",))):
            return False
        if self.max_seconds is None:
            return True
        taken = seconds(bug, case)
        return taken is not None and taken <= self.max_seconds


def without_gpu_cases(
    targets: Sequence[Target], names: Iterable[str], options: "Options"
) -> tuple[list[Target], list[str]]:
    """The targets that `options` let run, and a note for each that needs a GPU where there is none.

    A case that one of `names` (BUG, BUG/CASE, a path) names itself stays, and is refused when its runs are planned.
    """
    if _may_have_gpu(options):
        return list(targets), []
    named = {part for name in names for part in name.split("/")[1:]}
    out = [target for target in targets if "gpu" in target.case.program.tools and target.case.name not in named]
    notes = [f"{target.case.id}: left out, it needs a GPU" for target in out]
    return [target for target in targets if target not in out], notes


def _may_have_gpu(options: "Options") -> bool:
    if options.device != "auto":
        return options.device != "cpu"
    from runner.environments.interpreter import machine_has_accelerator  # slow to import, `list` does without

    # Of the machines of a cluster nothing is known here.
    return options.executor != "local" or bool(options.gpus) or machine_has_accelerator()


def _texts(bug: Bug) -> tuple[str, str]:
    return bug.labels.root_cause, bug.labels.symptom
