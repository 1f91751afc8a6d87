"""The tables that commands print: a heading and rows of texts; nothing is printed here."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from runner.bugs.catalogue_counts import Numbers
from runner.bugs.program import UPSTREAM
from runner.bugs.taxonomy import LISTS
from runner.progress.streams import one_line

if TYPE_CHECKING:
    from evaluation.model import Detector
    from runner.environments.spec import Built, Environment
    from runner.results.folder_index import IndexRow
    from runner.results.record import RunRecord
    from runner.session.version_sweep import BugVersions
    from runner.studies.cells import Cell
    from runner.studies.running import Results
    from runner.verdicts.outcome import Outcome

Table = list[list[str]]

# The longest text of a field of a record that a table shows.
FIELD_CHARACTERS = 40
# What the behaviour of the upstream variant is called.
UPSTREAM_WORDS = {True: "as fixed", False: "not as fixed", None: "INVALID"}


def statistics_tables(numbers: Numbers) -> list[Table]:
    """A table for each list of labels: its entries by location; a point stands for none."""
    return [_statistics_table(name, rows) for name, rows in numbers.items()]


def _statistics_table(name: str, rows: Mapping[str, Mapping[str, int]]) -> Table:
    locations = LISTS["location"]
    table = [[name.replace("_", " ").upper(), *map(str.upper, locations), "ALL"]]
    for entry, row in rows.items():
        counts = [str(row[location] or ".") for location in locations]
        table.append([entry, *counts, str(sum(row.values()))])
    totals = [sum(map(itemgetter(location), rows.values())) for location in locations]
    return [*table, ["all", *map(str, totals), str(sum(totals))]]


def verdict_table(outcomes: "Sequence[Outcome]") -> Table:
    """Verdicts; where the verdict is not REPRODUCED, the reason is the last column."""
    repeated = any(outcome.repeatability for outcome in outcomes)
    repeats = ["REPEATS"] if repeated else []
    table = [["CASE", "VERDICT", "RUNS", "SECONDS", "DRIFT", *repeats, "WHY"]]
    for outcome in outcomes:
        pair = [record for record in outcome.records if record.variant != UPSTREAM]
        if pair:
            table.append(_verdict_row(outcome, pair, repeated))
        if outcome.verdict.upstream:
            table.append(_upstream_row(outcome, bool(pair), repeated))
    return table


def _verdict_row(
    outcome: "Outcome", records: "Sequence[RunRecord]", with_repeats: bool
) -> list[str]:
    repeats = [_repeats(outcome)] if with_repeats else []
    name, drift = outcome.target.case.id, _drift(outcome)
    return [name, _verdict(outcome), *_cost(records), drift, *repeats, _reason(outcome)]


def _upstream_row(outcome: "Outcome", has_pair: bool, with_repeats: bool) -> list[str]:
    """The row of the release with the real fix; the drift stands there if there is no other row."""
    upstream = outcome.verdict.upstream
    assert upstream is not None
    records = [record for record in outcome.records if record.variant == UPSTREAM]
    name = f"{outcome.target.case.id}/{UPSTREAM}"
    drift = "-" if has_pair else _drift(outcome)
    repeats = ["-"] if with_repeats else []
    reason = f"{records[0].runtime.environment}: {upstream.reason}"
    return [name, UPSTREAM_WORDS[upstream.behaves], *_cost(records), drift, *repeats, reason]


def _verdict(outcome: "Outcome") -> str:
    verdict = outcome.verdict.outcome
    if verdict is None:
        return "-"
    return f"{verdict} (injected)" if outcome.injected else verdict


def _drift(outcome: "Outcome") -> str:
    return "-" if outcome.drift is None else f"{outcome.drift:.2g}"


def _cost(records: "Sequence[RunRecord]") -> list[str]:
    return [str(len(records)), f"{sum(record.wall_s for record in records):.1f}"]


def _reason(outcome: "Outcome") -> str:
    verdict = outcome.verdict
    failed = [check.explanation for check in verdict.checks if check.holds is False]
    reason = "; ".join(failed) if verdict.outcome is None and failed else verdict.reason
    return f"benign: {reason}" if outcome.target.case.benign else reason


def _repeats(outcome: "Outcome") -> str:
    repeatability = outcome.repeatability
    if repeatability is None:
        return "-"
    spread = "" if repeatability.spread is None else f", spread {repeatability.spread:.2g}"
    return f"{repeatability.label}: {repeatability.text}{spread}"


def record_table(records: "Sequence[RunRecord]") -> Table:
    """Runs and what they recorded: how many records, and the fields of the last one."""
    table = [["RUN", "SEED", "STATUS", "SECONDS", "RECORDS", "LAST RECORD"]]
    for record in records:
        last = record.metrics[-1] if record.metrics else {}
        fields = ", ".join(f"{_field(name)} {_field(value)}" for name, value in last.items())
        table.append(
            [
                f"{record.bug}/{record.case}/{record.variant}",
                _seed(record.seed, record.repeat),
                record.status,
                f"{record.wall_s:.1f}",
                str(len(record.metrics)),
                record.reason or fields or "-",
            ]
        )
    return table


def _seed(seed: int, repeat: int) -> str:
    """The seed of a run; a repeated one is followed by the number of the repeat."""
    return f"{seed} ({repeat})" if repeat > 1 else str(seed)


def _field(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return f"[{len(value)} elements]"
    return one_line(str(value))[:FIELD_CHARACTERS]


def versions_table(maps: "Sequence[BugVersions]") -> Table:
    """Cases and versions."""
    table = [["CASE", "PACKAGE", "VERSION", "STATE", "WHY"]]
    for sweep in maps:
        for case in sweep.bug.cases:
            name, package = f"{sweep.bug.id}/{case}", sweep.bug.package
            for finding in sweep.findings:
                if finding.case == case:
                    table.append([name, package, finding.version, finding.state, finding.reason])
    return table


def study_table(results: "Results") -> Table:
    """The labels of a study's cells; of the fixed program alone: its best settings."""
    if "buggy" in results.study.variants:
        return _labels_table(results)
    return _best_settings_table(results)


def _labels_table(results: "Results") -> Table:
    from runner.studies.analysis import shares
    from runner.studies.cells import LABELS

    study = results.study
    table = [[study.written.shown.rows.upper(), "CELLS", *map(str.upper, LABELS)]]
    for row in shares(study, results.cells):
        counts = [str(row.counts[label]) for label in LABELS]
        table.append([row.name, str(row.total), *counts])
    return table


def _best_settings_table(results: "Results") -> Table:
    from runner.studies.analysis import row_name

    study = results.study
    names = (study.written.setting, study.written.comparison.metric)
    table = [[study.written.shown.rows.upper(), "POINT", *map(str.upper, names)]]
    for cell in _best_cells(results.cells):
        setting, metric = f"{cell.setting:g}", f"{cell.fixed.mean:.4g}"
        table.append([row_name(study, cell), cell.point.text, setting, metric])
    return table


def _best_cells(cells: "Sequence[Cell]") -> "list[Cell]":
    """The cell of each point in which the fixed program is at its best;
    points without one are left out.
    """
    from runner.studies.cells import best, by_point

    cells_of_points = by_point(cells).values()
    best_cells = [best(cells_of_point, "fixed") for cells_of_point in cells_of_points]
    return [cell for cell in best_cells if cell]


def results_table(rows: "Sequence[IndexRow]") -> Table:
    """Runs of a results folder."""
    table = [
        ["RUN", "SEED", "STATUS", "ENVIRONMENT", "TORCH", "DEVICE", "SECONDS", "MB", "RECORDS"]
    ]
    for row in rows:
        name = f"{row.bug}/{row.case}/{row.variant}" + (" (injected)" if row.injected else "")
        seed, torch = _seed(row.seed, row.repeat), row.torch or "-"
        numbers = [f"{row.wall_s:.1f}", f"{row.peak_memory_mb:.0f}", str(row.records)]
        table.append([name, seed, row.status, row.environment, torch, row.device, *numbers])
    return table


def environment_table(builds: "Sequence[tuple[Environment, Built | None]]") -> Table:
    """Environments, and where they are built."""
    table = [["ENVIRONMENT", "PYTHON", "DISK", "BUILT"]]
    for environment, build in builds:
        place = f"no; `trainbugs env build {environment.shell_name}`"
        if build:
            place = f"{build.directory}"
        disk = f"{environment.disk_gb:.1f} GB"
        table.append([environment.name, environment.python, disk, place])
    return table


def detector_table(detectors: "Sequence[Detector]") -> Table:
    """Detectors, what they need and what they look for."""
    table = [["DETECTOR", "WHAT IT LOOKS FOR", "NEEDS", "RULES", "TORCH", "VERSION"]]
    for detector in detectors:
        needs, rules = ", ".join(sorted(detector.needs)), ", ".join(detector.alarm_rules)
        torch = detector.torch or "any"
        table.append([detector.name, detector.title, needs, rules, torch, detector.version])
    return table
