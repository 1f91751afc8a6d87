"""The rows of the tables that can be searched: bugs, scores, pages of the documentation."""

from collections.abc import Mapping, Sequence

from runner.bugs.taxonomy import LISTS, REALISM
from runner.verdicts.affected import version_order
from trainbugs.facts import BUG_FACTS, CASE_FACTS
from trainbugs.website.bug import BugPart
from trainbugs.website.evaluations import ABSENT, ALL, RATES, Evaluation, Score
from trainbugs.website.markdown import Text
from trainbugs.website.tables import Facet, Indexed, facet, words

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


def found_by(part: BugPart, evaluation: Evaluation) -> list[str]:
    """The detectors with their rules that found a bug; one entry that says so where none did, ran, or was asked."""
    answers = evaluation.of(part.bug.id)
    if not answers:
        return [UNKNOWN]
    ran = any(answer.state != ABSENT for answer in answers)
    return evaluation.finders(part.bug.id) or [NOBODY if ran else UNRUN]


def of_bugs(
    parts: Sequence[BugPart], evaluation: Evaluation, stories: Mapping[str, str]
) -> list[Indexed]:
    """A row for each bug, found by all words of its labels and its story."""
    return [
        _of_bug(part, found_by(part, evaluation), stories.get(part.bug.id, "")) for part in parts
    ]


def _of_bug(part: BugPart, found: Sequence[str], story: str) -> Indexed:
    bug, labels = part.bug, part.bug.labels
    realism = sorted(BUG_FACTS["realisms"].take(bug))
    classes = {name: BUG_FACTS[name].cell(bug) for name in CLASSES}
    number = (
        None if found[0] == UNKNOWN else 0.0 if found[0] in (NOBODY, UNRUN) else float(len(found))
    )
    return Indexed(
        bug.id,
        words(
            bug.id,
            bug.title,
            labels.root_cause,
            labels.symptom,
            bug.site.api,
            *filter(None, classes.values()),
            story,
        ),
        {name: [value] for name, value in classes.items() if value}
        | {"release": part.seen_in, "found": list(found), "realism": realism},
        {"id": bug.id, "title": bug.title, **classes, "cases": float(len(part.cases))}
        | {"seconds": part.seconds, "found": number},
    )


def bug_facets(rows: Sequence[Indexed]) -> list[Facet]:
    """The filters of the bugs."""
    releases = {release for row in rows for release in row.facets.get("release", ())}
    order = sorted(
        releases,
        key=lambda text: (text.split()[0] != "torch", text.split()[0], version_order(text)),
    )
    return [
        *(facet(name, BUG_FACTS[name].heading, rows, LISTS[name]) for name in CLASSES),
        facet("release", "Seen in", rows, order),
        facet("found", FINDERS, rows, (NOBODY, UNRUN, UNKNOWN)),
        facet("realism", BUG_FACTS["realisms"].heading, rows, REALISM),
    ]


def of_scores(scores: Sequence[Score], needs: Mapping[str, Sequence[str]]) -> list[Indexed]:
    """A row for each score; `needs` has what each detector looks at."""
    return [
        Indexed(
            str(number),
            words(score.label, score.group),
            {"group": [score.group], "detector": [score.detector], "references": [score.references]}
            | {
                "needs": list(needs.get(score.detector, ())),
                "kind": [NEGATIVE if score.negative else DETECTOR],
            }
            | {"rule": [REJECTED if score.chosen is False else CHOSEN]},
            {
                "detector": score.label,
                "group": score.group,
                "delay": score.delay,
                "overhead": score.overhead,
            }
            | {name: rate.rate for name, rate in score.rates.items()},
        )
        for number, score in enumerate(scores)
    ]


def score_facets(rows: Sequence[Indexed]) -> list[Facet]:
    """The filters of the leaderboard: at first it shows the scores on all evaluated bugs."""
    chosen = ALL if any(ALL in row.facets["group"] for row in rows) else ""
    return [
        facet("group", "Bugs", rows, (ALL, *LISTS["location"]), chosen, counted=False),
        facet("detector", "Detector", rows),
        facet("needs", "Looks at", rows),
        facet("references", "Learns from", rows, ("none", "same", "cross")),
        facet("kind", "Kind", rows, (DETECTOR, NEGATIVE)),
        facet("rule", "Rule", rows, (CHOSEN, REJECTED)),
    ]


def of_pages(pages: Mapping[str, Text]) -> list[Indexed]:
    """A row for each page of the documentation, by its place."""
    return [
        Indexed(place, words(text.title, text.words), {}, {"title": text.title})
        for place, text in pages.items()
    ]
