"""SARIF 2.1.0 of a watched program, as code scanning services read it."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from evaluation.watching.cures import CURES
from evaluation.watching.document import WatchDocument, WatchFinding
from evaluation.watching.invariants import Invariant

SCHEMA_URI = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
LEVELS = {"error": "error", "warning": "warning", "info": "note"}
SUPPRESSIONS = {"comment": "inSource", "baseline": "external"}


def sarif_text(document: WatchDocument, invariants: Sequence[Invariant]) -> str:
    """A log with one run, whose rules are all invariants."""
    places = {invariant.name: number for number, invariant in enumerate(invariants)}
    driver = {
        "name": "trainbugs watch",
        "version": document.trainbugs,
        "rules": [_rule(invariant) for invariant in invariants],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": document.status == 0, "exitCode": document.status}],
        "results": [_result(finding, document, places) for finding in document.findings],
        "properties": {"torch": document.torch, "answer": document.answer},
    }
    log = {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=1) + "\n"


def _rule(invariant: Invariant) -> dict[str, Any]:
    rule = {
        "id": invariant.name,
        "shortDescription": {"text": invariant.statement},
        "defaultConfiguration": {"level": LEVELS[invariant.severity]},
    }
    if invariant.name in CURES:
        rule["help"] = {"text": CURES[invariant.name]}
    return rule


def _result(
    finding: WatchFinding, document: WatchDocument, places: dict[str, int]
) -> dict[str, Any]:
    cure = f". What may mend it: {finding.cure}" if finding.cure else ""
    result: dict[str, Any] = {
        "ruleId": finding.invariant,
        "level": LEVELS[finding.severity],
        "message": {"text": f"{finding.message}{cure}"},
        "properties": {"iteration": finding.iteration, "api": finding.api},
    }
    if finding.invariant in places:
        result["ruleIndex"] = places[finding.invariant]
    if finding.silenced:
        result["suppressions"] = [{"kind": SUPPRESSIONS[finding.silenced]}]
    # Services show no result without a file.
    file = finding.file or (None if document.module else document.script)
    if file:
        result["locations"] = [_location(file, finding.line)]
    return result


def _location(file: str, line: int | None) -> dict[str, Any]:
    path = Path(file)
    uri = path.as_uri() if path.is_absolute() else quote(os.fsencode(path))
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if line is not None:
        physical["region"] = {"startLine": line}
    return {"physicalLocation": physical}
