"""Figures for a paper: their fonts, their width, and that no text covers another."""

import json
import re
import zlib
from hashlib import sha256

import pytest
from msgspec.structs import replace
from support.checks import HIT, record
from support.committed import commit_checks
from support.overlaps import overlapping_texts
from support.paths import ROOT
from support.promoted import promoted

import trainbugs
from evaluation.scoring.chosen import without_rejected
from evaluation.scoring.outcomes import ROW
from plots import curves
from plots.detector_delays import delays_figure
from plots.detector_rates import rates_figure
from plots.figures import CaseRuns, draw
from plots.paper import draw_paper
from plots.style import column, new_figure, on_paper, styled
from plots.taxonomy import taxonomy_figure
from runner.bugs.catalog import Catalog
from runner.bugs.catalogue_counts import count
from runner.results.expected import expected_records
from trainbugs.cli.main import main

# Logarithmic axes of all lengths, four panels, three lines in a panel, long names.
CASES = (
    "SO-60335387/lr1e-4",
    "LDAM-DRW-6/cross-entropy",
    "CycleGAN-1201/heartbeats",
    "nanoGPT-240/gpt",
    "PyTorch-104336/turns",
    "SentenceTransformers-3767/shops",
)


def drawn_cases():
    """One case in ten, drawn by the hash of its name: the same ones until a case is renamed, and a
    new case may be among them.
    """
    drawn = []
    for path in sorted(ROOT.glob("bugs/*/config.json")):
        config = json.loads(path.read_text())
        for name, case in config["cases"].items():
            has_curves = "heatmap" not in case.get("plot", config.get("plot", {}))
            is_drawn = sha256(f"{path.parent.name}/{name}".encode()).digest()[0] < 256 / 10
            if has_curves and is_drawn and (path.parent / "expected" / name).is_dir():
                drawn.append(f"{path.parent.name}/{name}")
    return drawn


def case_runs(name):
    (target,) = Catalog(ROOT).select([name])
    records = tuple(expected_records(target.bug, target.case.name))
    return CaseRuns(target.bug, target.case, records)


def fonts(path):
    """The kinds of fonts in a PDF, whose objects may be compressed."""
    content = path.read_bytes()
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL):
        try:
            content += zlib.decompress(stream)
        except zlib.error:
            continue
    return set(re.findall(rb"/(Type3|Type42|CIDFontType2|TrueType)\b", content))


def width_inches(path):
    (box,) = re.findall(rb"/MediaBox \[ ?0 0 ([\d.]+) [\d.]+ ?\]", path.read_bytes())
    return float(box) / 72


def test_a_pdf_has_fonts_that_publishers_take(toy, tmp_path):
    outcome = toy.run()
    item = CaseRuns(outcome.target.bug, outcome.target.case, outcome.records)
    drawn = [*draw([item], tmp_path / "screen", "pdf").paths, *draw_paper([item], tmp_path).paths]
    assert len(drawn) == 6
    for path in drawn:
        assert fonts(path) == {b"CIDFontType2"}, path


def test_a_figure_is_as_wide_as_a_column_and_as_a_page(toy, tmp_path):
    outcome = toy.run()
    item = CaseRuns(outcome.target.bug, outcome.target.case, outcome.records)
    narrow, wide = draw_paper([item], tmp_path).paths
    assert [path.name for path in (narrow, wide)] == ["only_column.pdf", "only_page.pdf"]
    assert (width_inches(narrow), width_inches(wide)) == (3.5, 7.0)


@pytest.mark.parametrize("name", sorted({*CASES, *drawn_cases()}))
def test_no_text_covers_another(name):
    item = case_runs(name)
    for columns in (1, 2):
        with on_paper():
            figure = curves.compare_on_paper(item.case, item.records, columns)
            assert overlapping_texts(figure) == []
    with styled():
        assert overlapping_texts(curves.compare(item.case, item.records)) == []


def test_texts_that_cover_each_other_are_found():
    with styled():
        figure = new_figure(1)
        axes = figure.subplots()
        axes.text(0.5, 0.5, "first")
        axes.text(0.5, 0.5, "second")
        figure.text(1.2, 0.5, "outside").set_in_layout(False)
        assert sorted(overlapping_texts(figure)) == [
            "'first' covers 'second'",
            "'outside' is cut off",
        ]


def test_what_has_no_place_on_paper_is_named_and_stops_nothing(toy, tmp_path):
    outcome = toy.run()
    buggy = tuple(record for record in outcome.records if record.variant == "buggy")
    item = CaseRuns(outcome.target.bug, outcome.target.case, outcome.records)
    drawn = draw_paper(
        [case_runs("PyTorch-115607/optimizers"), CaseRuns(item.bug, item.case, buggy), item],
        tmp_path,
    )
    assert len(drawn.paths) == 2
    assert drawn.problems == (
        "PyTorch-115607/optimizers: no curves: its heat map is wider than a page: draw it without "
        "--paper",
        "Toy-1/only: no curves: there is no finished run of the fixed variant",
    )


def test_the_command_draws_a_bug(tmp_path, capsys):
    assert main(["figures", "SO-60335387", "--paper", "--out", str(tmp_path)]) == 0
    assert f"figures: 6 files in {tmp_path}/SO-60335387" in capsys.readouterr().out
    assert main(["figures", "SO-60335387", "--paper", "--format", "png"]) == 2
    assert "--paper draws PDFs: leave out --format" in capsys.readouterr().err


def test_all_that_the_command_draws_fits_a_column_or_a_page(cli, toy, tmp_path):
    promoted(toy)
    checks = [record(alarms=[HIT]), record("fixed"), record("control")]
    about_toy = [replace(check, bug="Toy-1", case="only") for check in checks[:2]]
    commit_checks(toy.root, "d", [*about_toy, checks[2]])
    assert cli("figures", "--paper", "--out", tmp_path / "paper")[0] == 0
    drawn = {path.stem: path for path in (tmp_path / "paper").rglob("*.pdf")}
    widths = {name: width_inches(path) for name, path in drawn.items()}
    columns = ("only_column", "matrix", "rates", "delays")
    assert widths == dict.fromkeys(columns, 3.5) | {"only_page": 7.0, "taxonomy": 7.0}


def test_the_taxonomy_of_a_paper_has_no_title(toy):
    numbers = count([toy.bug])
    with on_paper():
        assert taxonomy_figure(numbers, paper=True).get_suptitle() == ""
    with styled():
        assert "1 bugs" in taxonomy_figure(numbers).get_suptitle()


@pytest.mark.parametrize("draw_figure", [rates_figure, delays_figure])
def test_no_label_of_the_committed_scores_covers_another(draw_figure):
    scored = without_rejected(trainbugs.scores())
    shown = trainbugs.outcomes().merge(scored[ROW], on=ROW)
    with column():
        figure = draw_figure(shown, scored)
        assert figure
        assert overlapping_texts(figure) == []


@pytest.mark.parametrize("paper", [True, False])
def test_no_text_of_the_taxonomy_covers_another(paper):
    bugs, _ = Catalog(ROOT).readable()
    with on_paper() if paper else styled():
        assert overlapping_texts(taxonomy_figure(count(bugs), paper)) == []
