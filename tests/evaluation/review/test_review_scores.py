"""Scores of reviews, of answers whose scores are known beforehand."""

from itertools import count

import pytest

from evaluation.records import FaultSite
from evaluation.review.answers import ReviewAnswer, Suspect
from evaluation.review.scoring import auroc, score_reviews
from evaluation.review.tasks import KeyEntry, ReviewKey

SITE = FaultSite("program.py", 40, "torch.optim.Optimizer.step")


def entry(bug, kind, family=None):
    site = None if kind == "control" else SITE
    return KeyEntry(bug, "only", kind, family or bug, None, True, site, "0" * 64)


@pytest.fixture
def key():
    numbers = count()
    entries = [entry(f"bug-{n}", kind) for n in range(4) for kind in ("buggy", "fixed")]
    entries += [entry("control", "control")] * 2
    return ReviewKey(1, 2, "", {f"{next(numbers):016x}": item for item in entries})


def answers(key, suspicion, model="m", **more):
    """An answer to each task, whose suspicion a function gives."""
    return [ReviewAnswer(name, suspicion(item), model, **more) for name, item in key.tasks.items()]


def only(scores):
    (score,) = scores
    return score


def test_who_knows_all_has_full_scores(key):
    all_known = answers(key, lambda item: 90 if item.kind == "buggy" else 10)
    score = only(score_reviews(key, all_known))
    assert (score.paired, score.pairs, score.auroc, score.ordered) == (4, 4, 1.0, 1.0)
    assert (score.accused_fixed, score.accused_controls) == (0, 0)
    assert score.auroc_interval == (1.0, 1.0)


def test_who_accuses_everything_finds_no_pair(key):
    score = only(score_reviews(key, answers(key, lambda item: 100)))
    assert (score.paired, score.auroc, score.ordered) == (0, 0.5, 0.5)
    assert (score.accused_fixed, score.accused_controls) == (4, 2)


def test_the_threshold_counts_as_accused(key):
    at = answers(key, lambda item: 50 if item.kind == "buggy" else 49)
    assert only(score_reviews(key, at)).paired == 4
    assert only(score_reviews(key, at, threshold=51)).paired == 0


def test_a_fixed_program_at_the_threshold_is_accused(key):
    at = answers(key, lambda item: 50)
    score = only(score_reviews(key, at))
    assert (score.accused_fixed, score.accused_controls) == (4, 2)


@pytest.mark.parametrize(
    "suspects, tops",
    [
        ((Suspect(line=40),), (4, 4)),
        ((Suspect(line=45),), (4, 4)),
        ((Suspect(line=46),), (0, 0)),
        ((Suspect(api="torch.optim.Optimizer.step"),), (4, 4)),
        ((Suspect(line=1), Suspect(line=2), Suspect(line=40)), (0, 4)),
        ((Suspect(line=1), Suspect(line=2), Suspect(line=3), Suspect(line=40)), (0, 0)),
        ((Suspect(line=40, file="other.py"),), (0, 0)),
        ((), (0, 0)),
    ],
)
def test_the_site_is_among_the_first_suspects(key, suspects, tops):
    score = only(score_reviews(key, answers(key, lambda item: 80, suspects=suspects)))
    assert (score.top1, score.top3) == tops


def test_a_site_counts_only_where_the_program_is_accused(key):
    quiet = answers(key, lambda item: 20, suspects=(Suspect(line=40),))
    assert only(score_reviews(key, quiet)).top1 == 0


def test_samples_are_averaged_and_their_agreement_is_told(key):
    first = answers(key, lambda item: 100 if item.kind == "buggy" else 0)
    second = answers(key, lambda item: 30 if item.kind == "buggy" else 0, sample=1)
    score = only(score_reviews(key, [*first, *second]))
    assert (score.paired, score.samples, score.answered) == (4, 20, 10)
    assert score.agreement == pytest.approx(6 / 10)


def test_models_are_scored_apart_and_costs_are_added(key):
    cheap = answers(key, lambda item: 0, "cheap", cost=0.5, tokens=10)
    dear = answers(key, lambda item: 0, "dear")
    first, second = score_reviews(key, [*dear, *cheap])
    assert (first.model, first.cost, first.tokens) == ("cheap", 5.0, 100)
    assert (second.model, second.cost) == ("dear", None)


def test_a_twin_that_was_not_answered_makes_no_pair(key):
    known = answers(key, lambda item: 90 if item.kind == "buggy" else 10)
    missing = [item for item in known if key.tasks[item.id].kind != "fixed"]
    score = only(score_reviews(key, missing))
    assert (score.pairs, score.paired, score.paired_interval) == (0, 0, (None, None))
    assert (score.answered, score.tasks) == (6, 10)


def test_ties_count_half():
    assert auroc([1, 2], [1, 2]) == 0.5
    assert auroc([3], [1, 2]) == 1
    assert auroc([], [1]) is None
