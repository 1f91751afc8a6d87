"""Parts of pages: scripts side by side, curves, tables that can be searched."""

import pytest
from support.records import record
from support.toy import toy_config

from runner.errors import MeasureError
from trainbugs.website import chart, diff
from trainbugs.website.index import BUG_COLUMNS
from trainbugs.website.links import Links, place, relative
from trainbugs.website.markdown import render
from trainbugs.website.tables import WORD, Indexed, facet, words
from trainbugs.website.templating import as_json, asset, outside


def test_lines_side_by_side():
    source = "".join(f"line{number} = {number}\n" for number in range(20))
    rows = diff.rows(source, source.replace("line9 = 9\n", "line9 = 0\nnew = 1\n"))
    kinds = [row.kind for row in rows]
    assert kinds == ["gap", *["same"] * 4, "changed", "added", *["same"] * 4, "gap"]
    assert (rows[0].count, rows[-1].count) == (5, 6)
    assert (rows[5].left[0], rows[5].right[0], rows[6].left, rows[6].right[0]) == (10, 10, None, 11)
    assert diff.rows(source, source) == []


def test_a_string_over_several_lines_stays_within_them():
    rows = diff.rows('x = """a\nb <i>\nc"""\n', 'x = """a\nd\nc"""\n')
    assert [row.left[1].count("<span") - row.left[1].count("</span") for row in rows] == [0, 0, 0]
    assert "&lt;i&gt;" in rows[1].left[1]


@pytest.mark.parametrize(
    ("scale", "values"),
    [("linear", [1, 2, 3]), ("log", [1e-3, 0.0, 10]), ("symlog", [-50, 0, 1e4])],
)
def test_curves_stay_within_their_axes(toy, scale, values):
    drawn = _panels(toy, scale, values)[0]
    x_left, top, right, bottom = drawn.data["box"]
    for curve in drawn.data["curves"]:
        assert all(x_left <= x <= right for x in curve["px"])
        assert all(top <= y <= bottom for y in curve["py"])
        assert sorted(curve["py"], reverse=True) == [
            y for _, y in sorted(zip(curve["mean"], curve["py"], strict=True))
        ]
    assert drawn.svg.count('text-anchor="end"') >= 2


def test_lines_of_a_panel_are_told_apart(toy):
    plot = toy_config()["plot"]
    plot["panels"][0]["lines"] = [
        {"label": str(number), "metric": "accuracy", "dashed": number % 2 == 1}
        for number in range(6)
    ]
    toy.configure(plot=plot)
    drawn = chart.panels(toy.bug.cases["only"], [record("buggy"), record("fixed")])[0]
    styles = [curve.style for curve in drawn.curves if curve.variant == "buggy"]
    assert len(set(styles)) == 6
    assert [style % 4 for style in styles] == [0, 1, 3, 2, 0, 1]


def test_a_line_says_whose_it_is(toy):
    svg = _panels(toy, "linear", [1, 2, 3])[0].svg
    assert svg.count(">buggy</text>") == svg.count(">fixed</text>") == 1


def test_one_point_and_equal_values_are_drawn(toy):
    assert "NaN" not in _panels(toy, "linear", [2])[0].svg
    assert "nan" not in _panels(toy, "log", [3, 3, 3])[0].svg


def test_many_points_are_thinned_and_that_is_said(toy):
    drawn = _panels(toy, "linear", list(range(2500)))[0]
    assert drawn.every == 3
    assert len(drawn.data["curves"][0]["x"]) == 834


def test_what_is_no_number_is_not_drawn(toy):
    with pytest.raises(MeasureError, match="no number"):
        _panels(toy, "linear", ["a", "b"])


def _panels(toy, scale, values):
    plot = toy_config()["plot"]
    plot["panels"][0]["scale"] = scale
    toy.configure(plot=plot)
    records = [record(variant, seed, values) for variant in ("buggy", "fixed") for seed in (0, 1)]
    return chart.panels(toy.bug.cases["only"], records)


def test_pages_have_their_places():
    assert place("docs/README.md") == "docs/index.html"
    assert place("docs/running.md") == "docs/running.html"
    assert place("bugs/A-1/README.md") == "bugs/A-1.html"
    assert place("bugs/A-1/studies/s.md") == "studies/A-1-s.html"
    assert (
        place("detectors/pyod/README.md")
        == "docs/detectors-pyod.html"
        != place("docs/detectors.md")
    )
    assert relative("bugs/A b.html#x", "docs/index.html") == "../bugs/A%20b.html#x"


def test_headings_have_the_anchors_of_the_repository(tmp_path):
    text = "# A page\n\n## `list`, twice\n\n## list twice\n\n[self](#a-page)\n"
    html = render(text, "docs/a.md", Links(tmp_path, {"docs/a.md": "docs/a.html"}), "docs/a.html")
    assert [heading.anchor for heading in html.headings] == ["a-page", "list-twice", "list-twice-1"]
    assert html.title == "A page"
    assert 'href="#a-page"' in html.html


def test_facets_count_rows_and_keep_their_order():
    rows = [
        Indexed(key, "", {"where": where}, {})
        for key, where in (("1", ["b"]), ("2", ["a", "b"]), ("3", ["c"]))
    ]
    assert facet("where", "Where", rows, ["b"]).values == {"b": 2, "a": 1, "c": 1}
    assert list(facet("where", "Where", rows, ["b"]).values) == ["b", "a", "c"]
    assert words("Adam, adam: the lr=1e-3") == "adam the lr 1e-3"
    assert words("a train of trained networks, training") == "of trained networks training"


def test_a_query_is_split_as_the_rows_are():
    """The browser's tests search by it; this holds where there is none."""
    pattern = WORD.replace("[\\w", "[\\p{L}\\p{N}_").replace("\\w", "[\\p{L}\\p{N}_]")
    assert f"const WORD = /{pattern}/gu;" in asset("site.js")
    assert words("optimizer.zero_grad()") == "optimizer.zero_grad"
    assert words("0.337 in 1.10, -1.2345 in 2.13.0, issue 2263") == "in 1.10 2.13.0 issue 2263"


def test_json_cannot_end_its_element():
    assert "</" not in as_json(["</script>"])
    assert "&" not in as_json("&amp;")


def test_only_web_addresses_become_links():
    assert "href" not in outside("javascript:alert(1)")
    assert 'href="https://a/?b&amp;c"' in outside("https://a/?b&c")


def test_no_column_is_headed_by_the_name_of_another_label():
    names = {"location", "cause", "effect", "stage", "symptom", "root cause"}
    headed = {key: heading.lower() for key, heading in BUG_COLUMNS if key in names}
    assert [key for key, heading in headed.items() if heading in names - {key}] == []
