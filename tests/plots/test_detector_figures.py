"""Figures of detectors: which are drawn, at which size, and what their cells and points say."""

import struct

import pandas as pd
import pytest
from matplotlib.figure import Figure
from msgspec.structs import replace
from support.checks import HIT, record

from evaluation.model import Rule
from evaluation.scoring.outcomes import outcomes
from evaluation.scoring.scores import scores
from plots.detector_delays import delays_figure
from plots.detector_matrix import matrix_figure
from plots.detector_page import DOTS, outcome, page_figure
from plots.detector_rates import have_names, point_labels, rates_figure
from plots.detectors import NAMES, detector_figure, draw
from plots.style import save

RULES = {"d": {"default": Rule()}, "e": {"default": Rule()}}


def drawn(records, folder, kind, families):
    table = outcomes(records, RULES)
    return draw(table, scores(table), folder, kind, families)


def width(path):
    return struct.unpack(">I", path.read_bytes()[16:20])[0]


def test_figures_of_a_paper_are_as_wide_as_a_column(tmp_path):
    records = [
        record(alarms=[HIT]),
        record("fixed"),
        record(case="two", bug="C"),
        record("fixed", "two", bug="C"),
    ]
    records += [replace(first, detector="e") for first in records[:2]]
    paths = drawn(records, tmp_path, "png", {"B": "compiler"})
    assert [path.name for path in paths] == ["matrix.png", "page.png", "rates.png", "delays.png"]
    dots = (220, DOTS, 220, 220)
    assert [round(width(path) / density, 1) for path, density in zip(paths, dots, strict=True)] == [
        3.5,
        7.2,
        3.5,
        3.5,
    ]


def test_a_figure_is_had_without_a_file():
    table = outcomes([record(alarms=[HIT]), record("fixed")], RULES)
    figures = [detector_figure(name, table, scores(table), {"B": "compiler"}) for name in NAMES]
    assert all(isinstance(figure, Figure) for figure in figures)
    silent = table[table.kind == "fixed"]
    assert detector_figure("matrix", silent, scores(silent), {}) is None


def test_the_figure_of_delays_says_that_they_are_claimed(tmp_path):
    table = outcomes([record(alarms=[HIT]), record("fixed")], RULES)
    figure = delays_figure(table, scores(table))
    assert "claimed by the monitor" in save(figure, tmp_path / "delays.svg").read_text()


def test_what_cannot_be_drawn_is_left_out(tmp_path):
    assert drawn([record("fixed")], tmp_path, "png", {}) == []
    still = replace(HIT, iteration=None)
    paths = drawn([record(alarms=[still]), record("fixed", status="timeout")], tmp_path, "svg", {})
    assert [path.name for path in paths] == ["matrix.svg", "page.svg"]


def test_the_matrix_counts_by_family(tmp_path):
    """Two of three cases of the compiler, none of a bug that no catalogue has."""
    records = [record(case=f"c{n}", alarms=[HIT] * (n < 2)) for n in range(3)] + [
        record(bug="C", alarms=[HIT])
    ]
    records += [
        replace(buggy, kind="fixed", alarms=buggy.alarms if buggy.bug == "C" else ())
        for buggy in records
    ]
    table = outcomes(records, RULES)
    figure = matrix_figure(table, scores(table), {"B": "compiler"})
    text = save(figure, tmp_path / "m.svg").read_text()
    words = [part.split(" -->")[0] for part in text.split("<!-- ")[1:]]
    assert [word for word in words if "/" in word] == ["2/3", "0/1", "1/4"]
    assert words.index("compiler") < words.index("other") < words.index("fixed")


def words(figure, folder):
    """The texts of a figure, line by line."""
    text = save(figure, folder / "figure.svg").read_text()
    parts = [part.split(" -->")[0] for part in text.split("<!-- ")[1:]]
    return "\n".join(parts).splitlines()


@pytest.mark.parametrize("detector, points", [("d", ["1  d (a)", "d (b)"]), ("memory", None)])
def test_rates_have_a_point_for_each_row_but_negative_controls(tmp_path, detector, points):
    """The rule `b` finds a case and accuses nothing, so it has its name; `a` has a number."""
    rules = {detector: {"a": Rule(codes=("none",)), "b": Rule()}}
    checks = [record(alarms=[HIT], detector=detector), record("fixed", detector=detector)]
    table = outcomes(checks, rules)
    figure = rates_figure(table, scores(table))
    if points is None:
        assert figure is None
        return
    lines = words(figure, tmp_path)
    assert sorted(line for line in lines if line.endswith(("d (a)", "d (b)"))) == points
    assert lines.count("1") > 1


def rates(rows):
    """A table of rates: name, found cases, share of fixed programs accused."""
    return pd.DataFrame(rows, columns=["label", "paired", "false_fixed_rate"])


def test_rows_that_matter_have_names():
    """They are careful and find something, or they are among the five that find the most."""
    rows = [
        ("careful", 1, 0.05),
        ("finds nothing", 0, 0.0),
        ("finds little", 1, 0.06),
        *((f"finds {count}", count, 0.9) for count in (9, 8, 7, 6, 5, 4)),
    ]
    table = rates(rows)
    named = list(table.label[have_names(table)])
    assert named == ["careful", "finds 9", "finds 8", "finds 7", "finds 6", "finds 5"]


def test_points_at_one_place_share_a_label():
    table = rates([("one", 1, 0.0), ("two", 1, 0.0), ("three", 0, 0.0), ("four", 0, 0.5)])
    table = table.assign(detected_rate=0.25, is_named=[True, True, False, False])
    assert point_labels(table) == {(0.0, 0.25): "one\ntwo\n1", (0.5, 0.25): "2"}


@pytest.mark.parametrize(
    "records, cell",
    [
        ([record(alarms=[HIT]), record("fixed")], ("found", "+2")),
        ([record(alarms=[replace(HIT, seen=9)]), record("fixed")], ("found", "+4")),
        ([record(alarms=[replace(HIT, iteration=1)]), record("fixed")], ("early", "-4")),
        ([record(alarms=[replace(HIT, iteration=None)]), record("fixed")], ("found", "")),
        ([record(alarms=[HIT]), record("fixed", alarms=[HIT])], ("also on fixed", "+2")),
        ([record(), record("fixed", alarms=[HIT])], ("false alarm", "")),
        ([record(), record("fixed")], ("silent", "")),
        ([record(status="tool_error"), record("fixed")], ("no answer", "err")),
        ([record("fixed")], ("not met", "")),
        ([record(alarms=[HIT])], ("fixed did not run", "+2")),
        ([record(alarms=[HIT]), record("fixed", status="timeout")], ("fixed did not run", "+2")),
        (
            [record(alarms=[HIT]), record(seed=1), record("fixed"), record("fixed", seed=1)],
            ("found", "1/2"),
        ),
    ],
)
def test_a_cell_of_the_page(records, cell):
    assert outcome(list(outcomes(records, RULES).itertuples())) == cell


@pytest.mark.parametrize("is_answered", [True, False])
def test_the_legend_has_the_rare_state_only_where_a_cell_has_it(is_answered):
    records = [record(alarms=[HIT]), *([record("fixed")] if is_answered else [])]
    table = outcomes(records, RULES)
    figure = page_figure(table, scores(table))
    names = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert ("fixed did not run" in names) is not is_answered
    assert {"found", "early", "no answer"} <= set(names)


def test_a_case_that_was_not_met_has_an_empty_cell():
    assert outcome(()) == ("not met", "")
