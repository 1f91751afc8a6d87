"""Cases as flat objects, for a table."""

import math
from typing import Any

from msgspec import to_builtins

from runner.bugs.catalog import Catalog
from runner.bugs.model import Bug, Case
from runner.results.expected import seconds, seen_on


def case_rows(bug: Bug) -> list[dict[str, Any]]:
    """A row for each case, of scalars: lists become texts with commas. `seconds` is NaN where it is not known."""
    return [_row(bug, case) for case in bug.cases.values()]


def _row(bug: Bug, case: Case) -> dict[str, Any]:
    taken = seconds(bug, case)
    return {
        "bug": bug.id,
        "case": case.name,
        "title": case.title,
        "bug_title": bug.title,
        **to_builtins(bug.labels),
        "realism": case.provenance.realism if case.provenance else None,
        "environment": bug.environment,
        "needs": ", ".join(case.program.needs),
        "seconds": math.nan if taken is None else taken,
        "seeds": ", ".join(map(str, case.program.seeds)),
        "benign": case.benign,
        "devices": ", ".join(seen_on(bug, case.name)),
        "retired": bug.retired,
        "trigger": case.truth.iteration,
        "site_file": bug.site.file,
        "site_line": bug.site.line,
        "site_api": bug.site.api,
        "source": bug.source,
    }


def families(catalog: Catalog) -> dict[str, str]:
    """The location of each bug that can be read, by its ID."""
    return {bug.id: bug.labels.location for bug in catalog.readable()[0]}
