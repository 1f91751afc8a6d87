"""Cases whose model does not end worse, and whose harm is gone in longer runs: pages by the data."""

import re

from support.paths import ROOT

from runner.authoring.harm import needs_harm
from runner.bugs.catalog import Catalog
from runner.bugs.program import VARIANTS
from runner.results.expected import expected_records
from runner.studies.horizon import harm_expectation

PAGE = (ROOT / "docs" / "expectations.md").read_text(encoding="utf-8")
HEADING = "| case | the expectation is about | at the end, by seed | buggy | fixed |"
# Of these measures a higher number is better, of all others a lower one.
HIGHER_IS_BETTER = re.compile("accuracy|right$|found$|dice$")
# Names of measures of a model on data that it was not trained on.
HELD_OUT = re.compile("^(validation|test)_|accuracy|right$|found$|^recall$")
# Further ones, by which the harm of a case is stated.
OF_HARM = {
    "correlation",
    "cosine",
    "language_loss",
    "merged_loss",
    "named",
    "oedema",
    "perplexity",
    "three_guesses",
}
# Harms that are stated of such a name, but of no held-out measure of the model at the end.
NO_HELD_OUT_HARM = {
    "PyTorch-132986/validation": "the model was trained on the validation set",
    "predrnn-pytorch-11/films": "the similarity is a penalty, and no quality of a forecast",
}
# No held-out measure, though the name says so.
NO_MEASURE = {("MONAI-6765/livers", "validation_loss"): "it has the faulty formula"}


def table():
    """The rows of the table: case, measure, and the two lists of numbers."""
    lines = PAGE.partition(HEADING)[2].splitlines()[2:]
    for line in lines[: lines.index("")]:
        case, _, measure, buggy, fixed = (cell.strip() for cell in line.strip("|").split("|"))
        yield re.findall(r"\[(.*)\]", case)[0], measure.strip("`"), buggy.split(), fixed.split()


def at_the_end(case, variant, measure):
    """The last value of a measure, for each seed."""
    (target,) = Catalog(ROOT).select([case])
    records = expected_records(target.bug, target.case.name, "cpu")
    of_variant = sorted((item for item in records if item.variant == variant), key=by_seed)
    return [last_of(item.metrics, measure) for item in of_variant]


def last_of(rows, measure):
    return [row[measure] for row in rows if measure in row][-1]


def as_written(values, places=3):
    return [f"{value:.{places}f}" for value in values]


def is_better_or_as_good(measure, left, right):
    return left >= right if HIGHER_IS_BETTER.search(measure) else left <= right


def by_seed(record):
    return record.seed


def ends_no_worse(case, measure):
    """Whether the buggy model ends no worse with at least one seed."""
    pairs = zip(*(at_the_end(case, variant, measure) for variant in VARIANTS), strict=True)
    return any(is_better_or_as_good(measure, buggy, fixed) for buggy, fixed in pairs)


def test_models_that_do_not_end_worse_are_named_with_their_numbers():
    rows = list(table())
    assert len(rows) > 5
    assert rows == sorted(rows)
    for case, measure, *written in rows:
        for variant, numbers in zip(VARIANTS, written, strict=True):
            places = len(numbers[0].partition(".")[2])
            assert as_written(at_the_end(case, variant, measure), places) == numbers, case
        assert ends_no_worse(case, measure), case


def is_about_the_end(case):
    """Whether the harm of a case is stated of a held-out measure at the end."""
    harm = harm_expectation(case)
    is_last = harm.reduce == "last" and not harm.where
    is_held_out = harm.metric in OF_HARM or HELD_OUT.search(harm.metric)
    return is_last and is_held_out and case.id not in NO_HELD_OUT_HARM


def held_out_measures(target):
    """The held-out measures of a case that its fixed program records, as far as names tell."""
    records = expected_records(target.bug, target.case.name, "cpu")
    fixed = next(item for item in records if item.variant == "fixed")
    names = dict.fromkeys(name for row in fixed.metrics for name in row)
    measures = [name for name in names if HELD_OUT.search(name)]
    return [name for name in measures if (target.case.id, name) not in NO_MEASURE]


def test_no_model_that_does_not_end_worse_is_left_out():
    named = {case for case, *_ in table()}
    for target in Catalog(ROOT).select(Catalog(ROOT).active()):
        case = target.case
        if not needs_harm(target.bug, case) or target.bug.labels.effect == "wrong evaluation":
            continue
        if not is_about_the_end(case) and case.id not in named:
            measures = held_out_measures(target)
            assert [name for name in measures if ends_no_worse(case.id, name)] == [], case.id


def test_harms_that_only_delay_are_named():
    targets = Catalog(ROOT).select(Catalog(ROOT).active())
    counted = [item for item in targets if not item.bug.is_injected]
    cases = [item.case for item in counted if needs_harm(item.bug, item.case) and item.case.harm]
    longer = [case for case in cases if case.harm.length]
    late = [case.id for case in longer if case.harm.late]
    page = (ROOT / "docs" / "taxonomy.md").read_text(encoding="utf-8")
    assert f"| have runs of twice the length | {len(longer)} |" in page
    named = re.findall(
        r"lose their harm with at least one seed if you train twice as long: (.*) \| (\d+) \|",
        page,
    )
    assert named == [(", ".join(late), str(len(late)))]
    assert f" | {len(cases) - len(longer)} |\n" in page.partition("| have no such runs. ")[2]


def test_a_measured_harm_names_a_length_unless_it_is_one_moment():
    targets = Catalog(ROOT).select(Catalog(ROOT).active())
    measured = [
        item.case for item in targets if item.case.harm and item.case.harm.kind == "measured"
    ]
    assert [case.id for case in measured if case.harm.length is None] == ["PEFT-3310/digits"]
