"""Marks of a record: what the fixed twin is, whether the bug was known, what the detector was given, which rules."""

from collections.abc import Mapping
from typing import Literal

from evaluation.catalog.frozen import Frozen
from evaluation.keys import rule_digest
from evaluation.model import CONTROL, Rule
from evaluation.records import CheckRecord

RuleSince = Literal["before", "post hoc"]


def twin_of(record: CheckRecord) -> str | None:
    """What the fixed twin of a program is: the mended fault where that is in the script, else a work-around.

    A fault in a package stays there: the fixed script does something else in the same release. Of a file of a package
    the site has the folder too; the script and what lies beside it have none.
    """
    if record.kind == CONTROL:
        return None
    return "work-around" if "/" in record.site.file else "real fix"


def is_known(record: CheckRecord, frozen: Mapping[str, Frozen], rule: str) -> bool | None:
    """Whether what a rule counts was written or set up by the bug, too; None unless that is frozen, at this version."""
    detector = frozen.get(record.detector)
    if detector is None or detector.version != record.version or record.kind == CONTROL:
        return None
    return record.bug in detector.known_to(rule)


def is_oracle(record: CheckRecord) -> bool:
    """Whether the detector was given the text of the fixed twin, as any was before that was noted."""
    return record.references == "same" and record.reference_text is not False


def rule_since(record: CheckRecord, rule: Rule) -> RuleSince | None:
    """Whether a rule was declared before the check, by any name; None for records from before that was noted."""
    if record.declared is None:
        return None
    return "before" if rule_digest(rule) in record.declared.values() else "post hoc"
