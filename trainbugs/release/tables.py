"""The tables of a release, from the committed records: one row a bug, case, script, run,
and answer of a detector.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.catalog import Catalog
from runner.bugs.config import REWRITTEN
from runner.bugs.program import Variant
from runner.errors import ResultsError
from runner.execution.key import read_scripts
from runner.results.record import RUN_FORMAT, RunRecord
from trainbugs.facts import BUG_FACTS, CASE_FACTS, PROVENANCE_FACTS, BugCase
from trainbugs.run_records import read_expected

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


DECLARED = (
    "harm",
    "harm_choices",
    "code_at_fault",
    "state_upstream",
    "source_read",
    "family",
    "split",
)
ORIGIN = ("realism", "differs", "derived_from", "authors", "licences")
# The columns of bugs and of cases: the names of their facts.
BUG_COLUMNS = {
    "bug": "id",
    "title": "title",
    "source": "source",
    "location": "location",
    "cause": "cause",
    "effect": "effect",
    "stage": "stage",
    "root_cause": "root_cause",
    "symptom": "symptom",
    "site_file": "site_file",
    "site_line": "site_line",
    "site_api": "site_api",
    "affected": "affected",
    "fixed": "fixed",
    "retired": "retired",
    **{name: name for name in DECLARED},
    **{name: name for name in ORIGIN},
}
CASE_COLUMNS = (
    "bug",
    "case",
    "title",
    "environment",
    "seconds",
    "seeds",
    "further_seeds",
    "trigger",
    "benign",
    "never_run",
    "harm",
    "fix",
    "needs",
    "devices",
    "parameters",
    "parameter_origins",
    "expectations",
)
COLUMNS = {
    "bugs": {column: BUG_FACTS[name].description for column, name in BUG_COLUMNS.items()},
    "cases": {name: CASE_FACTS[name].description for name in CASE_COLUMNS},
    "scripts": {
        "bug": "public identifier",
        "case": "name of the case",
        "variant": "buggy or fixed",
        "file": "its name",
        "main": (
            "whether it is the program that is run; all others are what it imports, or the probe "
            "that measures"
        ),
        "text": "the program",
        "sha256": "of the text in UTF-8",
        **{name: PROVENANCE_FACTS[name].description for name in ORIGIN},
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
    "rewritten_outcomes": "the same of a program that was rewritten, or has a planted fault; the "
    "records may be of an earlier kit",
}
# Left out where nothing of it is committed: a column without a value has no type.
OPTIONAL = ("rewritten_outcomes",)


def tables(catalog: Catalog) -> tuple[list[Table], Sequence[str]]:
    """All tables, and a line for each file that cannot be read."""
    bugs, _ = catalog.readable()
    # Its problems name the bugs that cannot be read, too.
    records, unreadable = read_expected(catalog, ())
    problems = list(unreadable)
    frames = {
        "bugs": _frame("bugs", map(_bug, bugs)),
        "cases": _frame("cases", (row for bug in bugs for row in _cases(bug))),
        "scripts": _frame("scripts", (row for bug in bugs for row in _scripts(bug))),
        "runs": _frame("runs", map(_run, records)),
    }
    frames |= _outcome_frames(catalog, problems)
    release = []
    for name, frame in frames.items():
        if len(frame) or name not in OPTIONAL:
            release.append(Table(name, ROWS[name], COLUMNS[name], _typed(frame)))
    return release, problems


def _frame(name: str, rows: Iterable[Row]) -> "pd.DataFrame":
    """The rows of a table with its columns."""
    import pandas as pd

    return pd.DataFrame(list(rows), columns=list(COLUMNS[name]))


def _outcome_frames(catalog: Catalog, problems: list[str]) -> "dict[str, pd.DataFrame]":
    """The outcomes of published and of rewritten programs, never in one table:
    no rate is of both.
    """
    from evaluation.reading.load import committed_folder, folder_with
    from evaluation.store.committed import CommittedChecks

    published = CommittedChecks(committed_folder(catalog.root))
    rewritten = CommittedChecks(folder_with(catalog.root, REWRITTEN)).rewritten
    return {
        "outcomes": _outcomes([published], "outcomes", problems),
        "rewritten_outcomes": _outcomes(rewritten, "rewritten_outcomes", problems),
    }


def _typed(frame: "pd.DataFrame") -> "pd.DataFrame":
    """With types that know missing values; a column without any value is one of texts."""
    typed = frame.convert_dtypes()
    return typed.astype(
        {name: "string" for name, kind in typed.dtypes.items() if str(kind) == "object"}
    )


def _bug(bug: Bug) -> Row:
    return {column: BUG_FACTS[name].cell(bug) for column, name in BUG_COLUMNS.items()}


def _cases(bug: Bug) -> Iterator[Row]:
    for case in bug.cases.values():
        subject = BugCase(bug, case)
        yield {name: CASE_FACTS[name].cell(subject) for name in CASE_COLUMNS}


def _scripts(bug: Bug) -> Iterator[Row]:
    for case in bug.cases.values():
        for variant in case.program.variants.values():
            yield from _files(bug, case, variant)


def _files(bug: Bug, case: Case, variant: Variant) -> Iterator[Row]:
    provenance = case.provenance or bug.provenance
    for name, content in read_scripts(bug, variant).items():
        yield {
            "bug": bug.id,
            "case": case.name,
            "variant": variant.name,
            "file": name,
            "main": name == variant.script.name,
            "text": content.decode(),
            "sha256": hashlib.sha256(content).hexdigest(),
            **{fact: PROVENANCE_FACTS[fact].cell(provenance) for fact in ORIGIN},
        }


def _run(record: RunRecord) -> Row:
    row = RUN_FORMAT.dump(record)
    row["records"] = len(record.metrics)
    row["metrics"] = json.dumps(row["metrics"], allow_nan=False)
    return {name: row.get(name) for name in COLUMNS["runs"]}


def _outcomes(
    expected: Iterable["CommittedChecks"], name: str, problems: list[str]
) -> "pd.DataFrame":
    """What detectors said of the programs of some folders;
    a file that cannot be read is a line in `problems`.
    """
    import pandas as pd

    from evaluation.scoring.outcomes import outcomes

    frames = []
    for folder in expected:
        try:
            records = folder.read()
        except ResultsError as error:
            problems.append(str(error))
            continue
        if records.checks:
            table = outcomes(records.checks, records.rules)
            frames.append(table.assign(rewriting=folder.rewriting))
    joined = pd.concat(frames) if frames else pd.DataFrame()
    return joined.reindex(columns=list(COLUMNS[name]))
