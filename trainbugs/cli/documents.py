"""JSON for programs: what `--json` prints in the place of a table,
one document on standard output.
"""

import json
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from runner.bugs.catalogue_counts import HarmNumbers, Numbers

if TYPE_CHECKING:
    import pandas as pd

    from evaluation.model import Detector
    from evaluation.scoring.against import Against
    from runner.environments.spec import Built, Environment
    from runner.results.folder_index import FolderRecords
    from runner.results.record import RunRecord
    from runner.results.store import Store
    from runner.session.version_sweep import BugVersions
    from runner.studies.running import Results
    from runner.verdicts.outcome import Outcome

Document = dict[str, Any]

# Up to here a float knows every whole number.
EXACT = 2**53


def print_json(document: Document | Sequence[Document]) -> None:
    """Print a document, a value a line."""
    print(json.dumps(_plain(document), indent=1, allow_nan=False))


def print_rows(rows: Iterable[Document]) -> None:
    """Print a list of flat documents, each on one line, which is fast: there may be 100,000."""
    encode = json.JSONEncoder(allow_nan=False).encode
    lines = ",".join("\n " + encode(_plain_row(row)) for row in rows)
    print(f"[{lines}\n]" if lines else "[]")


def _plain_row(row: Document) -> Document:
    plain = row.copy()
    for key, value in row.items():
        if type(value) is float:
            plain[key] = _number(value)
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(element) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(element) for element in value]
    return _number(value) if isinstance(value, float) else value


def _number(value: float) -> float | str | None:
    """The number for JSON: whole numbers without a point, NaN as null, infinity as in records."""
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    is_exact = value.is_integer() and abs(value) < EXACT
    return int(value) if is_exact else value


def statistics_documents(numbers: Numbers, harms: HarmNumbers) -> Iterable[Document]:
    """A row for each list, entry and location; then a row for each code at fault and harm."""
    for name, entries in numbers.items():
        for entry, row in entries.items():
            for location, bugs in row.items():
                yield {"list": name, "entry": entry, "location": location, "bugs": bugs}
    for code, by_harm in harms.items():
        for harm, bugs in by_harm.items():
            yield {"list": "code_at_fault", "entry": code, "harm": harm, "bugs": bugs}


def outcome_document(outcome: "Outcome", store: "Store") -> Document:
    """A verdict with its checks, as in verdict.json, and the paths of the records behind it."""
    from runner.verdicts.outcome import summary

    return {
        "id": outcome.target.case.id,
        **to_builtins(summary(outcome)),
        "runs": len(outcome.records),
        "seconds": sum(record.wall_s for record in outcome.records),
        "paths": [str(store.record_path(record)) for record in outcome.records],
    }


def record_document(record: "RunRecord", store: "Store") -> Document:
    """A run and the last of its records, with the path of them all."""
    return {
        "id": f"{record.bug}/{record.case}/{record.variant}",
        "seed": record.seed,
        "repeat": record.repeat,
        "status": record.status,
        "reason": record.reason,
        "seconds": record.wall_s,
        "records": len(record.metrics),
        "last": dict(record.metrics[-1]) if record.metrics else None,
        "path": str(store.record_path(record)),
    }


def study_document(results: "Results") -> Document:
    """A study: how much of it is known, and a row for each cell."""
    study = results.study
    cells = []
    for cell in results.cells:
        axes = dict(zip(study.written.axes, cell.point.values, strict=True))
        values = {
            study.written.setting: cell.setting,
            "fixed": list(cell.fixed.values),
            "buggy": list(cell.buggy.values),
        }
        cells.append({**axes, **values, "label": cell.label})
    return {
        "id": study.id,
        "title": study.written.title,
        "points": len(study.points),
        "points_known": results.points,
        "invalid_runs": results.invalid,
        "cells": cells,
    }


def version_documents(sweep: "BugVersions") -> list[Document]:
    """A row for each case and environment."""
    bug = sweep.bug
    documents = []
    for case in bug.cases:
        for finding in sweep.findings:
            if finding.case == case:
                described = {"id": f"{bug.id}/{case}", "bug": bug.id, "package": bug.package}
                version = None if finding.version == "-" else finding.version
                documents.append({**described, **to_builtins(finding), "version": version})
    return documents


def run_documents(records: "FolderRecords[RunRecord]") -> Iterable[Document]:
    """A row for each run, with the path of its record."""
    return (row._asdict() | {"path": f"{records.root}/{row.path}"} for row in records.rows)


def environment_document(described: "Environment", built: "Built | None") -> Document:
    """An environment; `built` is its directory on disk, null where it is not built."""
    return {
        "name": described.name,
        "python": described.python,
        "torch": described.pins.get("torch"),
        "disk_gb": described.disk_gb,
        "lock": described.lock_hash,
        "built": str(built.directory) if built else None,
        "backend": built.backend if built else None,
    }


def detector_document(detector: "Detector") -> Document:
    """What detector.json says, and the detector's directory."""
    described: Document = to_builtins(detector, enc_hook=str)
    return described


def score_documents(scores: "pd.DataFrame") -> list[Document]:
    """A row for each detector, kind of references and rule, as in scores.json."""
    rows: list[Document] = json.loads(scores.to_json(orient="records"))
    return rows


def against_document(against: "Against") -> Document:
    """A detector against others: the pairs, and who finds each case."""
    pairs: list[Document] = json.loads(against.versus.to_json(orient="records"))
    cases: list[Document] = json.loads(against.cases.to_json(orient="records"))
    return {"versus": pairs, "cases": cases}
