"""What do evaluate, scores and detectors do? The subcommands about detectors; heavy modules are imported where used."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runner.api import load
from runner.errors import UsageError
from runner.report import columns

if TYPE_CHECKING:
    from evaluation.model import Rule
    from evaluation.records import CheckRecord, OverheadRecord


def detectors_command(arguments: Namespace) -> int:
    from evaluation import detectors

    root = load().root
    rows = [["DETECTOR", "VERSION", "NEEDS", "TORCH", "RULES", "WHAT IT LOOKS FOR"]]
    for each in (detectors.load(root, name) for name in detectors.names(root)):
        needs, rules = ", ".join(sorted(each.needs)), ", ".join(rule.name for rule in each.rules)
        rows.append([each.name, each.version, needs, each.torch or "any", rules, each.title])
    print(columns(rows))
    return 0


def evaluate_command(arguments: Namespace) -> int:
    from evaluation import campaign, detectors
    from evaluation.expected import refuse_part, save_expected
    from runner.progress import on_stderr
    from runner.session import Session
    from runner.settings import Options, default_data

    catalog = load()
    plan = campaign.Campaign(
        detectors=[detectors.load(catalog.root, name) for name in arguments.detector],
        bugs=arguments.bugs,
        with_controls=not arguments.no_controls,
        references=tuple(arguments.references),
        overhead_on=None if arguments.overhead == "none" else arguments.overhead,
        repeats=arguments.repeats,
        force=arguments.force,
        timeout_s=arguments.timeout,
    )
    if arguments.update_expected:
        refuse_part(plan, arguments.seeds)
    options = Options(
        results=arguments.results,
        seeds=arguments.seeds,
        device=arguments.device,
        python=arguments.python,
        data=arguments.data or default_data(),
        jobs=arguments.jobs or max(1, len(arguments.gpus) * arguments.runs_per_gpu),
        gpus=arguments.gpus,
        per_gpu=arguments.runs_per_gpu,
    )
    session = Session(catalog, options, on_stderr())
    result = campaign.run(plan, session)
    if not result.checks:
        raise UsageError("no detector was asked about any program; name other bugs or --references")
    rules = {detector.name: detector.rules for detector in plan.detectors}
    _show(result.checks, result.overheads, rules, arguments.out)
    print(f"records: {session.store.root / 'detectors'}")
    if arguments.update_expected:
        folder = catalog.root / "detectors" / "expected"
        kept = save_expected(plan, result, folder)
        _show(kept.checks(), kept.overheads(), kept.rules(), folder)
    for program in result.broken:
        session.progress.line(f"{program.run.name}: does not run by itself, no detector was asked")
    failed = any(record.status in ("tool_error", "timeout", "peeked") for record in result.checks)
    arguments.status = 2 if result.broken else 1 if failed else 0
    return int(arguments.status)


def scores_command(arguments: Namespace) -> int:
    from evaluation.records import Evaluations

    source = (
        load().root / "detectors" / "expected" if arguments.source == "expected" else arguments.results / "detectors"
    )
    evaluations = Evaluations(source)
    checks = evaluations.checks(arguments.detectors)
    if not checks:
        raise UsageError(f"{source} holds no checks of {', '.join(arguments.detectors) or 'detectors'}; see evaluate")
    _show(checks, evaluations.overheads(arguments.detectors), evaluations.rules(), arguments.out, arguments.format)
    return 0


def _show(
    checks: "Sequence[CheckRecord]",
    overheads: "Sequence[OverheadRecord]",
    rules: "dict[str, tuple[Rule, ...]]",
    out: Path,
    kind: str = "png",
) -> None:
    """Print the scores; write them, what they are made of, and figures."""
    from evaluation import report
    from evaluation.scores import outcomes, scores
    from plots.detectors import draw

    table = outcomes(checks, rules)
    scored = scores(table, overheads)
    print(columns(report.rows(scored)))
    print()
    for path in (*report.write(scored, table, out), *draw(table, scored, out, kind)):
        print(path)
