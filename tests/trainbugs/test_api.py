"""The Python interface: tables, figures and short texts of the catalogue,
of committed records and of own runs.
"""

import shutil
import subprocess
import sys

import pandas as pd
import pytest
from support.checks import HIT, record
from support.paths import ROOT
from support.same_tables import assert_same_table

import trainbugs
from evaluation.catalog.declared import declared_programs
from evaluation.catalog.detectors import read
from evaluation.reading.subsets import select_counted, select_current
from evaluation.store.committed import CommittedChecks
from evaluation.store.results import CheckStore
from plots import figures, style
from runner.bugs.bug import Target
from runner.bugs.catalog import Catalog
from runner.errors import MeasureError, ResultsError, UsageError
from runner.files.atomic import write_json
from runner.results.expected import expected_path, expected_records, seconds
from runner.results.record import encode
from runner.verdicts.outcome import Outcome, summary
from runner.verdicts.verdict import verify
from trainbugs import api

PNG = b"\x89PNG"


@pytest.fixture
def api_toy(toy, tmp_path, monkeypatch):
    """The toy catalogue in an empty directory, with a results folder of two runs."""
    monkeypatch.chdir(tmp_path)
    trainbugs.run("Toy-1", seeds=[0], python=sys.executable, root=toy.root)
    return toy


def commit(toy):
    """Make the toy's runs its expected records."""
    outcome = toy.run()
    for run in outcome.records:
        write_json(expected_path(toy.bug, run), encode(run))
    return outcome


def test_the_names_of_the_package_are_those_of_the_interface():
    assert trainbugs.__all__ == sorted([*api.__all__, *trainbugs.WATCHING])
    assert all(getattr(trainbugs, name).__doc__ for name in trainbugs.__all__)


def test_nothing_heavy_is_imported_before_it_is_used():
    code = (
        "import sys, trainbugs; trainbugs.load().ids(); trainbugs.records, trainbugs.scores, "
        "trainbugs.plot;print([name for name in ('pandas', 'numpy', 'matplotlib', 'evaluation', "
        "'plots') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout == "[]\n"


def test_load_and_run(api_toy):
    assert (
        trainbugs.load(str(api_toy.root)).ids() == trainbugs.load(api_toy.root).ids() == ("Toy-1",)
    )
    outcome = trainbugs.run("Toy-1", seeds=[0], python=sys.executable, root=str(api_toy.root))[0]
    assert outcome.verdict.outcome == "REPRODUCED"
    with pytest.raises(UsageError, match="holds no folder bugs"):
        trainbugs.load(api_toy.directory)


def test_the_catalogue_is_a_collection_of_bugs(toy):
    catalog = trainbugs.load(toy.root)
    assert len(catalog) == 1
    assert [bug.id for bug in catalog] == ["Toy-1"]
    assert "Toy-1" in catalog
    assert "Toy-2" not in catalog
    assert 1 not in catalog


def test_arguments_are_those_of_the_command(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("TRAINBUGS_DATA", "/no/such/folder")
    with pytest.raises(UsageError, match="TRAINBUGS_DATA"):
        trainbugs.run("Toy-1", python=sys.executable, root=toy.root, results=tmp_path)
    monkeypatch.delenv("TRAINBUGS_DATA")
    for wrong in (
        {"device": "cuda:x"},
        {"seeds": [0, 0]},
        {"timeout_s": -1},
        {"data": "/no/such"},
        {"environment": "x"},
    ):
        with pytest.raises(UsageError):
            trainbugs.run("Toy-1", python=sys.executable, root=toy.root, results=tmp_path, **wrong)
    with pytest.raises(UsageError, match="name the bugs to run"):
        trainbugs.run(python=sys.executable, root=toy.root, results=tmp_path)
    assert (
        trainbugs.run("Toy-1", seeds=[], python=sys.executable, root=toy.root, results=tmp_path)[
            0
        ].records
        == ()
    )


def test_bugs_has_a_row_a_case_of_scalars():
    table = trainbugs.bugs()
    catalog = trainbugs.load()
    assert list(table.bug + "/" + table.case) == [
        case.id for bug in catalog for case in bug.cases.values()
    ]
    assert pd.api.types.is_bool_dtype(table.benign)
    assert table.seconds.dtype == "float64"
    assert not any(
        isinstance(cell, list | dict | tuple)
        for row in table.to_dict("records")
        for cell in row.values()
    )
    row = table[(table.bug == "PyTorch-115607") & (table.case == "simple")].iloc[0]
    bug = catalog.bug("PyTorch-115607")
    assert row.seconds == seconds(bug, bug.cases["simple"]) > 0
    assert (row.bug_title, row.source) == (bug.title, bug.source)
    assert (row.location, row.symptom, row.site_api) == (
        bug.labels.location,
        bug.labels.symptom,
        bug.site.api,
    )
    assert (row.cause, row.effect, row.stage) == (
        bug.labels.cause,
        bug.labels.effect,
        bug.labels.stage,
    )
    realism = dict(zip(table.bug + "/" + table.case, table.realism, strict=True))
    assert (realism["PyTorch-115607/simple"], realism["PyTorch-115607/optimizers"]) == (
        "adapted",
        "our own",
    )
    assert row.title == bug.cases["simple"].title
    assert row.seeds == "0"
    assert set(table.needs) >= {"", "data"}
    assert "0, 1, 2" in set(table.seeds)


def test_what_bugs_does_not_know_and_cannot_read(toy):
    status = {"state": "retired", "since": "2026-11-01", "reason": "a test"}
    toy.configure(site={"file": "buggy.py", "api": "print"}, status=status)
    table = trainbugs.bugs(toy.root)
    assert table.retired.tolist() == ["2026-11-01: a test"]
    assert table.seconds.isna().all()
    assert table.site_line.isna().all()
    toy.write("config.json", "{")
    with pytest.warns(UserWarning, match="not JSON"):
        assert trainbugs.bugs(toy.root).empty
    shutil.rmtree(toy.directory)
    assert trainbugs.bugs(toy.root).empty


def test_expected_records(toy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert trainbugs.records("expected", root=toy.root).empty
    runs = commit(toy).records
    table = trainbugs.records("expected", root=toy.root)
    assert len(table) == sum(len(run.metrics) for run in runs) == 12
    assert list(table["metric.accuracy"][table.variant == "buggy"]) == [1, 2, 3, 2, 3, 4]
    for names in (["Toy-1"], ["Toy-1/only"], ["Toy-1", "Toy-1/only"], [str(toy.directory)]):
        assert trainbugs.records("expected", *names, root=toy.root).equals(table)
    with pytest.raises(UsageError, match=r"there is no bug 'Toy1' \(did you mean Toy-1"):
        trainbugs.records("expected", "Toy1", root=toy.root)
    with pytest.raises(UsageError, match="names a variant"):
        trainbugs.records("expected", "Toy-1/only/buggy", root=toy.root)
    with pytest.raises(UsageError, match="source is 'Toy-1', expected 'expected' .* or 'results'"):
        trainbugs.records("Toy-1", root=toy.root)  # type: ignore[arg-type]


def test_committed_records_are_read():
    table = trainbugs.records("expected", "SO-60335387/digits", "PyTorch-115607")
    bug = trainbugs.load().bug("SO-60335387")
    digits = table[table.bug == "SO-60335387"]
    assert set(digits.case) == {"digits"}
    assert set(table.bug) == {"SO-60335387", "PyTorch-115607"}
    expected = [
        metric["validation_loss"]
        for run in expected_records(bug, "digits")
        for metric in run.metrics
    ]
    assert list(digits["metric.validation_loss"]) == expected


def test_records_that_cannot_be_read_are_left_out_with_a_warning(api_toy):
    commit(api_toy)
    (api_toy.bug.expected / "only" / "buggy-seed0.json").write_text("{")
    with pytest.warns(UserWarning, match="buggy-seed0.json: not a run record") as warned:
        assert len(trainbugs.records("expected", "Toy-1", root=api_toy.root)) == 9
    assert warned[0].filename == __file__
    next((api_toy.root.parent / "results" / "Toy-1" / "only").glob("buggy-*.json")).write_text("{")
    with pytest.warns(UserWarning, match="not a run record"):
        assert len(trainbugs.records("results", "Toy-1", root=api_toy.root)) == 3


def test_records_of_a_results_folder(api_toy, tmp_path):
    for _ in range(2):  # without an index, and with it
        assert len(trainbugs.records("results", root=api_toy.root)) == 6
    for names in (["Toy-1"], ["Toy-1/only"], ["Toy-1", "Toy-1/only"], [str(api_toy.directory)]):
        assert len(trainbugs.records("results", *names, root=api_toy.root)) == 6
    with pytest.raises(UsageError, match="there is no folder 'elsewhere'"):
        trainbugs.records("results", folder="elsewhere")
    with pytest.raises(UsageError, match=r"there is no bug 'Toy-2' \(did you mean Toy-1"):
        trainbugs.records("results", "Toy-2", root=api_toy.root)
    # Known to the catalogue and not run, which must not go under beside what was run.
    with pytest.raises(UsageError, match="no records of SO-60335387 in results"):
        trainbugs.records("results", "Toy-1", "SO-60335387")
    # Run and not known to the catalogue.
    assert len(trainbugs.records("results", "Toy-1")) == 6
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no records of any bug in empty"):
        trainbugs.records("results", folder="empty")
    with pytest.raises(UsageError, match="no bug directory"):
        trainbugs.records("results", "..", root=api_toy.root)


def test_scores_are_the_committed_table_and_outcomes_are_of_each_record_and_rule():
    folder = ROOT / "detectors" / "expected"
    records, outcomes = CommittedChecks(folder).read(), trainbugs.outcomes()
    catalog = Catalog(ROOT)
    records = select_current(select_counted(records, declared_programs(catalog)), catalog)
    expected_rows = sum(len(records.rules[check.detector]) for check in records.checks)
    assert len(outcomes) == expected_rows > 5000
    assert outcomes.alarmed.sum() > outcomes.early.sum() > 0
    assert_same_table(trainbugs.scores().to_csv(index=False), (folder / "scores.csv").read_text())
    some = trainbugs.scores("expected", "pyod", "api-sequence")
    assert set(some.detector) == {"pyod", "api-sequence"}
    assert len(some) > 2
    assert set(trainbugs.outcomes("expected", "pyod").detector) == {"pyod"}


def test_scores_of_a_results_folder(tmp_path):
    store = CheckStore(tmp_path / "detectors")
    store.save_detector(read(ROOT / "detectors" / "api-sequence"))
    with pytest.raises(
        UsageError, match="no checks of any detector in .*; `trainbugs evaluate` makes them"
    ):
        trainbugs.scores("results", folder=tmp_path)
    for check in (record(alarms=[HIT]), record("fixed")):
        store.save(record_of("api-sequence", check))
    assert trainbugs.scores("results", folder=tmp_path).paired.tolist() == [1]
    assert trainbugs.outcomes("results", "api-sequence", folder=str(tmp_path)).alarmed.tolist() == [
        True,
        False,
    ]
    with pytest.raises(UsageError, match="no checks of pyod"):
        trainbugs.scores("results", "api-sequence", "pyod", folder=tmp_path)
    with pytest.raises(
        UsageError, match=r"no checks of api-sequenc \(did you mean api-sequence\?\) in "
    ):
        trainbugs.scores("results", "api-sequenc", folder=tmp_path)
    with pytest.raises(UsageError, match="there is no folder"):
        trainbugs.outcomes("results", folder=tmp_path / "none")


def record_of(detector, original):
    from support.copies import replace

    return replace(original, detector=detector)


def test_plot_is_the_figure_that_is_written(api_toy, tmp_path):
    before = set(tmp_path.rglob("*"))
    figure = trainbugs.plot("Toy-1", "results", root=api_toy.root)
    assert set(tmp_path.rglob("*")) == before
    outcome = api_toy.run(seeds=[0])
    item = figures.CaseRuns(api_toy.bug, api_toy.bug.cases["only"], outcome.records)
    *_, compared, _ = figures.draw([item], tmp_path / "out", "png").paths
    assert compared.name == "compare_only.png"
    assert style.save(figure, tmp_path / "plotted.png").read_bytes() == compared.read_bytes()


def test_a_notebook_shows_the_figure_without_pyplot():
    code = (
        "import sys, trainbugs; png = trainbugs.plot('PyTorch-115607/simple')._repr_png_();assert "
        "'matplotlib.pyplot' not in sys.modules and 'torch' not in sys.modules; "
        "sys.stdout.buffer.write(png)"
    )
    png = subprocess.run(
        [sys.executable, "-c", code], check=True, cwd=ROOT, capture_output=True
    ).stdout
    assert png.startswith(PNG)
    assert len(png) > 10_000
    width, height = int.from_bytes(png[16:20]), int.from_bytes(png[20:24])
    assert (width, height) == (round(2 * 4.6 * 120), round(3.4 * 120))


def test_plot_draws_curves_of_both_variants_or_the_heat_map():
    curves = trainbugs.plot("PyTorch-115607/complex")
    assert {"buggy, dynamo", "fixed, dynamo"} <= {line.get_label() for line in curves.axes[0].lines}
    maps = trainbugs.plot("PyTorch-115607/optimizers")
    assert [axes.get_title() for axes in maps.axes][:2] == ["buggy", "fixed"]


def test_a_name_is_no_comparison():
    with pytest.raises(UsageError, match=r"takes what trainbugs\.against returns, not a str"):
        trainbugs.plot_against("trainproof")  # type: ignore[arg-type]


def test_what_cannot_be_plotted(api_toy):
    names = "SO-60335387/digits, SO-60335387/lr1e-4, SO-60335387/lr1e-5"
    with pytest.raises(UsageError, match=f"SO-60335387 has several cases; name one of {names}"):
        trainbugs.plot("SO-60335387")
    with pytest.raises(UsageError, match="has no case 'digit'; expected one of digits"):
        trainbugs.plot("SO-60335387/digit")
    with pytest.raises(UsageError, match="Toy-1/only has no expected records"):
        trainbugs.plot("Toy-1", root=api_toy.root)
    with pytest.raises(UsageError, match="SO-60335387/digits has no verdict in results"):
        trainbugs.plot("SO-60335387/digits", source="results")
    with pytest.raises(UsageError, match="there is no folder 'none'"):
        trainbugs.plot("Toy-1", source="results", folder="none", root=api_toy.root)
    api_toy.write("buggy.py", "raise RuntimeError")
    trainbugs.run("Toy-1", seeds=[0], python=sys.executable, root=api_toy.root)
    with pytest.raises(
        MeasureError, match="Toy-1/only: no curves: there is no finished run of the buggy variant"
    ):
        trainbugs.plot("Toy-1", source="results", root=api_toy.root)
    next((api_toy.root.parent / "results" / "Toy-1" / "only").glob("fixed-*.json")).write_text("{")
    with pytest.raises(ResultsError, match="not a run record"):
        trainbugs.plot("Toy-1", source="results", root=api_toy.root)


@pytest.mark.parametrize("name", Catalog(ROOT).ids())
def test_texts_of_objects_are_short_lines(name):
    bug = Catalog(ROOT).bug(name)
    shown = [repr(bug)]
    for case in bug.cases.values():
        records = tuple(expected_records(bug, case.name))
        target = Target(bug, case, ("buggy", "fixed"))
        outcome = Outcome(target, verify(case, records), records, 0.0)
        shown += map(
            repr,
            (
                case,
                target,
                outcome,
                outcome.verdict,
                summary(outcome),
                *outcome.verdict.checks,
                *records,
            ),
        )
    assert all(len(text) <= 120 and text.isprintable() for text in shown), max(shown, key=len)
    assert all(name in text for text in shown if not text.startswith("Check("))


def test_what_the_texts_say(toy):
    outcome = toy.run()
    case, run, check = outcome.target.case, outcome.records[0], outcome.verdict.checks[0]
    assert repr(toy.catalog) == f"Catalog({str(toy.root)!r}, 1 bug)"
    assert repr(toy.bug) == "Bug('Toy-1', 1 case)"
    assert repr(case) == "Case('Toy-1/only', 2 seeds)"
    assert repr(outcome.target) == "Target('Toy-1/only', buggy and fixed)"
    assert repr(outcome) == "Outcome('Toy-1/only', REPRODUCED, 4 runs)"
    assert repr(outcome.verdict) == "Verdict('Toy-1/only', REPRODUCED, 4 checks)"
    assert repr(summary(outcome)) == "VerdictRecord('Toy-1/only', REPRODUCED, 4 runs)"
    assert repr(run) == "RunRecord('Toy-1/only/buggy', seed 0, ok, 3 records)"
    assert repr(check) == "Check('buggy stays low', seed 0, holds)"
    commit(toy)
    assert repr(toy.run()) == "Outcome('Toy-1/only', REPRODUCED, drift 0, 4 runs)"
    alone = toy.run("Toy-1/only/buggy")
    assert repr(alone.target) == "Target('Toy-1/only', buggy)"
    assert repr(alone.verdict) == "Verdict('Toy-1/only', no verdict, 2 checks)"


def test_against_says_what_a_name_may_mean():
    expected = "no records of api-sequenc .did you mean api-sequence.*; `trainbugs evaluate` makes"
    with pytest.raises(UsageError, match=expected):
        trainbugs.against("api-sequenc", source="expected")
    with pytest.raises(UsageError, match="name a detector of yours first"):
        trainbugs.against(source="expected")
