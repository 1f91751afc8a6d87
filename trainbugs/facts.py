"""The facts of a bug and of its cases: each declared once, with its name,
its type and its words for a reader.

Tables, documents, pages and the release choose facts by their names.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, TypeVar, get_args

from msgspec import to_builtins

from evaluation.repair import further_seeds
from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.labels import Provenance, Versions
from runner.bugs.taxonomy import Location
from runner.results.expected import recorded_devices, seconds

Subject = TypeVar("Subject")
Source = TypeVar("Source")
# `list` becomes a text with commas in a table, `lines` one with line ends, `object` a JSON object.
Kind = Literal[
    "text", "number", "integer", "optional integer", "flag", "list", "lines", "object", "versions"
]


class BugCase(NamedTuple):
    """A case with its bug."""

    bug: Bug
    case: Case


@dataclass(frozen=True)
class Fact(Generic[Subject]):
    """A fact: how it is taken, and what its column is called;
    `description` says in the release what it holds.
    """

    name: str
    kind: Kind
    take: Callable[[Subject], Any]
    heading: str = ""
    description: str = ""

    def value(self, subject: Subject) -> Any:
        """The fact for a JSON document."""
        return to_builtins(self.take(subject))

    def cell(self, subject: Subject) -> Any:
        """The fact as a scalar, for a table that programs read; None, or NaN for a number,
        where it is not known.
        """
        value = self.take(subject)
        if value is None:
            return math.nan if self.kind == "number" else None
        return CELLS[self.kind](value) if self.kind in CELLS else value

    def text(self, subject: Subject) -> str:
        """The fact for a reader; "-" where it is not known."""
        value = self.take(subject)
        if value is None:
            return "-"
        form = TEXTS.get(self.kind) or CELLS.get(self.kind, str)
        return form(value) or "-"


def _comma_list(values: Iterable[object]) -> str:
    return ", ".join(map(str, values))


def _json(value: object) -> str:
    return json.dumps(to_builtins(value))


def _versions_text(versions: Versions) -> str:
    change = f" by {versions.change}" if versions.change else ""
    return f"{versions.package} {_comma_list(versions.versions)}{change}"


# How values become scalars, and texts where these are others.
CELLS: Mapping[str, Callable[[Any], str]] = {
    "list": _comma_list,
    "lines": "\n".join,
    "object": _json,
    "versions": _versions_text,
}
TEXTS: Mapping[str, Callable[[Any], str]] = {
    "number": lambda value: f"{value:.0f}",
}
# Types of columns that pandas would guess otherwise where values are not known.
DTYPES: Mapping[str, str] = {"number": "float64", "optional integer": "Int64"}


def _by_name(facts: Iterable[Fact[Subject]]) -> Mapping[str, Fact[Subject]]:
    return {fact.name: fact for fact in facts}


def _lift(fact: Fact[Source], source: Callable[[Subject], Source], name: str = "") -> Fact[Subject]:
    """The same fact of another subject, from which its source can be taken."""
    return Fact(
        name or fact.name,
        fact.kind,
        lambda subject: fact.take(source(subject)),
        fact.heading,
        fact.description,
    )


def _origins(provenance: Provenance | None, attribute: str) -> list[str] | None:
    if provenance is None:
        return None
    return [getattr(origin, attribute) for origin in provenance.derived_from]


def _realisms(bug: Bug) -> list[str]:
    """How near the programs of the cases are to the report's, each entry once."""
    provenances = [case.provenance for case in bug.cases.values()]
    return list(dict.fromkeys(provenance.realism for provenance in provenances if provenance))


def _headline(title: str, bug: Bug) -> str:
    return f"(retired) {title}" if bug.retired else title


def _scripts(case: Case) -> dict[str, str]:
    return {name: variant.script.name for name, variant in case.program.variants.items()}


PROVENANCE_FACTS: Mapping[str, Fact[Provenance | None]] = _by_name(
    [
        Fact(
            "realism",
            "text",
            lambda provenance: provenance and provenance.realism,
            "Program",
            "how near the program is to the report's: original, adapted or our own",
        ),
        Fact(
            "differs",
            "text",
            lambda provenance: provenance and provenance.differs,
            "Differs",
            "what differs from the report's program",
        ),
        Fact(
            "derived_from",
            "lines",
            lambda provenance: _origins(provenance, "link"),
            "Derived from",
            "links, one a line",
        ),
        Fact(
            "authors",
            "lines",
            lambda provenance: _origins(provenance, "author"),
            "Authors",
            "of what it is derived from, one a line",
        ),
        Fact(
            "licences",
            "lines",
            lambda provenance: _origins(provenance, "licence"),
            "Licences",
            "of what it is derived from, one a line; the text itself is under the licence of the "
            "dataset",
        ),
    ]
)

LOCATIONS = ", ".join(get_args(Location))
BUG_FACTS: Mapping[str, Fact[Bug]] = _by_name(
    [
        Fact("id", "text", lambda bug: bug.id, "Bug", "public identifier"),
        Fact("title", "text", lambda bug: bug.title, "What happens", "what happens, in one line"),
        Fact("headline", "text", lambda bug: _headline(bug.title, bug), "What happens"),
        Fact("source", "text", lambda bug: bug.source, "Source", "where it was reported"),
        # Labels.
        Fact(
            "location",
            "text",
            lambda bug: bug.labels.location,
            "Where",
            f"where the fault is: {LOCATIONS}",
        ),
        Fact(
            "cause",
            "text",
            lambda bug: bug.labels.cause,
            "Cause",
            "of the closed list of the taxonomy",
        ),
        Fact(
            "effect",
            "text",
            lambda bug: bug.labels.effect,
            "Effect",
            "of the closed list of the taxonomy",
        ),
        Fact(
            "stage",
            "text",
            lambda bug: bug.labels.stage,
            "Stage",
            "of training, of the closed list of the taxonomy",
        ),
        Fact(
            "root_cause", "text", lambda bug: bug.labels.root_cause, "Root cause", "in one sentence"
        ),
        Fact("symptom", "text", lambda bug: bug.labels.symptom, "Symptom", "in one sentence"),
        Fact("labels", "object", lambda bug: bug.labels),
        # The place of the fault.
        Fact(
            "site_file",
            "text",
            lambda bug: bug.site.file,
            "File",
            "file of the fault: a script, or a file of the package at fault",
        ),
        Fact(
            "site_line",
            "optional integer",
            lambda bug: bug.site.line,
            "Line",
            "line in that file, where the fault is at one",
        ),
        Fact("site_api", "text", lambda bug: bug.site.api, "API", "API that is misused or broken"),
        Fact("site", "object", lambda bug: bug.site),
        # Where it runs, and which releases have it.
        Fact(
            "environment",
            "text",
            lambda bug: bug.environment,
            "Environment",
            "pinned environment in which it runs",
        ),
        Fact(
            "affected",
            "versions",
            lambda bug: bug.affected,
            "Affected",
            "releases that have the fault, where it is one of a package",
        ),
        Fact("fixed", "versions", lambda bug: bug.fixed, "Fixed", "releases that have the fix"),
        Fact(
            "retired",
            "text",
            lambda bug: bug.retired,
            "Retired",
            "why the bug runs no more by default; empty for all others",
        ),
        Fact("directory", "text", lambda bug: str(bug.directory)),
        Fact("can_be_injected", "flag", lambda bug: bug.fault is not None),
        Fact("shows_why", "flag", lambda bug: bug.why is not None),
        # How near its programs are to the report's.
        Fact("provenance", "object", lambda bug: bug.provenance),
        Fact("realisms", "list", _realisms, "Program"),
        # What it declares.
        Fact("declared", "object", lambda bug: bug.declared),
        Fact("parameter_origins", "object", lambda bug: dict(bug.parameter_origins)),
        Fact(
            "harm",
            "text",
            lambda bug: bug.declared and bug.declared.harm.kind,
            "Harm",
            "what the fault does to a user's training: reported, enlarged, measured or constructed",
        ),
        Fact(
            "harm_choices",
            "text",
            lambda bug: bug.declared and bug.declared.harm.choices,
            "Choices",
            "the choices of the authors that the harm depends on",
        ),
        Fact(
            "code_at_fault",
            "text",
            lambda bug: bug.declared and bug.declared.code_at_fault,
            "Code at fault",
            "whose code runs the fault: installed, rewritten, re-created or injected",
        ),
        Fact(
            "state_upstream",
            "text",
            lambda bug: bug.declared and bug.declared.state_upstream,
            "Upstream",
            "what became of the report",
        ),
        Fact(
            "source_read",
            "text",
            lambda bug: bug.declared and bug.declared.source_read,
            "Source read",
            "how much of the report the author could read: whole, part or second-hand",
        ),
        Fact(
            "split",
            "text",
            lambda bug: bug.declared and bug.declared.split,
            "Split",
            "development, if detectors of this project were developed on the bug, else test",
        ),
        Fact("family", "text", lambda bug: bug.family, "Family", "shared by bugs of one fault"),
        *(_lift(fact, lambda bug: bug.provenance) for fact in PROVENANCE_FACTS.values()),
    ]
)

CASE_FACTS: Mapping[str, Fact[BugCase]] = _by_name(
    [
        *(_lift(fact, lambda subject: subject.bug) for fact in BUG_FACTS.values()),
        _lift(BUG_FACTS["id"], lambda subject: subject.bug, name="bug"),
        _lift(BUG_FACTS["title"], lambda subject: subject.bug, name="bug_title"),
        # Facts of the same names follow that the case has itself.
        Fact("id", "text", lambda subject: subject.case.id, "Case"),
        Fact("case", "text", lambda subject: subject.case.name, "Case", "name of the case"),
        Fact(
            "title", "text", lambda subject: subject.case.title, "Title", "what is special about it"
        ),
        Fact(
            "headline",
            "text",
            lambda subject: _headline(_capitalized(subject.case.title), subject.bug),
            "Title",
        ),
        Fact(
            "seconds",
            "number",
            lambda subject: seconds(subject.bug, subject.case),
            "Seconds",
            "of all expected runs on a CPU together",
        ),
        Fact(
            "seeds",
            "list",
            lambda subject: subject.case.program.seeds,
            "Seeds",
            "separated by commas",
        ),
        Fact(
            "further_seeds",
            "text",
            lambda subject: further_seeds.steadiness(subject.case),
            "Further seeds",
            "with how many of five further seeds, which nobody chose, both twins do what is "
            "expected; empty where they were not run",
        ),
        Fact(
            "trigger",
            "integer",
            lambda subject: subject.case.truth.iteration,
            "Trigger",
            "iteration, from 1, in which the fault first acts",
        ),
        Fact(
            "benign",
            "flag",
            lambda subject: subject.case.benign,
            "Benign",
            "whether the code is wrong and no harm is expected",
        ),
        Fact(
            "needs",
            "list",
            lambda subject: subject.case.program.needs,
            "Needs",
            "what the machine must bring",
        ),
        Fact(
            "devices",
            "list",
            lambda subject: recorded_devices(subject.bug, subject.case.name),
            "Devices",
            "on which kinds of device there are expected records",
        ),
        Fact(
            "parameters",
            "object",
            lambda subject: dict(subject.case.program.parameters),
            "Parameters",
            "of the program, as a JSON object",
        ),
        Fact(
            "expectations",
            "lines",
            lambda subject: [item.statement for item in subject.case.oracle.expectations],
            "Expectations",
            "the written oracle, one statement a line",
        ),
        Fact(
            "harm",
            "text",
            lambda subject: subject.case.harm and subject.case.harm.kind,
            "Harm",
            "what the fault does to a user's training: reported, enlarged, measured or constructed",
        ),
        Fact(
            "fix",
            "text",
            lambda subject: subject.case.program.variants["fixed"].fix,
            "Fix",
            "what the fixed variant changes: released, proposed or a work-around",
        ),
        Fact(
            "never_run",
            "flag",
            lambda subject: subject.case.never_run,
            "Never run",
            "whether nobody has run the case, or only with the fault put back: it is in no count "
            "and no score",
        ),
        Fact(
            "parameter_origins",
            "object",
            lambda subject: dict(subject.case.parameter_origins),
            "Origins",
            "whose choice each parameter is, as a JSON object",
        ),
        Fact("timeout_s", "number", lambda subject: subject.case.program.timeout_s),
        Fact("scripts", "object", lambda subject: _scripts(subject.case)),
        Fact("provenance", "object", lambda subject: subject.case.provenance),
        *(
            _lift(fact, lambda subject: subject.case.provenance)
            for fact in PROVENANCE_FACTS.values()
        ),
    ]
)


def _capitalized(title: str) -> str:
    return title[:1].upper() + title[1:]
