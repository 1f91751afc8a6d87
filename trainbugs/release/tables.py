"""The tables of a release, from the committed records: one row a bug, case, script, run, and answer of a detector."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from msgspec import to_builtins

from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.catalog import Catalog
from runner.bugs.labels import Versions
from runner.bugs.program import Variant
from runner.bugs.taxonomy import Location
from runner.errors import ResultsError
from runner.execution.key import read_scripts
from runner.results.record import RunRecord
from trainbugs import sources
from trainbugs.descriptions import case_rows

if TYPE_CHECKING:
    import pandas as pd

    from evaluation.store.committed import CommittedChecks

Row = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """A table, what a row of it is, and what its columns say."""

    name: str
    row: str
    columns: Mapping[str, str]
    frame: "pd.DataFrame"


LABELS = {
    "location": f"where the fault is: {', '.join(get_args(Location))}",
    "cause": "of the closed list of the taxonomy",
    "effect": "of the closed list of the taxonomy",
    "stage": "of training, of the closed list of the taxonomy",
    "root_cause": "in one sentence",
    "symptom": "in one sentence",
}
SITE = {
    "site_file": "file of the fault: a script, or a file of the package at fault",
    "site_line": "line in that file, where the fault is at one",
    "site_api": "API that is misused or broken",
}
ORIGIN = {
    "realism": "how near the program is to the report's: original, adapted or re-created",
    "differs": "what differs from the report's program",
    "derived_from": "links, one a line",
    "authors": "of what it is derived from, one a line",
    "licences": "of what it is derived from, one a line; the text itself is under the licence of the dataset",
}
COLUMNS = {
    "bugs": {
        "bug": "public identifier",
        "title": "what happens, in one line",
        "source": "where it was reported",
        **LABELS,
        **SITE,
        "affected": "releases that have the fault, where it is one of a package",
        "fixed": "releases that have the fix",
        "retired": "why the bug runs no more by default; empty for all others",
        **ORIGIN,
    },
    "cases": {
        "bug": "public identifier",
        "case": "name of the case",
        "title": "what is special about it",
        "environment": "pinned environment in which it runs",
        "seconds": "of all expected runs on a CPU together",
        "seeds": "separated by commas",
        "trigger": "iteration, from 1, in which the fault first acts",
        "benign": "whether the code is wrong and no harm is expected",
        "needs": "what the machine must bring",
        "devices": "on which kinds of device there are expected records",
        "parameters": "of the program, as a JSON object",
        "expectations": "the written oracle, one statement a line",
    },
    "scripts": {
        "bug": "public identifier",
        "case": "name of the case",
        "variant": "buggy or fixed",
        "file": "its name",
        "main": "whether it is the program that is run; all others are what it imports, or the probe that measures",
        "text": "the program",
        "sha256": "of the text in UTF-8",
        **ORIGIN,
    },
    "runs": {
        "bug": "public identifier",
        "case": "name of the case",
        "variant": "buggy or fixed",
        "seed": "of the run",
        "environment": "pinned environment",
        "torch": "its release",
        "python": "its release",
        "device": "on which it ran",
        "machine": "the processor",
        "threads": "of torch",
        "status": "ok, or how the run failed",
        "wall_s": "seconds of the whole run",
        "peak_memory_mb": "megabytes of main memory",
        "started": "date and time in UTC",
        "revision": "of the repository",
        "records": "number of records that the program wrote",
        "metrics": "these records, as a JSON list of objects",
    },
    "outcomes": {
        "detector": "name",
        "version": "of the tool",
        "references": "which clean runs it learnt from",
        "rule": "alarm rule",
        "kind": "buggy, fixed or control",
        "bug": "public identifier; control for a control",
        "case": "name of the case or control",
        "seed": "of the program",
        "benign": "as of the case",
        "status": "ok, or why there is no answer",
        "alarmed": "whether the rule counts an alarm",
        "alarms": "how many it counts, of those that were kept",
        "first": "iteration of the first one",
        "delay": "iterations from the trigger to it",
        "early": "whether it came before the trigger",
        "diagnosis": "how the alarm names the site: exact, near or no",
    },
}
COLUMNS["rewritten_outcomes"] = {
    "rewriting": "how the program was rewritten, and by which seed: perturb-1, plant-1",
    **COLUMNS["outcomes"],
}
ROWS = {
    "bugs": "a bug: story, labels, ground truth and provenance",
    "cases": "a case of a bug: one program in two variants, with its oracle",
    "scripts": "a file of a variant of a case",
    "runs": "an expected run: its record, with all metrics",
    "outcomes": "what a detector said of a program, by one alarm rule",
    "rewritten_outcomes": "the same of a program that was rewritten, or has a planted fault",
}
# Left out where nothing of it is committed: a column without a value has no type.
OPTIONAL = ("rewritten_outcomes",)


def tables(catalog: Catalog) -> tuple[list[Table], Sequence[str]]:
    """All tables, and a line for each file that cannot be read."""
    import pandas as pd

    from evaluation.store.committed import CommittedChecks

    bugs, problems = catalog.readable()
    records, unread = sources.expected(catalog, [bug.id for bug in bugs])
    rows: dict[str, Iterable[Row]] = {
        "bugs": map(_bug, bugs),
        "cases": (row for bug in bugs for row in _cases(bug)),
        "scripts": (row for bug in bugs for row in _scripts(bug)),
        "runs": map(_run, records),
    }
    frames = {
        name: pd.DataFrame(list(each), columns=list(COLUMNS[name])) for name, each in rows.items()
    }
    expected = CommittedChecks(catalog.root / "detectors" / "expected")
    problems = [*problems, *unread]
    # Never in one table: no rate is of both.
    for name, folders in (("outcomes", [expected]), ("rewritten_outcomes", expected.rewritten)):
        frames[name] = _outcomes(folders, name, problems)
    kept = {name: frame for name, frame in frames.items() if len(frame) or name not in OPTIONAL}
    made = [Table(name, ROWS[name], COLUMNS[name], _typed(frame)) for name, frame in kept.items()]
    return made, problems


def _typed(frame: "pd.DataFrame") -> "pd.DataFrame":
    """With types that know missing values; a column without any value is one of texts."""
    typed = frame.convert_dtypes()
    return typed.astype(
        {name: "string" for name, kind in typed.dtypes.items() if str(kind) == "object"}
    )


def _bug(bug: Bug) -> Row:
    site = {f"site_{name}": value for name, value in to_builtins(bug.site).items()}
    versions = {"affected": _versions(bug.affected), "fixed": _versions(bug.fixed)}
    row = {"bug": bug.id, "title": bug.title, "source": bug.source, "retired": bug.retired}
    return {**row, **to_builtins(bug.labels), **site, **versions, **_origin(bug, None)}


def _versions(versions: Versions | None) -> str | None:
    return (
        None
        if versions is None
        else ", ".join(f"{name} {what}" for name, what in to_builtins(versions).items())
    )


def _cases(bug: Bug) -> Iterator[Row]:
    for row, case in zip(case_rows(bug), bug.cases.values(), strict=True):
        more = {
            "parameters": json.dumps(dict(case.program.parameters)),
            "expectations": "\n".join(each.statement for each in case.oracle.expectations),
        }
        yield {name: value for name, value in (row | more).items() if name in COLUMNS["cases"]}


def _scripts(bug: Bug) -> Iterator[Row]:
    for case in bug.cases.values():
        for variant in case.program.variants.values():
            yield from _files(bug, case, variant)


def _files(bug: Bug, case: Case, variant: Variant) -> Iterator[Row]:
    for name, content in read_scripts(bug, variant).items():
        yield {
            "bug": bug.id,
            "case": case.name,
            "variant": variant.name,
            "file": name,
            "main": name == variant.script.name,
            "text": content.decode(),
            "sha256": hashlib.sha256(content).hexdigest(),
            **_origin(bug, case),
        }


def _origin(bug: Bug, case: Case | None) -> Row:
    known = (case and case.provenance) or bug.provenance
    if known is None:
        return {}
    of = {"derived_from": "link", "authors": "author", "licences": "licence"}
    lists = {
        name: "\n".join(getattr(origin, key) for origin in known.derived_from)
        for name, key in of.items()
    }
    return {"realism": known.realism, "differs": known.differs, **lists}


def _run(record: RunRecord) -> Row:
    row = to_builtins(record)
    more = {"records": len(record.metrics), "metrics": json.dumps(row["metrics"], allow_nan=False)}
    return {name: value for name, value in (row | more).items() if name in COLUMNS["runs"]}


def _outcomes(
    expected: Iterable["CommittedChecks"], name: str, problems: list[str]
) -> "pd.DataFrame":
    """What detectors said of the programs of some folders; a file that cannot be read is a line in `problems`."""
    import pandas as pd

    from evaluation.scoring.scores import outcomes

    frames = []
    for each in expected:
        try:
            read = each.read()
        except ResultsError as error:
            problems.append(str(error))
            continue
        if read.checks:
            frames.append(outcomes(read.checks, read.rules).assign(rewriting=each.rewriting))
    return (pd.concat(frames) if frames else pd.DataFrame()).reindex(columns=list(COLUMNS[name]))
