"""The runs of a study: its points in their fixed order, and what each of them runs."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import product

from runner.bugs.case import Case, GroundTruth, Oracle
from runner.bugs.figures import Line, Panel, Plot
from runner.bugs.program import CaseProgram
from runner.execution.key import data_digest, read_scripts
from runner.execution.run import Run
from runner.field_types import Scalar
from runner.results.revision import find_revision
from runner.session.session import Session
from runner.studies.centres import centres
from runner.studies.definition import Point, Study

# What is made of the runs of a study, beside its programs.
GENERATED_FILES = ("*.csv", "*.md", "*.png")


def ordered(points: Sequence[Point]) -> list[Point]:
    """The points in the order in which they are run: by a hash of their values, which is as good as
    drawn by lot.

    So the first of them are a fair sample of the grid, whichever way its values are listed.
    """
    return sorted(
        points, key=lambda point: hashlib.sha256(json.dumps(point.values).encode()).hexdigest()
    )


def point_case(study: Study, point: Point, centre: Mapping[Point, float]) -> Case:
    """A point as a case without expectations."""
    written = study.written
    parameters: dict[str, Scalar] = dict(zip(written.axes, point.values, strict=True))
    if written.centre:
        parameters[written.centre.parameter] = centre[point]
    # A run in which two records have the same setting is not whole.
    line = Line(metric=written.comparison.metric, label=written.comparison.metric)
    plot = Plot(written.setting, (Panel(label=line.label, lines=(line,)),))
    return Case(
        bug=study.bug.id,
        name=study.case,
        title=written.title,
        program=CaseProgram(
            variants=study.variants,
            parameters={**written.parameters, **parameters},
            timeout_s=written.timeout_s,
            seeds=written.seeds,
            data=point.data,
        ),
        oracle=Oracle(),
        truth=GroundTruth(study.bug.site),
        plot=plot,
        provenance=study.bug.provenance,
    )


def plan(session: Session, study: Study) -> dict[Point, list[Run]]:
    """The runs of each point, in order, of all variants and seeds; missing environments are built.

    Points whose data are not there are left out. Raises UsageError, CatalogError or ResultsError
    where nothing can be run.
    """
    options = session.options
    session.store.reserve(session.catalog, study.bug)
    revision = find_revision(study.folder.directory, GENERATED_FILES)
    scripts = {
        name: read_scripts(study.folder, variant) for name, variant in study.variants.items()
    }
    points = [point for point in ordered(study.points) if session.data or not point.data]
    centre = centres(study, points)
    cases = {point: point_case(study, point, centre) for point in points}
    digests: dict[tuple[str, ...], str | None] = {}
    for point in points:
        if point.data not in digests:
            digests[point.data] = data_digest(cases[point], session.data)
    runtimes = {name: session.runtime_of(variant) for name, variant in study.variants.items()}
    planned: dict[Point, list[Run]] = {}
    for point, case in cases.items():
        seeds = case.program.seeds if options.seeds is None else options.seeds
        planned[point] = [
            Run(
                case=case,
                variant=variant,
                seed=seed,
                runtime=runtimes[variant],
                timeout_s=options.timeout_s or case.program.timeout_s,
                scripts=scripts[variant],
                data=session.data,
                data_digest=digests[point.data],
                revision=revision,
                max_memory_mb=options.max_memory_gb and options.max_memory_gb * 1000,
                network=options.network,
                label=point.text,
            )
            for seed, variant in product(seeds, study.variants)
        ]
    return planned
