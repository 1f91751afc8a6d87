"""Marks of a record: the kind of fixed twin, known bugs, what the detector got,
when rules were declared.
"""

from collections.abc import Mapping
from typing import Literal

from evaluation.catalog.declared import DeclaredPrograms
from evaluation.catalog.frozen import Frozen
from evaluation.keys import rule_digest
from evaluation.model import CONTROL, Rule
from evaluation.records import CheckRecord

RuleSince = Literal["before", "post hoc"]


def twin_of(record: CheckRecord, declared: DeclaredPrograms) -> str | None:
    """The kind of fixed twin, as the case declares it: released, proposed or a work-around.

    Of a case that declares nothing, a fault in the script is mended there by its author's proposal.
    A fault in a package stays there: its file has a folder, and the fixed script does something
    else in the same release.
    """
    if record.kind == CONTROL:
        return None
    fix = declared.fixes.get(f"{record.bug}/{record.case}")
    return fix or ("work-around" if "/" in record.site.file else "proposed")


def is_known(record: CheckRecord, frozen: Mapping[str, Frozen], rule: str) -> bool | None:
    """Whether the bug was used to write or set up the rule; None unless the version is frozen."""
    detector = frozen.get(record.detector)
    if detector is None or detector.version != record.version or record.kind == CONTROL:
        return None
    return record.bug in detector.known_to(rule)


def is_oracle(record: CheckRecord) -> bool:
    """Whether the detector got the text of the fixed twin, as all did before that was noted."""
    return record.references == "same" and record.reference_text is not False


def rule_since(record: CheckRecord, rule: Rule) -> RuleSince | None:
    """Whether a rule was declared before the check, by any name;
    None for older records without the note.
    """
    if record.declared is None:
        return None
    return "before" if rule_digest(rule) in record.declared.values() else "post hoc"
