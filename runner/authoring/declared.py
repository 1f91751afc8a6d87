"""Checks of the declared facts: they are there, and the README says the same."""

import re
from collections.abc import Iterator, Mapping

from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.declared import RUNNER_PARAMETERS, Declared, Harm
from runner.bugs.program import VARIANTS
from runner.bugs.taxonomy import FIXES

# Words of a README that one entry of a declared fact alone allows.
CONTRADICTIONS: Mapping[str, tuple[str, re.Pattern[str]]] = {
    "constructed": ("harm", re.compile(r"(?i)\bharm[^.\n]{0,40}\bconstructed\b")),
    "injected": ("code_at_fault", re.compile(r"(?i)\bfault is injected\b")),
    "second-hand": (
        "source_read",
        re.compile(r"(?i)\b(the (question|post|thread|report) (itself )?could not be opened)\b"),
    ),
}
SOURCE_WORDS = {"whole": "whole", "part": "in part", "second-hand": "second-hand"}


def check_declared(bug: Bug) -> Iterator[str]:
    """Yield the declared facts that are missing, or that the README does not say."""
    if bug.declared is None:
        yield (
            "declared is missing: harm, code_at_fault, state_upstream, source_read, split "
            "(docs/taxonomy.md)"
        )
        return
    for case in bug.cases.values():
        yield from _check_fix(case)
        yield from _check_origins(case)
    yield from _check_readers(bug)
    yield from _check_words(bug, bug.declared)


def _check_fix(case: Case) -> Iterator[str]:
    fixed = case.program.variants["fixed"]
    if fixed.fix is None:
        expected = ", ".join(FIXES)
        yield f"case {case.name}: variants.fixed.fix is missing; expected one of {expected}"


def _check_origins(case: Case) -> Iterator[str]:
    """Every parameter says whose choice it is, but those that the runner sets."""
    needed = set(case.program.parameters) - set(RUNNER_PARAMETERS)
    for name in sorted(needed - set(case.parameter_origins)):
        yield (
            f"case {case.name}: parameter_origins lacks {name}; expected source, ours, or ours; "
            "source: their value"
        )
    for name in sorted(set(case.parameter_origins) - needed):
        yield (
            f"case {case.name}: parameter_origins names {name}, which is no parameter that "
            "somebody chooses"
        )


def _check_readers(bug: Bug) -> Iterator[str]:
    if bug.provenance and not bug.provenance.read_by:
        yield "provenance.read_by is empty; somebody beside the author has to read the source"


def _check_words(bug: Bug, declared: Declared) -> Iterator[str]:
    """The README names each declared fact as config.json does, and nothing against it."""
    path = bug.directory / "README.md"
    if not path.is_file():
        return
    text = " ".join(path.read_text(encoding="utf-8").split())
    for sentence in facts_paragraphs(bug, declared):
        if sentence not in text:
            yield f"README.md does not say: {sentence}"
    values: dict[str, set[str]] = {
        "harm": {harm.kind for harm in _harms(bug, declared).values()},
        "code_at_fault": {declared.code_at_fault},
        "source_read": {declared.source_read},
    }
    for entry, (name, words) in CONTRADICTIONS.items():
        match = words.search(text)
        if match and entry not in values[name]:
            stated = ", ".join(sorted(values[name]))
            yield f"README.md says {match.group()!r}, and {name} is {stated}, expected {entry}"


def facts_paragraphs(bug: Bug, declared: Declared) -> list[str]:
    """The paragraphs of a README about its declared facts."""
    harms = [
        f"{beginning}: *{harm.kind}*. {harm.choices}"
        for beginning, harm in _harms(bug, declared).items()
    ]
    family = f"; family: *{declared.family}*" if declared.family else ""
    facts = (
        f"Facts: code at fault *{declared.code_at_fault}*; fix *{_fixes(bug)}*; upstream "
        f"*{declared.state_upstream}*; source read: *{SOURCE_WORDS[declared.source_read]}*{family}."
    )
    return [*harms, facts]


def _harms(bug: Bug, declared: Declared) -> dict[str, Harm]:
    """The harm of the bug, and of its cases where it is another, by the words before each."""
    harms = {
        f"Harm of `{case.name}`": case.harm
        for case in bug.cases.values()
        if case.harm and case.harm != declared.harm
    }
    return {"Harm": declared.harm, **harms}


def _fixes(bug: Bug) -> str:
    """The kinds of fix of all cases, each once."""
    kinds = [case.program.variants[VARIANTS[1]].fix for case in bug.cases.values()]
    return ", ".join(dict.fromkeys(kind for kind in kinds if kind))
