"""Texts and the rows of tables: bugs, runs, verdicts; nothing is printed here."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from runner.bugs.model import UPSTREAM, Bug, Case, Provenance, Versions
from runner.bugs.statistics import Numbers
from runner.bugs.taxonomy import LISTS
from runner.progress.streams import message, one_line
from runner.results.expected import CPU, CUDA, seconds, seen_on
from runner.studies.definition import names as studies

if TYPE_CHECKING:
    from runner.results.folder_index import IndexRow
    from runner.results.record import RunRecord
    from runner.session.version_sweep import VersionMap
    from runner.studies.running import Results
    from runner.verdicts.outcome import Outcome

# At most this many files that cannot be read are named one by one.
NAMED = 10


def listing(bugs: Sequence[Bug]) -> list[list[str]]:
    """A table of cases, with a heading; what matters most comes first, since a terminal may be narrow."""
    rows = [["CASE", "SECONDS", "TITLE", "LOCATION", "ENVIRONMENT", "NEEDS"]]
    for bug in bugs:
        for case in bug.cases.values():
            needs = ", ".join(case.program.needs) or "-"
            title = case.title[:1].upper() + case.title[1:]
            title = f"(retired) {title}" if bug.retired else title
            rows.append(
                [case.id, _seconds(bug, case), title, bug.labels.location, bug.environment, needs]
            )
    return rows


def markdown(bugs: Sequence[Bug]) -> str:
    """The catalogue as the page docs/bugs.md: how many there are and where, then a row per bug."""
    cases = sum(len(bug.cases) for bug in bugs)
    places = Counter(bug.labels.location for bug in bugs)
    lines = [
        "# The bugs",
        "",
        f"{len(bugs)} bugs with {cases} cases; where the fault is: "
        + ", ".join(f"{place} {count}" for place, count in places.most_common())
        + ".",
        _devices([(bug, case) for bug in bugs for case in bug.cases.values()]),
        "`trainbugs list --markdown` prints this page; [Running bugs](running.md#words) explains the words, and",
        "[Taxonomy](taxonomy.md) how near each program is to the report's.",
        "",
        "| bug | what happens | where | program | environment | cases (seconds on two cores) |",
        "|---|---|---|---|---|---|",
    ]
    for bug in bugs:
        title = ("(retired) " if bug.retired else "") + bug.title
        cells = [
            f"[{bug.id}](../bugs/{bug.id}/README.md)",
            title,
            bug.labels.location,
            _realism(bug),
        ]
        cells += [bug.environment]
        cells.append(", ".join(_case_in_words(bug, case) for case in bug.cases.values()))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def _devices(cases: Sequence[tuple[Bug, Case]]) -> str:
    """On which kinds of devices the cases were seen."""
    on = {
        kind: [case.id for bug, case in cases if kind in seen_on(bug, case.name)]
        for kind in (CPU, CUDA)
    }
    gpu = f"on a GPU {', '.join(on[CUDA])}" if on[CUDA] else "on a GPU none yet"
    return f"Seen on a CPU: {len(on[CPU])} cases; {gpu}."


def statistics(numbers: Numbers) -> list[list[list[str]]]:
    """A table for each list, with a heading: its entries by location; a point stands for none."""
    places = LISTS["location"]
    return [
        [
            [name.upper(), *map(str.upper, places), "ALL"],
            *(
                [entry, *(str(row[place] or ".") for place in places), str(sum(row.values()))]
                for entry, row in rows.items()
            ),
            [
                "all",
                *(str(sum(row[place] for row in rows.values())) for place in places),
                str(_total(rows)),
            ],
        ]
        for name, rows in numbers.items()
    ]


def _total(rows: Mapping[str, Mapping[str, int]]) -> int:
    return sum(sum(row.values()) for row in rows.values())


def _realism(bug: Bug) -> str:
    said = [case.provenance.realism for case in bug.cases.values() if case.provenance]
    return ", ".join(dict.fromkeys(said)) or "-"


def _case_in_words(bug: Bug, case: Case) -> str:
    words = [_seconds(bug, case), *case.program.needs, *(["benign"] if case.benign else [])]
    return f"`{case.name}` ({', '.join(words)})"


def _seconds(bug: Bug, case: Case) -> str:
    taken = seconds(bug, case)
    return "-" if taken is None else f"{taken:.0f}"


def details(bug: Bug) -> str:
    """Everything about a bug, for a reader."""
    line = f":{bug.site.line}" if bug.site.line else ""
    lines = [
        f"{bug.id}: {bug.title}",
        "",
        f"source       {bug.source}",
        f"location     {bug.labels.location}",
        f"root cause   {bug.labels.root_cause}",
        f"symptom      {bug.labels.symptom}",
        f"classes      {_classes(bug)}",
        f"site         {bug.site.file}{line}, {bug.site.api}",
        f"environment  {bug.environment}",
        f"affected     {_versions_text(bug.affected)}",
        f"fixed        {_versions_text(bug.fixed)}",
        f"read more    {bug.directory / 'README.md'}",
        *_provenance(bug.provenance),
    ]
    lines += [f"study        trainbugs study {bug.id}/{name}" for name in studies(bug)]
    if bug.retired:
        lines.append(f"retired      {bug.retired}")
    if bug.why:
        lines.append(f"see why      trainbugs why {bug.id}")
    if bug.fault:
        lines.append(f"elsewhere    trainbugs run {bug.id} --inject --environment NAME")
    for case in bug.cases.values():
        lines += ["", f"{case.id}: {case.title}" + (" (benign)" if case.benign else "")]
        lines.append(
            f"  seeds {', '.join(map(str, case.program.seeds))}; at most {case.program.timeout_s:g} s a run"
        )
        lines.append(f"  acts first at iteration {case.truth.iteration}: {case.truth.why}")
        lines.append(f"  seen on {' and '.join(seen_on(bug, case.name)) or 'no device yet'}")
        if case.provenance != bug.provenance:
            lines += [f"  {line}" for line in _provenance(case.provenance)]
        lines += [
            f"  {name}: {variant.script.name}" for name, variant in case.program.variants.items()
        ]
        if UPSTREAM in case.program.variants:
            lines[-1] += (
                f" in {case.program.variants[UPSTREAM].environment}, where the real fix is; run --upstream"
            )
        lines += [
            f"  expected of {item.variant}: {item.statement}" for item in case.oracle.expectations
        ]
    return "\n".join(lines)


def _classes(bug: Bug) -> str:
    named = ((name, getattr(bug.labels, name)) for name in ("cause", "effect", "stage"))
    return ", ".join(f"{name}: {entry}" for name, entry in named if entry) or "-"


def _provenance(provenance: Provenance | None) -> list[str]:
    if provenance is None:
        return ["realism      -"]
    origins = [
        f"{origin.link} ({origin.author}; licence: {origin.licence})"
        for origin in provenance.derived_from
    ]
    return [
        f"realism      {provenance.realism}: {provenance.differs}",
        f"derived from {', '.join(origins)}",
    ]


def verdict_rows(outcomes: "Sequence[Outcome]") -> list[list[str]]:
    """A table of verdicts, with a heading; where the verdict is not REPRODUCED, the reason is the last column."""
    repeated = any(outcome.repeatability for outcome in outcomes)
    rows = [
        ["CASE", "VERDICT", "RUNS", "SECONDS", "DRIFT", *(["REPEATS"] if repeated else []), "WHY"]
    ]
    for outcome in outcomes:
        pair = [record for record in outcome.records if record.variant != UPSTREAM]
        repeats = [_repeats(outcome)] if repeated else []
        drift = "-" if outcome.drift is None else f"{outcome.drift:.2g}"
        if pair:
            rows.append(
                [
                    outcome.target.case.id,
                    _said(outcome),
                    *_cost(pair),
                    drift,
                    *repeats,
                    _why(outcome),
                ]
            )
        upstream = outcome.verdict.upstream
        if upstream:
            said = {True: "as fixed", False: "not as fixed", None: "INVALID"}[upstream.behaves]
            own = [record for record in outcome.records if record.variant == UPSTREAM]
            where = f"{own[0].runtime.environment}: {upstream.reason}"
            name = f"{outcome.target.case.id}/{UPSTREAM}"
            rows.append(
                [
                    name,
                    said,
                    *_cost(own),
                    "-" if pair else drift,
                    *(["-"] if repeated else []),
                    where,
                ]
            )
    return rows


def _said(outcome: "Outcome") -> str:
    how = " (injected)" if outcome.injected and outcome.verdict.outcome else ""
    return (outcome.verdict.outcome or "-") + how


def _cost(records: "Sequence[RunRecord]") -> list[str]:
    return [str(len(records)), f"{sum(record.wall_s for record in records):.1f}"]


def _why(outcome: "Outcome") -> str:
    verdict = outcome.verdict
    failed = [check.explanation for check in verdict.checks if check.holds is False]
    reason = "; ".join(failed) if verdict.outcome is None and failed else verdict.reason
    return ("benign: " if outcome.target.case.benign else "") + reason


def _repeats(outcome: "Outcome") -> str:
    varied = outcome.repeatability
    if varied is None:
        return "-"
    spread = "" if varied.spread is None else f", spread {varied.spread:.2g}"
    return f"{varied.label}: {varied.text}{spread}"


def record_rows(records: "Sequence[RunRecord]") -> list[list[str]]:
    """A table of runs and what they recorded, with a heading: how many records, and the fields of the last one."""
    rows = [["RUN", "SEED", "STATUS", "SECONDS", "RECORDS", "LAST RECORD"]]
    for record in records:
        seed = f"{record.seed} ({record.repeat})" if record.repeat > 1 else str(record.seed)
        last = record.metrics[-1] if record.metrics else {}
        fields = ", ".join(f"{_field(name)} {_field(value)}" for name, value in last.items())
        name, count = f"{record.bug}/{record.case}/{record.variant}", str(len(record.metrics))
        rows.append(
            [
                name,
                seed,
                record.status,
                f"{record.wall_s:.1f}",
                count,
                record.reason or fields or "-",
            ]
        )
    return rows


def _field(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"[{len(value)} elements]" if isinstance(value, list) else one_line(str(value))[:40]


def version_rows(maps: "Sequence[VersionMap]") -> list[list[str]]:
    """A table of cases and versions, with a heading."""
    rows = [["CASE", "PACKAGE", "VERSION", "STATE", "WHY"]]
    for sweep in maps:
        for case in sweep.bug.cases:
            items = [item for item in sweep.findings if item.case == case]
            name, package = f"{sweep.bug.id}/{case}", sweep.bug.package
            rows += [[name, package, item.version, item.state, item.reason] for item in items]
    return rows


def study_rows(results: "Results") -> list[list[str]]:
    """A table of the labels of a study's cells, with a heading; of the fixed program alone: its best settings."""
    from runner.studies.analysis import row_name, shares
    from runner.studies.cells import LABELS, best, by_point

    study, cells = results.study, results.cells
    heading = study.written.shown.rows.upper()
    if "buggy" in study.variants:
        numbers = [
            [row.name, str(row.total), *(str(row.counts[label]) for label in LABELS)]
            for row in shares(study, cells)
        ]
        return [[heading, "CELLS", *map(str.upper, LABELS)], *numbers]
    chosen = [top for own in by_point(cells).values() if (top := best(own, "fixed"))]
    tops = [
        [row_name(study, top), top.point.text, f"{top.setting:g}", f"{top.fixed.mean:.4g}"]
        for top in chosen
    ]
    return [
        [heading, "POINT", study.written.setting.upper(), study.written.comparison.metric.upper()],
        *tops,
    ]


def run_rows(rows: "Sequence[IndexRow]") -> list[list[str]]:
    """A table of runs, with a heading; the seed of a repeated run is followed by the number of the repeat."""
    table = [
        ["RUN", "SEED", "STATUS", "ENVIRONMENT", "TORCH", "DEVICE", "SECONDS", "MB", "RECORDS"]
    ]
    for row in rows:
        name = f"{row.bug}/{row.case}/{row.variant}" + (" (injected)" if row.injected else "")
        seed = f"{row.seed} ({row.repeat})" if row.repeat > 1 else str(row.seed)
        numbers = [f"{row.wall_s:.1f}", f"{row.peak_memory_mb:.0f}", str(row.records)]
        table.append(
            [name, seed, row.status, row.environment, row.torch or "-", row.device, *numbers]
        )
    return table


def unreadable(problems: Sequence[str]) -> str:
    """A line for each of the first NAMED files that could not be read, and one for the rest."""
    lines = [f"trainbugs: {message(problem)}\n" for problem in problems[:NAMED]]
    if len(problems) > NAMED:
        lines.append(f"trainbugs: {len(problems) - NAMED} more files cannot be read\n")
    return "".join(lines)


def _versions_text(versions: Versions | None) -> str:
    if versions is None:
        return "-"
    change = f" by {versions.change}" if versions.change else ""
    return f"{versions.package} {', '.join(versions.versions)}{change}"


def exit_status(outcomes: "Sequence[Outcome]") -> int:
    """The exit status: 0 if all is as expected, 1 if an expectation does not hold, 2 if something is INVALID."""
    if any(outcome.verdict.invalid for outcome in outcomes):
        return 2
    return 1 if any(outcome.verdict.failed for outcome in outcomes) else 0
