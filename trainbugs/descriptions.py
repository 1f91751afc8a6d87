"""Bugs and their cases as rows of a table, and as documents."""

import math
from typing import Any

from msgspec import to_builtins

from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.catalog import Catalog
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


def bug_document(bug: Bug) -> dict[str, Any]:
    """What is known of a bug, with its cases."""
    return {
        "id": bug.id,
        "title": bug.title,
        "source": bug.source,
        "labels": to_builtins(bug.labels),
        "site": to_builtins(bug.site),
        "provenance": to_builtins(bug.provenance),
        "environment": bug.environment,
        "retired": bug.retired,
        "affected": to_builtins(bug.affected),
        "fixed": to_builtins(bug.fixed),
        "directory": str(bug.directory),
        "can_be_injected": bug.fault is not None,
        "shows_why": bug.why is not None,
        "cases": [
            _case_document(case)
            | {"seconds": seconds(bug, case), "devices": list(seen_on(bug, case.name))}
            for case in bug.cases.values()
        ],
    }


def _case_document(case: Case) -> dict[str, Any]:
    return {
        "id": case.id,
        "title": case.title,
        "benign": case.benign,
        "provenance": to_builtins(case.provenance),
        "needs": list(case.program.needs),
        "trigger": case.truth.iteration,
        "seeds": list(case.program.seeds),
        "timeout_s": case.program.timeout_s,
        "parameters": dict(case.program.parameters),
        "scripts": {name: variant.script.name for name, variant in case.program.variants.items()},
        "expectations": [expectation.statement for expectation in case.oracle.expectations],
    }


def families(catalog: Catalog) -> dict[str, str]:
    """The location of each bug that can be read, by its ID."""
    return {bug.id: bug.labels.location for bug in catalog.readable()[0]}
