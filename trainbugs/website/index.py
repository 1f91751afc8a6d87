"""The rows of the tables that can be searched: bugs, scores, pages of the documentation."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.scoring.case_state import ABSENT
from runner.bugs.bug import Bug
from runner.bugs.taxonomy import DECLARED, LISTS, REALISM
from runner.verdicts.affected import version_order
from trainbugs.facts import BUG_FACTS, CASE_FACTS
from trainbugs.website.bug import BugPart
from trainbugs.website.evaluations import ALL, RATES, Evaluation, Score
from trainbugs.website.markdown import Text
from trainbugs.website.tables import Facet, Indexed, Value, facet, words

NOBODY, UNRUN, UNKNOWN = "none of those that ran", "none ran", "not evaluated yet"
FINDERS = "Alarm on buggy only"
DETECTOR, NEGATIVE = "detector", "negative control"
CHOSEN, REJECTED = "chosen, or the only one", "others"
CLASSES = ("location", "cause", "effect", "stage")
BUG_COLUMNS = (
    *((name, BUG_FACTS[name].heading) for name in ("id", "title", *CLASSES)),
    ("cases", "Cases"),
    ("seconds", CASE_FACTS["seconds"].heading),
    ("found", FINDERS),
)
SCORE_COLUMNS = (
    ("detector", "Detector"),
    ("group", "Bugs"),
    *RATES.items(),
    ("delay", "Delay"),
    ("", "Site"),
    ("", "Benign"),
    ("overhead", "Overhead"),
    ("", "Did not run"),
)


def finders(bug: Bug, evaluation: Evaluation) -> list[str]:
    """The detectors with their rules that found a bug; one entry that says so where none did, ran,
    or was asked.
    """
    answers = evaluation.answers_about(bug.id)
    if not answers:
        return [UNKNOWN]
    if all(answer.state == ABSENT for answer in answers):
        return [UNRUN]
    return evaluation.finders(bug.id) or [NOBODY]


def bug_rows(
    parts: Sequence[BugPart], evaluation: Evaluation, stories: Mapping[str, str]
) -> list[Indexed]:
    """A row for each bug, found by all words of its labels and its story."""
    rows = []
    for part in parts:
        story = stories.get(part.bug.id, "")
        rows.append(_bug_row(part, finders(part.bug, evaluation), story))
    return rows


def _bug_row(part: BugPart, detectors: Sequence[str], story: str) -> Indexed:
    bug, labels = part.bug, part.bug.labels
    classes = {name: BUG_FACTS[name].cell(bug) for name in CLASSES}
    entries = [entry for entry in classes.values() if entry]
    texts = (bug.id, bug.title, labels.root_cause, labels.symptom, bug.site.api, *entries, story)
    facets = {name: [entry] for name, entry in classes.items() if entry}
    facets |= {
        "release": part.seen_in,
        "found": list(detectors),
        "realism": sorted(BUG_FACTS["realisms"].take(bug)),
    }
    if bug.declared:
        facets |= {name: [entry] for name, entry in bug.declared.entries.items()}
        facets["family"] = [bug.declared.family] if bug.declared.family else []
    order = {
        "id": bug.id,
        "title": bug.title,
        **classes,
        "cases": float(len(part.cases)),
        "seconds": part.seconds,
        "found": _detector_count(detectors),
    }
    return Indexed(bug.id, words(*texts), facets, order)


def _detector_count(detectors: Sequence[str]) -> float | None:
    """How many detectors found a bug; None where nobody knows."""
    if detectors[0] == UNKNOWN:
        return None
    return 0.0 if detectors[0] in (NOBODY, UNRUN) else float(len(detectors))


def bug_facets(rows: Sequence[Indexed]) -> list[Facet]:
    """The filters of the bugs."""
    releases = {release for row in rows for release in row.facets.get("release", ())}
    return [
        *(facet(name, BUG_FACTS[name].heading, rows, LISTS[name]) for name in CLASSES),
        facet("release", "Seen in", rows, sorted(releases, key=_release_order)),
        facet("found", FINDERS, rows, (NOBODY, UNRUN, UNKNOWN)),
        facet("realism", BUG_FACTS["realisms"].heading, rows, REALISM),
        *(
            facet(name, BUG_FACTS[name].heading, rows, entries)
            for name, entries in DECLARED.items()
        ),
        facet("family", BUG_FACTS["family"].heading, rows),
    ]


def _release_order(release: str) -> tuple[Any, ...]:
    """What sorts releases, like "torch 2.1": those of torch come first."""
    package = release.split()[0]
    return package != "torch", package, version_order(release)


def score_rows(scores: Sequence[Score], needs: Mapping[str, Sequence[str]]) -> list[Indexed]:
    """A row for each score; `needs` has what each detector looks at."""
    rows = []
    for number, score in enumerate(scores):
        detector_needs = needs.get(score.detector, ())
        rows.append(_score_row(str(number), score, list(detector_needs)))
    return rows


def _score_row(key: str, score: Score, needs: list[str]) -> Indexed:
    facets = {
        "group": [score.group],
        "detector": [score.detector],
        "references": [score.references],
        "needs": needs,
        "kind": [NEGATIVE if score.negative else DETECTOR],
        "rule": [REJECTED if score.chosen is False else CHOSEN],
    }
    order: dict[str, Value] = {
        "detector": score.label,
        "group": score.group,
        "delay": score.delay,
        "overhead": score.overhead,
    }
    order |= {name: rate.rate for name, rate in score.rates.items()}
    return Indexed(key, words(score.label, score.group), facets, order)


def score_facets(rows: Sequence[Indexed]) -> list[Facet]:
    """The filters of the leaderboard: at first it shows the scores on all evaluated bugs."""
    has_all = any(ALL in row.facets["group"] for row in rows)
    first = ALL if has_all else ""
    return [
        facet("group", "Bugs", rows, (ALL, *LISTS["location"]), first, counted=False),
        facet("detector", "Detector", rows),
        facet("needs", "Looks at", rows),
        facet("references", "Learns from", rows, ("none", "same", "cross")),
        facet("kind", "Kind", rows, (DETECTOR, NEGATIVE)),
        facet("rule", "Rule", rows, (CHOSEN, REJECTED)),
    ]


def page_rows(pages: Mapping[str, Text]) -> list[Indexed]:
    """A row for each page of the documentation, by its place."""
    return [
        Indexed(place, words(text.title, text.words), {}, {"title": text.title})
        for place, text in pages.items()
    ]
