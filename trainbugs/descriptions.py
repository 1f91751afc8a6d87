"""Bugs and their cases as rows of a table, and as documents."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from runner.bugs.bug import Bug
from runner.bugs.catalog import Catalog
from runner.bugs.catalogue_counts import count_families, count_harm
from runner.bugs.taxonomy import DECLARED
from trainbugs.facts import BUG_FACTS, CASE_FACTS, DTYPES, BugCase

# The columns of a table of cases.
CASE_COLUMNS = (
    "bug",
    "case",
    "title",
    "bug_title",
    "location",
    "root_cause",
    "symptom",
    "cause",
    "effect",
    "stage",
    "realism",
    "harm",
    "code_at_fault",
    "fix",
    "state_upstream",
    "source_read",
    "family",
    "split",
    "environment",
    "needs",
    "seconds",
    "seeds",
    "further_seeds",
    "benign",
    "devices",
    "retired",
    "trigger",
    "site_file",
    "site_line",
    "site_api",
    "source",
)
# The fields of documents, in their order.
BUG_FIELDS = (
    "id",
    "title",
    "source",
    "labels",
    "site",
    "provenance",
    "declared",
    "family",
    "environment",
    "retired",
    "affected",
    "fixed",
    "directory",
    "can_be_injected",
    "shows_why",
)
CASE_FIELDS = (
    "id",
    "title",
    "benign",
    "never_run",
    "harm",
    "fix",
    "provenance",
    "needs",
    "trigger",
    "seeds",
    "further_seeds",
    "timeout_s",
    "parameters",
    "parameter_origins",
    "scripts",
    "expectations",
    "seconds",
    "devices",
)


def case_rows(bug: Bug) -> list[dict[str, Any]]:
    """A row for each case, of scalars: lists become texts with commas. `seconds` is NaN where it is
    not known.
    """
    rows = []
    for case in bug.cases.values():
        subject = BugCase(bug, case)
        rows.append({name: CASE_FACTS[name].cell(subject) for name in CASE_COLUMNS})
    return rows


def case_dtypes() -> dict[str, str]:
    """The types of the columns of a table of cases, where pandas would guess others."""
    kinds = {name: CASE_FACTS[name].kind for name in CASE_COLUMNS}
    return {name: DTYPES[kind] for name, kind in kinds.items() if kind in DTYPES}


def bug_document(bug: Bug) -> dict[str, Any]:
    """What is known of a bug, with its cases."""
    document = {name: BUG_FACTS[name].value(bug) for name in BUG_FIELDS}
    return {
        **document,
        "cases": [_case_document(BugCase(bug, case)) for case in bug.cases.values()],
    }


def _case_document(subject: BugCase) -> dict[str, Any]:
    return {name: CASE_FACTS[name].value(subject) for name in CASE_FIELDS}


def harm_rows(bugs: Sequence[Bug]) -> list[list[str]]:
    """Numbers of bugs by whose code is at fault and by harm, as a table;
    the last line has the families.

    Injected faults are outside of the sums.
    """
    kinds = DECLARED["harm"]
    numbers = count_harm(bugs)
    table = [["code at fault, by harm", *kinds, "all"]]
    for code, row in numbers.items():
        name = f"{code} by us (not counted)" if code == "injected" else code
        counts = [str(row[kind] or ".") for kind in kinds]
        table.append([name, *counts, str(sum(row.values()))])
    counted = [row for code, row in numbers.items() if code != "injected"]
    totals = [sum(map(itemgetter(kind), counted)) for kind in kinds]
    table.append(["all", *map(str, totals), str(sum(totals))])
    families = str(count_families(bugs))
    return [*table, ["families (variants of one fault)", *[""] * len(kinds), families]]


def locations(catalog: Catalog) -> dict[str, str]:
    """The location of each bug that can be read, by its ID."""
    bugs, _ = catalog.readable()
    return {bug.id: bug.labels.location for bug in bugs}
