"""Cases whose model does not end worse, and whose harm is gone in longer runs: pages by the data."""

import re

from support.paths import ROOT

from runner.authoring.harm import needs_harm
from runner.bugs.catalog import Catalog
from runner.results.expected import expected_records

PAGE = (ROOT / "docs" / "expectations.md").read_text(encoding="utf-8")
HEADING = "| case | the expectation is about | at the end, by seed | buggy | fixed |"
# Of these measures a higher number is better, of all others a lower one.
HIGHER_IS_BETTER = ("accuracy", "right")


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


def as_written(values):
    return [f"{value:.3f}" for value in values]


def by_seed(record):
    return record.seed


def test_models_that_do_not_end_worse_are_named_with_their_numbers():
    rows = list(table())
    assert len(rows) > 5
    for case, measure, *written in rows:
        buggy, fixed = (at_the_end(case, variant, measure) for variant in ("buggy", "fixed"))
        assert [as_written(buggy), as_written(fixed)] == written, case
        sign = 1 if measure in HIGHER_IS_BETTER else -1
        not_worse = [sign * left >= sign * right for left, right in zip(buggy, fixed, strict=True)]
        assert any(not_worse), case


def test_harms_that_only_delay_are_named():
    targets = Catalog(ROOT).select(Catalog(ROOT).active())
    cases = [item.case for item in targets if needs_harm(item.bug, item.case) and item.case.harm]
    longer = [case for case in cases if case.harm.length]
    late = [case.id for case in longer if case.harm.late]
    page = (ROOT / "docs" / "taxonomy.md").read_text(encoding="utf-8")
    assert f"| have runs of twice the length | {len(longer)} |" in page
    named = re.findall(r"their harm is gone with some seed: (.*) \| (\d+) \|", page)
    assert named == [(", ".join(late), str(len(late)))]
    assert f" | {len(cases) - len(longer)} |\n" in page.partition("| have none: ")[2]


def test_a_measured_harm_names_a_length_unless_it_is_one_moment():
    targets = Catalog(ROOT).select(Catalog(ROOT).active())
    measured = [
        item.case for item in targets if item.case.harm and item.case.harm.kind == "measured"
    ]
    assert [case.id for case in measured if case.harm.length is None] == ["PEFT-3310/digits"]
