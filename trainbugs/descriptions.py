"""Bugs and their cases as plain objects: nested for JSON, flat for a table."""

import math
from typing import Any

from msgspec import to_builtins

from runner.bugs.model import Bug, Case, Versions
from runner.results.expected import seconds, seen_on


def describe(bug: Bug) -> dict[str, Any]:
    """The bug as an object for JSON."""
    return {
        "id": bug.id,
        "title": bug.title,
        "source": bug.source,
        "labels": to_builtins(bug.labels),
        "site": {"file": bug.site.file, "line": bug.site.line, "api": bug.site.api},
        "provenance": to_builtins(bug.provenance),
        "environment": bug.environment,
        "retired": bug.retired,
        "affected": _versions(bug.affected),
        "fixed": _versions(bug.fixed),
        "directory": str(bug.directory),
        "can_be_injected": bug.fault is not None,
        "shows_why": bug.why is not None,
        "cases": [
            _describe_case(case) | {"seconds": seconds(bug, case), "devices": list(seen_on(bug, case.name))}
            for case in bug.cases.values()
        ],
    }


def _describe_case(case: Case) -> dict[str, Any]:
    return {
        "id": case.id,
        "title": case.title,
        "benign": case.benign,
        "realism": case.provenance.realism if case.provenance else None,
        "needs": list(case.program.needs),
        "trigger": case.truth.iteration,
        "seeds": list(case.program.seeds),
        "timeout_s": case.program.timeout_s,
        "parameters": dict(case.program.parameters),
        "scripts": {name: variant.script.name for name, variant in case.program.variants.items()},
        "expectations": [expectation.statement for expectation in case.oracle.expectations],
    }


def _versions(versions: Versions | None) -> dict[str, Any] | None:
    if versions is None:
        return None
    return {"package": versions.package, "versions": list(versions.versions), "change": versions.change}


def case_rows(bug: Bug) -> list[dict[str, Any]]:
    """A row for each case, of scalars: lists become texts with commas. `seconds` is NaN where it is not known."""
    described = describe(bug)
    rows = zip(bug.cases, described["cases"], strict=True)
    return [_row(described, name, case) for name, case in rows]


def _row(bug: dict[str, Any], name: str, case: dict[str, Any]) -> dict[str, Any]:
    return {
        "bug": bug["id"],
        "case": name,
        "title": case["title"],
        "bug_title": bug["title"],
        **bug["labels"],
        "realism": case["realism"],
        "environment": bug["environment"],
        "needs": ", ".join(case["needs"]),
        "seconds": math.nan if case["seconds"] is None else case["seconds"],
        "seeds": ", ".join(map(str, case["seeds"])),
        "benign": case["benign"],
        "devices": ", ".join(case["devices"]),
        "retired": bug["retired"],
        "trigger": case["trigger"],
        **{f"site_{part}": value for part, value in bug["site"].items()},
        "source": bug["source"],
    }
