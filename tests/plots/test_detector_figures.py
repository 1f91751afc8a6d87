"""Figures of detectors: which are drawn, at which size, and what their cells and points say."""

import itertools
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
from plots.detector_rates import draw_points, rates_figure
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


@pytest.mark.parametrize("detector, points", [("d", ["1  d (b)", "2  d (a)"]), ("memory", None)])
def test_rates_have_a_point_for_each_row_but_negative_controls(tmp_path, detector, points):
    rules = {detector: {"a": Rule(codes=("none",)), "b": Rule()}}
    checks = [record(alarms=[HIT], detector=detector), record("fixed", detector=detector)]
    table = outcomes(checks, rules)
    figure = rates_figure(table, scores(table))
    if points is None:
        assert figure is None
        return
    text = save(figure, tmp_path / "r.svg").read_text()
    words = [part.split(" -->")[0] for part in text.split("<!-- ")[1:]]
    assert [word for word in "\n".join(words).splitlines() if "d (" in word] == points


@pytest.mark.parametrize(
    "other, covered",
    [
        ((0.24, 0.33), True),
        ((0.16, 0.33), True),
        ((0.1, 0.33), False),
        ((0.16, 0.5), False),
        ((0.24, 0.5), False),
    ],
)
def test_a_label_that_would_cover_a_point_is_below(other, covered):
    """The other one, or its label, is close and above, or it is not."""
    places = [(0.2, 0.3), other]
    rates = pd.DataFrame(places, columns=["false_fixed_rate", "detected_rate"])
    rates["references"] = "none"
    for name in ("false_fixed", "detected"):
        rates[f"{name}_low"], rates[f"{name}_high"] = rates[f"{name}_rate"], rates[f"{name}_rate"]
    axes = Figure().subplots()
    draw_points(axes, rates)
    below, above = (text.get_position()[1] for text in axes.texts)
    assert (below < 0) is covered
    assert above > 0


def test_labels_of_those_that_accuse_nothing_do_not_cover_each_other():
    """Points that nearly touch have labels above each other, in their order;
    others one at their own height.
    """
    rates = pd.DataFrame({"false_fixed_rate": 0.0, "detected_rate": [0.9, 0.02, 0.011, 0.011, 0.0]})
    rates["references"] = "none"
    for name in ("false_fixed", "detected"):
        rates[f"{name}_low"], rates[f"{name}_high"] = rates[f"{name}_rate"], rates[f"{name}_rate"]
    axes = Figure().subplots()
    draw_points(axes, rates)
    heights = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert list(heights) == ["1", "2", "3,4", "5"]
    assert heights["1"] == 0.9
    lowest = [heights[label] for label in ("5", "3,4", "2")]
    assert lowest[0] < 0
    assert all(above - below > 0.04 for below, above in itertools.pairwise(lowest))


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
