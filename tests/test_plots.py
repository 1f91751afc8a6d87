"""Figures: drawn from records alone, the same each time, in every format; what they show is what the records say."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from plots import curves, summary
from runner.catalog import Catalog
from runner.errors import MeasureError, ResultsError
from runner.results import Store, newest_runs

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("kind, magic", [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_draws_each_variant_and_both(toy, tmp_path, kind, magic):
    toy.run()
    runs = newest_runs(toy.bug, Store(toy.results))
    drawn = curves.draw_bug(toy.bug, runs, tmp_path / "a", kind)
    assert [path.name for path in drawn] == [f"{name}_only.{kind}" for name in ("origin", "fix", "compare")]
    assert all(path.read_bytes().startswith(magic) for path in drawn)
    again = curves.draw_bug(toy.bug, runs, tmp_path / "b", kind)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in drawn]


def test_curves_are_mean_and_range_of_the_seeds(toy):
    toy.run()
    runs = [r for r in newest_runs(toy.bug, Store(toy.results))["only"] if r.variant == "fixed"]
    figure = curves._single(toy.bug, toy.bug.cases["only"], "fixed", runs)
    (axes,) = figure.axes
    (line,) = axes.lines
    assert list(line.get_xdata()) == [1, 2, 3]
    assert list(line.get_ydata()) == [2.5, 4.5, 6.5]
    band = axes.collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (2, 7)
    assert "mean and range of 2 seeds" in figure.get_suptitle()


def test_compare_lays_both_over_each_other(toy):
    toy.run(seeds=(0,))
    figure = curves._compare(toy.bug, toy.bug.cases["only"], newest_runs(toy.bug, Store(toy.results))["only"])
    buggy, fixed = figure.axes[0].lines
    assert (buggy.get_label(), list(buggy.get_ydata())) == ("buggy", [1, 2, 3])
    assert (fixed.get_label(), list(fixed.get_ydata())) == ("fixed", [2, 4, 6])
    assert "(seed 0)" in figure.get_suptitle()


def test_seeds_of_different_length_are_an_error(toy):
    toy.run(seeds=(0,))
    toy.configure(parameters={"num_epoch": 2, "seed": 0, "device": "auto", "output": "metrics"})
    toy.run(seeds=(1,))
    with pytest.raises(MeasureError, match="Toy-1: buggy runs differ in the number of records of 'accuracy'"):
        curves.draw_bug(toy.bug, newest_runs(toy.bug, Store(toy.results)), toy.root, "png")


def test_summary(toy, tmp_path):
    assert summary.draw_summary([toy.bug], Store(toy.results), tmp_path, "png") == []
    toy.run()
    (path,) = summary.draw_summary([toy.bug], Store(toy.results), tmp_path, "svg")
    assert path.name == "summary.svg"
    toy.write("buggy.py", (toy.directory / "fixed.py").read_text())
    toy.run()
    assert summary.draw_summary([toy.bug], Store(toy.results), tmp_path, "svg")[0].read_text()


def test_a_folder_that_cannot_be_written(toy, tmp_path):
    toy.run()
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match="cannot be written: .*name a folder with room by --out"):
        curves.draw_bug(toy.bug, newest_runs(toy.bug, Store(toy.results)), tmp_path / "file", "png")


def test_committed_records_are_drawn_without_torch(tmp_path):
    code = (
        "import sys; from runner.cli import main; status = main(['figures', '--out', sys.argv[1]]);"
        "assert 'torch' not in sys.modules and not any(m.startswith('runner.exec') for m in sys.modules);"
        "sys.exit(status)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, cwd=ROOT, capture_output=True)
    drawn = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.png")}
    catalog = Catalog(ROOT)
    wanted = {
        f"{b}/{k}_{c}.png" for b in catalog.ids() for c in catalog.bug(b).cases for k in ("origin", "fix", "compare")
    }
    assert drawn == wanted | {"summary.png"}


def test_the_comparison_shows_what_the_expected_records_say():
    bug = Catalog(ROOT).bug("PyTorch-115607")
    figure = curves._compare(bug, bug.cases["complex"], newest_runs(bug, None)["complex"])
    step, distance = figure.axes
    lines = {line.get_label(): np.asarray(line.get_ydata()) for line in step.lines}
    assert list(lines["buggy, dynamo"]) == [1, 2, 3, 3, 3, 3]
    assert list(lines["fixed, dynamo"]) == [1, 2, 3, 3, 4, 5]
    record = json.loads((bug.expected / "complex" / "buggy-seed0.json").read_text())
    assert record["metrics"][-1]["step"] == 3
    assert distance.lines[0].get_ydata()[-1] == pytest.approx(0.002, abs=1e-4)
