"""Texts that commands print: all that is known of a bug, and which files cannot be read;
nothing is printed here.
"""

from collections.abc import Iterable, Sequence

from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.labels import Provenance
from runner.bugs.program import UPSTREAM
from runner.errors import ResultsError
from runner.progress.streams import message
from runner.results.expected import recorded_devices
from runner.studies import horizon
from runner.studies.definition import names as studies
from trainbugs.facts import BUG_FACTS, CASE_FACTS, BugCase

# At most this many files that cannot be read are named one by one.
MAX_NAMED = 10
# The column in which the texts about a bug start.
LABEL_WIDTH = 12


def bug_text(bug: Bug) -> str:
    """Everything about a bug, for a reader."""
    lines = [
        f"{bug.id}: {bug.title}",
        "",
        *_labelled(_bug_facts(bug)),
        *_provenance(bug.provenance),
    ]
    lines += _labelled([("study", f"trainbugs study {bug.id}/{name}") for name in studies(bug)])
    if bug.retired:
        lines += _labelled([("retired", bug.retired)])
    if bug.why:
        lines += _labelled([("see why", f"trainbugs why {bug.id}")])
    if bug.fault:
        lines += _labelled([("elsewhere", f"trainbugs run {bug.id} --inject --environment NAME")])
    for case in bug.cases.values():
        lines += ["", *_case(bug, case)]
    return "\n".join(lines)


def _bug_facts(bug: Bug) -> list[tuple[str, str]]:
    line = f":{bug.site.line}" if bug.site.line else ""
    return [
        *_labelled_facts(("source", "location", "root_cause", "symptom"), bug),
        ("classes", _classes(bug)),
        ("site", f"{bug.site.file}{line}, {bug.site.api}"),
        *_labelled_facts(("environment", "affected", "fixed"), bug),
        *_declared(bug),
        ("read more", str(bug.directory / "README.md")),
    ]


def _declared(bug: Bug) -> list[tuple[str, str]]:
    """What a bug declares, less what its README alone is for."""
    if bug.declared is None:
        return []
    declared = bug.declared
    facts = (
        f"code at fault {declared.code_at_fault}, source read {declared.source_read}, split "
        f"{declared.split}"
    )
    return [
        ("harm", f"{declared.harm.kind}: {declared.harm.choices}"),
        ("upstream", declared.state_upstream),
        ("facts", facts),
        ("family", bug.family),
    ]


def _labelled_facts(names: Iterable[str], bug: Bug) -> list[tuple[str, str]]:
    """Facts with their names as labels."""
    return [(name.replace("_", " "), BUG_FACTS[name].text(bug)) for name in names]


def _labelled(facts: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{label:<{LABEL_WIDTH}} {text}" for label, text in facts]


def _case(bug: Bug, case: Case) -> list[str]:
    """What is known of a case: its title, and below it what it runs and what is expected."""
    program = case.program
    title = f"{case.id}: {case.title}" + (" (benign)" if case.benign else "")
    seeds = ", ".join(map(str, program.seeds))
    devices = " and ".join(recorded_devices(bug, case.name)) or "no device yet"
    lines = [
        f"seeds {seeds}; at most {program.timeout_s:g} s a run",
        *_further_seeds(bug, case),
        *_horizon(bug, case),
        f"acts first at iteration {case.truth.iteration}: {case.truth.why}",
        f"seen on {devices}",
    ]
    if case.provenance != bug.provenance:
        lines += _provenance(case.provenance)
    lines += [f"{name}: {variant.script.name}" for name, variant in program.variants.items()]
    if UPSTREAM in program.variants:
        environment = program.variants[UPSTREAM].environment
        lines[-1] += f" in {environment}, where the real fix is; run --upstream"
    for expectation in case.oracle.expectations:
        lines.append(f"expected of {expectation.variant}: {expectation.statement}")
    return [title, *(f"  {line}" for line in lines)]


def _horizon(bug: Bug, case: Case) -> list[str]:
    """What runs of twice the length say of the harm; nothing where there need be none."""
    if case.harm is None or case not in horizon.horizon_cases(bug):
        return []
    try:
        tried = {row.case for row in horizon.read(bug)}
    except ResultsError as error:
        return [str(error)]
    if case.name not in tried:
        return [f"nobody has tried twice the length yet: `trainbugs horizon {case.id}`"]
    if case.harm.late:
        return ["the harm only delays: in training of twice the length it is gone with some seed"]
    return ["the harm is there in training of twice the length, too"]


def _further_seeds(bug: Bug, case: Case) -> list[str]:
    text = CASE_FACTS["further_seeds"].text(BugCase(bug, case))
    return (
        []
        if text == "-"
        else [f"with {text} further seeds, which a hash chose, both do what is expected"]
    )


def _classes(bug: Bug) -> str:
    classes = {name: BUG_FACTS[name].cell(bug) for name in ("cause", "effect", "stage")}
    return ", ".join(f"{name}: {entry}" for name, entry in classes.items() if entry) or "-"


def _provenance(provenance: Provenance | None) -> list[str]:
    if provenance is None:
        return _labelled([("realism", "-")])
    origins = [
        f"{origin.link} ({origin.author}; licence: {origin.licence})"
        for origin in provenance.derived_from
    ]
    realism = f"{provenance.realism}: {provenance.differs}"
    return _labelled([("realism", realism), ("derived from", ", ".join(origins))])


def unreadable(problems: Sequence[str]) -> str:
    """A line for each of the first MAX_NAMED files that could not be read,
    and one for the number of the others.
    """
    lines = [f"trainbugs: {message(problem)}\n" for problem in problems[:MAX_NAMED]]
    if len(problems) > MAX_NAMED:
        lines.append(f"trainbugs: {len(problems) - MAX_NAMED} more files cannot be read\n")
    return "".join(lines)
