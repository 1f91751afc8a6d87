"""Figures: drawn from records alone, the same each time, in every format;
what they show is what the records say.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.copies import replace
from support.paths import ROOT
from support.records import as_pinned
from support.toy import SCRIPT, of_any_length, toy_config

from plots import curves, heatmap, style
from plots.figures import CaseRuns, draw, draw_expected
from plots.taxonomy import draw_taxonomy
from runner.bugs.catalog import Catalog
from runner.bugs.catalogue_counts import count
from runner.errors import ResultsError
from runner.files.locks import CLAIMS
from runner.results.expected import CPU, expected_records, recorded_devices, version_records
from runner.results.folder_index import INDEX
from runner.results.store import Store
from runner.session.promote import promote_runs


def runs(outcome):
    return CaseRuns(outcome.target.bug, outcome.target.case, outcome.records)


@pytest.mark.parametrize("kind, magic", [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_draws_each_variant_and_both_the_same_each_time(toy, tmp_path, kind, magic):
    outcome = toy.run()
    drawn = draw([runs(outcome)], tmp_path / "a", kind)
    assert [str(path.relative_to(tmp_path)) for path in drawn.paths] == [
        *(f"a/Toy-1/{name}_only.{kind}" for name in ("origin", "fix", "compare")),
        f"a/summary.{kind}",
    ]
    assert all(path.read_bytes().startswith(magic) for path in drawn.paths)
    assert drawn.problems == ()
    again = draw([runs(outcome)], tmp_path / "b", kind)
    assert [path.read_bytes() for path in again.paths] == [
        path.read_bytes() for path in drawn.paths
    ]


def test_curves_are_mean_and_range_of_the_seeds(toy):
    records = [record for record in toy.run().records if record.variant == "fixed"]
    figure = curves._single(toy.bug.cases["only"], "fixed", records)
    (axes,) = figure.axes
    (line,) = axes.lines
    assert np.asarray(line.get_xdata()).tolist() == [1, 2, 3]
    assert np.asarray(line.get_ydata()).tolist() == [2.5, 4.5, 6.5]
    band = np.asarray(axes.collections[0].get_paths()[0].vertices)
    assert (band[:, 1].min(), band[:, 1].max()) == (2, 7)
    assert "mean and range of 2 seeds" in figure.get_suptitle()


def test_a_title_is_no_wider_than_its_figure(toy):
    case = replace(toy.bug.cases["only"], name="a-case-that-has-a-rather-long-name-of-its-own")
    with style.styled():
        figure = curves.compare(case, toy.run().records)
        figure.canvas.draw()
        (text,) = figure.texts
        title = text.get_window_extent()
    assert 0 <= title.x0 < title.x1 <= figure.bbox.width
    assert title.y1 <= figure.bbox.height


def test_compare_lays_both_over_each_other(toy):
    figure = curves.compare(toy.bug.cases["only"], toy.run(seeds=(0,)).records)
    buggy, fixed = figure.axes[0].lines
    assert (buggy.get_label(), np.asarray(buggy.get_ydata()).tolist()) == ("buggy", [1, 2, 3])
    assert (fixed.get_label(), np.asarray(fixed.get_ydata()).tolist()) == ("fixed", [2, 4, 6])
    assert "(seed 0)" in figure.get_suptitle()


def test_no_two_lines_of_a_panel_look_the_same():
    panels = [
        panel
        for bug in Catalog(ROOT)
        for case in bug.cases.values()
        if not case.plot.heatmap
        for panel in case.plot.panels
    ]
    assert max(len(panel.lines) for panel in panels) >= 3
    for panel in panels:
        looks = curves._looks(panel)
        assert len({str(look["linestyle"]) for look in looks}) == len(panel.lines), panel
        assert len({look["marker"] for look in looks}) == len(panel.lines), panel


def test_fixed_is_wide_and_lies_below(toy):
    buggy, fixed = curves.compare(toy.bug.cases["only"], toy.run(seeds=(0,)).records).axes[0].lines
    assert fixed.get_linewidth() > buggy.get_linewidth()
    assert fixed.get_zorder() < buggy.get_zorder()


def test_what_cannot_be_drawn_is_said_and_stops_nothing(toy, tmp_path):
    of_any_length(toy)
    toy.write(
        "buggy.py",
        SCRIPT.replace("VALUE", "1").replace(
            'config["num_epoch"]', 'config["num_epoch"] + config["seed"]'
        ),
    )
    drawn = draw([runs(toy.run())], tmp_path, "png")
    assert drawn.problems == (
        "Toy-1/only: no curves: buggy runs differ in the number of records of 'accuracy'",
    )
    assert [path.name for path in drawn.paths] == ["summary.png"]


def texts(outcome, tmp_path):
    return draw([runs(outcome)], tmp_path, "svg").paths[-1].read_text()


def test_the_summary_says_what_the_table_says(toy, tmp_path, monkeypatch):
    monkeypatch.setitem(style.SETTINGS, "svg.fonttype", "none")
    assert ">REPRODUCED<" in texts(toy.run(), tmp_path)
    buggy_script = (toy.directory / "buggy.py").read_text()
    toy.write("buggy.py", (toy.directory / "fixed.py").read_text())
    assert ">NOT REPRODUCED<" in texts(toy.run(), tmp_path)
    toy.write("buggy.py", "raise RuntimeError('late')")
    outcome = toy.run()
    assert ">INVALID<" in texts(outcome, tmp_path)
    stored = Store(toy.results).judged_runs("Toy-1", "only")
    assert stored == list(outcome.records)
    toy.write("buggy.py", buggy_script)
    assert ">REPRODUCED<" in texts(toy.run(), tmp_path)
    assert all(record.ok for record in Store(toy.results).judged_runs("Toy-1", "only"))


def test_a_figure_is_written_whole_or_not_at_all(toy, tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    outcome = toy.run()
    draw([runs(outcome)], tmp_path, "png")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.png")}
    with (tmp_path / "summary.png").open("rb") as reader:
        draw([runs(outcome)], tmp_path, "png")
        # A reader keeps the old file, whole: the new one was renamed into place, not written over
        # it.
        assert Path(f"/proc/self/fd/{reader.fileno()}").readlink().name == "summary.png (deleted)"

    def interrupted(self, path, **options):
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(Figure, "savefig", interrupted)
    with pytest.raises(KeyboardInterrupt):
        draw([runs(outcome)], tmp_path, "png")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.png")} == before
    assert not [path for path in tmp_path.rglob(".*") if path.name not in (CLAIMS, INDEX)]


def test_the_summary_of_runs_that_took_no_time(toy, tmp_path):
    outcome = toy.run()
    still = replace(
        outcome,
        records=tuple(replace(record, wall_s=0.0, status="killed") for record in outcome.records),
    )
    assert draw([runs(still)], tmp_path, "png").paths[-1].name == "summary.png"


def test_a_folder_that_cannot_be_written(toy, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match="cannot be written: .*name a folder with room by --out"):
        draw([runs(toy.run())], tmp_path / "file", "png")


def test_committed_records_are_drawn_without_torch(tmp_path):
    # Of some, because all take half a minute; that all are there is tested in test_bugs.
    bugs = ("PyTorch-115607", "PyTorch-163093", "SO-60335387")
    code = (
        f"import sys; from trainbugs.cli.main import main; status = main(['figures', *{bugs}, "
        "'--out', sys.argv[1]]);assert 'torch' not in sys.modules and not "
        "any(m.startswith('runner.exec') for m in sys.modules);sys.exit(status)"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], check=True, cwd=ROOT, capture_output=True
    )
    drawn = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.png")}
    catalog = Catalog(ROOT)
    expected = {
        f"{b}/{k}_{c}.png"
        for b in bugs
        for c in catalog.bug(b).cases
        if CPU in recorded_devices(catalog.bug(b), c)
        for k in ("origin", "fix", "compare")
    }
    expected |= {f"{b}/versions.png" for b in bugs if version_records(catalog.bug(b))}
    assert "PyTorch-115607/versions.png" in expected
    assert drawn == expected | {"summary.png"}


def test_the_comparison_shows_what_the_expected_records_say():
    bug = Catalog(ROOT).bug("PyTorch-115607")
    figure = curves.compare(bug.cases["complex"], expected_records(bug, "complex"))
    step, distance = figure.axes
    lines = {line.get_label(): np.asarray(line.get_ydata()) for line in step.lines}
    assert list(lines["buggy, dynamo"]) == [1, 2, 3, 3, 3, 3]
    assert list(lines["fixed, dynamo"]) == [1, 2, 3, 3, 4, 5]
    record = json.loads((bug.expected / "complex" / "buggy-seed0.json").read_text())
    assert record["metrics"][-1]["step"] == 3
    assert np.asarray(distance.lines[0].get_ydata())[-1] == pytest.approx(0.002, abs=1e-4)


HEAT = """\
import json, sys
config = json.load(open(sys.argv[1]))["parameters"]
words = [("a", "x", 1e-3), ("a", "y", None), ("b", "x", 0.0), ("b", "y", 7.0)]
records = [
    {"epoch": 1, "row": row, "kind": 1, "column": column, "value": value, "word": "far" if value else f"is {value}"}
    for row, column, value in words
]
json.dump(records, open(config["output"] + ".json", "w"))
"""


def with_heatmap(toy, **changes):
    case = toy_config()["cases"]["only"]
    expectations = [
        {
            "statement": "s",
            "variant": v,
            "metric": "row",
            "reduce": "last",
            "op": "==",
            "value": "b",
        }
        for v in ("buggy", "fixed")
    ]
    heatmap = {
        "rows": ["row", "kind"],
        "columns": "column",
        "value": "value",
        "label": "size",
        "words": "word",
    }
    case |= {
        "expectations": expectations,
        "heatmap": heatmap | {"quiet": ["far"]} | changes,
        "records": None,
    }
    toy.configure(cases={"only": case})
    toy.write("buggy.py", HEAT)
    toy.write("fixed.py", HEAT)
    return runs(toy.run())


def test_a_heat_map_has_a_cell_a_record(toy, tmp_path, monkeypatch):
    monkeypatch.setitem(style.SETTINGS, "svg.fonttype", "none")
    item = with_heatmap(toy)
    drawn = draw([item], tmp_path, "svg")
    assert [path.name for path in drawn.paths][:3] == [
        "origin_only.svg",
        "fix_only.svg",
        "compare_only.svg",
    ]
    text = drawn.paths[0].read_text()
    assert all(
        f">{word}<" in text for word in ("a, 1", "b, 1", "x", "y", "is None", "is 0.0", "size")
    )
    assert ">far<" not in text
    records = [record for record in item.records if record.variant == "buggy"]
    cells = heatmap._cells(item.case.plot.heatmap, records)
    assert cells["a, 1", "x"] == (1e-3, "far")
    assert cells["a, 1", "y"] == (None, "is None")
    figure = heatmap._draw(item.case.plot.heatmap, {"buggy": cells})
    shade = np.ma.asarray(figure.axes[0].images[0].get_array())
    # None is left blank, and what is out of range gets the colour of the range's end.
    assert shade.mask.tolist() == [[False, True], [False, False]]
    assert (shade[0, 0], shade[1, 0], shade[1, 1]) == (1e-3, 1e-8, 1.0)


def test_a_heat_map_draws_the_largest_of_the_seeds_and_says_what_is_missing(toy, tmp_path):
    item = with_heatmap(toy)
    larger = [
        replace(item.records[0], metrics=({**item.records[0].metrics[0], "value": 0.5},)),
        item.records[0],
    ]
    assert heatmap._cells(item.case.plot.heatmap, larger)["a, 1", "x"] == (0.5, "far")
    assert heatmap._cells(item.case.plot.heatmap, larger[::-1])["a, 1", "x"] == (0.5, "far")
    drawn = draw([with_heatmap(toy, value="size")], tmp_path, "png")
    assert drawn.problems == (
        "Toy-1/only: no curves: metric 'size' of the heat map is missing in a record",
    )


def test_only_what_compares_or_is_shown_in_the_readme_is_committed(toy):
    promote_runs([as_pinned(toy.run())])
    expected = toy.bug.expected
    assert [path.name for path in draw_expected(toy.bug, expected).paths] == ["compare_only.png"]
    readme = toy.directory / "README.md"
    readme.write_text(readme.read_text() + "\n![The buggy one](expected/origin_only.png)\n")
    drawn = draw_expected(toy.bug, expected).paths
    assert drawn == (expected / "origin_only.png", expected / "compare_only.png")


def test_the_figure_of_the_taxonomy_shows_the_numbers(toy, tmp_path, monkeypatch):
    monkeypatch.setitem(style.SETTINGS, "svg.fonttype", "none")
    path = draw_taxonomy(count([toy.bug, toy.bug]), tmp_path / "new" / "taxonomy.svg")
    text = path.read_text()
    assert ">2 bugs, by where the fault is<" in text
    assert ">wrong logic  (2)<" in text
    assert ">numerics  (0)<" in text
    assert text.count(">2<") == 3
    assert ">original" not in text
    assert (
        draw_taxonomy(count([toy.bug, toy.bug]), tmp_path / "again.svg").read_bytes()
        == path.read_bytes()
    )
