"""The subcommand scores: of some bugs, of one's own records beside the committed ones,
of detectors without records.
"""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import pytest
from msgspec.structs import replace
from support.checks import HIT, record
from support.detectors import write_detector
from support.paths import ROOT
from support.same_tables import assert_same_table

import trainbugs
from evaluation.catalog import controls, detectors
from evaluation.catalog.detectors import read
from evaluation.store.committed import CommittedChecks
from evaluation.store.results import CheckStore
from runner.errors import UsageError
from trainbugs.cli.main import main
from trainbugs.cli.scoring import ScoreFolder, write_scores

PART = "timm-1978"
CASES = ("PyTorch-115607/simple", "PyTorch-116494/none", "SO-60335387/digits")


@pytest.fixture
def scored(tmp_path, monkeypatch, capsys):
    """Call `scores` where a results folder has records of the detector `mine`,
    which finds the last one of CASES.
    """
    monkeypatch.chdir(tmp_path)
    store = CheckStore(tmp_path / "results" / "detectors")
    store.save_detector(read(write_detector(tmp_path / "mine", "")))
    save(store, "mine", CASES)

    def call(*arguments):
        status = main(["scores", *arguments, "--figures", "none"])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def save(store, detector, cases):
    for bug, case in (name.split("/") for name in cases):
        for kind, alarms in (("buggy", [HIT] if bug.startswith("SO") else []), ("fixed", [])):
            store.save(replace(record(kind, case, alarms), detector=detector, bug=bug))


def numbers(out):
    return {
        row["detector"]: (row["detected"], row["detected_n"], row["paired"])
        for row in json.loads(out)
    }


def rows(table):
    return json.loads(table.to_json(orient="records"))


def test_scores_of_a_location_are_those_of_its_bugs():
    bugs, every = (
        trainbugs.bugs().set_index(["bug", "case"]),
        trainbugs.outcomes("expected", "pyod"),
    )
    of = every.join(bugs.location, on=["bug", "case"])
    compiler = of[(of.location == "compiler") & (of.references == "same") & (of.rule == "iforest")]
    buggy, fixed = (compiler[compiler.kind == kind] for kind in ("buggy", "fixed"))
    scored = rows(trainbugs.scores("expected", "pyod", label="compiler"))
    row = next(row for row in scored if (row["references"], row["rule"]) == ("same", "iforest"))
    hits = (buggy.alarmed & ~buggy.early).sum()
    assert (row["detected"], row["detected_n"]) == (hits, len(buggy))
    assert 0 < hits < len(buggy)
    assert (row["false_fixed"], row["false_fixed_n"]) == (
        fixed.alarmed.sum(),
        (fixed.status == "ok").sum(),
    )
    own_rule_rows = (
        (every.kind == "control") & (every.references == "same") & (every.rule == "iforest")
    )
    assert row["false_controls_n"] == (every[own_rule_rows].status == "ok").sum() > 60
    assert row["detected_low"] < row["detected_rate"] < row["detected_high"]
    both = trainbugs.outcomes(
        "expected", "pyod", label=["compiler", "library"], bugs=["PyTorch-115607", "Bolts-654"]
    )
    assert set(both.bug[both.kind == "buggy"]) == {"PyTorch-115607", "Bolts-654"}


def test_of_some_bugs_the_same_rules_are_chosen(scored):
    names, key = ("loss-rules", "pyod", "trainproof"), ["detector", "references", "rule"]
    whole = trainbugs.scores("expected", *names).set_index(key).chosen
    assert scored(*names, "--bugs", PART, "--json")[0] == 0
    printed = pd.read_csv("scores/scores.csv").set_index(key).chosen
    alone = trainbugs.scores("expected", *names, bugs=PART).set_index(key).chosen
    assert whole.sum() == 7
    assert whole.to_dict() == alone.to_dict() == printed.to_dict()


def test_the_files_and_tables_of_all_committed_records(scored):
    """The correction is for pairs of chosen rules; the tables that are printed have these, too."""
    status, out, _ = scored()
    assert status == 0
    assert "\ndslinter (all) " in out
    assert "(zero-grad)" not in out
    assert "trainproof (live-1)" not in out
    expected = ROOT / "detectors" / "expected"
    for name in ("scores.csv", "seeds.csv", "side-by-side.csv"):
        assert_same_table(Path("scores", name).read_text(), (expected / name).read_text())
    frame = trainbugs.comparisons()
    assert frame.to_csv(index=False) == Path("scores", "comparisons.csv").read_text()
    tested = frame[frame.p_holm.notna()]
    committed = (expected / "comparisons.csv").read_text()
    assert_same_table(tested.to_csv(index=False), committed)
    assert not {"dslinter (zero-grad)", "trainproof (live-1)"} & {*tested["first"], *tested.second}


def test_a_folder_of_committed_scores_has_the_same_form_by_any_path(tmp_path, monkeypatch):
    """Without outcomes, and with the comparisons of chosen rules alone."""
    committed = tmp_path / "detectors" / "expected"
    committed.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    catalog = SimpleNamespace(root=tmp_path)
    tables = SimpleNamespace(
        scores=trainbugs.scores("expected", "losslint"),
        outcomes=trainbugs.outcomes("expected", "losslint"),
        comparisons=trainbugs.comparisons("expected", "losslint", "mldoct"),
    )
    for path in (committed, Path("detectors", "expected"), Path("detectors", "..", "scores")):
        path.mkdir(parents=True, exist_ok=True)
        write_scores(cast(Any, tables), ScoreFolder(path), "none", cast(Any, catalog))
        assert (path / "outcomes.csv").exists() == (path.name == "scores")


def test_own_records_beside_the_committed_ones(scored, tmp_path):
    status, out, err = scored("mine", "optimizer-progress", "--from", "both", "--json")
    assert status == 0
    assert numbers(out) == {"mine": (1, 3, 1), "optimizer-progress": (6, 94, 6)}
    assert "left out" not in err
    common = ("mine", "optimizer-progress", "--from", "both", "--common", "--json")
    assert numbers(scored(*common)[1]) == {"mine": (1, 3, 1), "optimizer-progress": (2, 3, 2)}
    assert numbers(scored(*common, "--label", "compiler")[1]) == {
        "mine": (0, 2, 0),
        "optimizer-progress": (2, 2, 2),
    }
    assert numbers(scored(*common, "--bugs", *CASES[1:])[1]) == {
        "mine": (1, 2, 1),
        "optimizer-progress": (1, 2, 1),
    }
    frame = trainbugs.scores("both", "mine", "optimizer-progress", bugs=CASES[1:], common=True)
    assert frame.detected_n.tolist() == [2, 2]
    assert pd.read_csv("scores/scores.csv").detected_n.tolist() == [2, 2]
    store = CheckStore(tmp_path / "results" / "detectors")
    store.save_detector(read(ROOT / "detectors" / "optimizer-progress"))
    save(store, "optimizer-progress", CASES[:1])
    status, out, err = scored("optimizer-progress", "--from", "both", "--json")
    assert numbers(out) == {"optimizer-progress": (0, 1, 0)}
    assert err.startswith(
        "of optimizer-progress your records count, and the committed ones do not: name another "
        "--results to have these\n"
    )


def test_own_records_beside_named_committed_ones(scored, tmp_path):
    """Only on the programs that all were shown, and the pairs of detectors with the others'
    tables.
    """
    out = scored("mine", "--beside", "optimizer-progress", "--json")[1]
    assert numbers(out) == {"mine": (1, 3, 1), "optimizer-progress": (2, 3, 2)}
    frame = trainbugs.comparisons("results", "mine", beside="optimizer-progress", label="compiler")
    paired = frame[frame.measure == "paired"].iloc[0]
    assert (paired.programs, paired.only_first, paired.only_second, paired.p) == (2, 0, 2, 0.5)
    assert (
        "records of 'results', not of 'both'"
        in scored("mine", "--beside", "pyod", "--from", "both")[2]
    )


@pytest.mark.parametrize(
    "form, words", [("markdown", "| mine | 1/3 (0-100) |"), ("latex", r"mine & 1/3 (0-100) &")]
)
def test_scores_for_a_paper(scored, form, words):
    status, out, err = scored("mine", "--from", "results", "--format", form)
    assert status == 0
    assert words in out
    assert "written to scores" in err
    assert "written" not in out


def test_scores_as_csv_and_json_are_what_the_files_hold(scored, tmp_path):
    assert (
        scored("mine", "--from", "results", "--format", "csv")[1]
        == (tmp_path / "scores/scores.csv").read_text()
    )
    out = scored("mine", "--from", "results", "--format", "json")[1]
    assert json.loads(out) == json.loads((tmp_path / "scores/scores.json").read_text())


def test_scores_fit_into_80_columns(scored):
    """The committed ones, with the longest names there are."""
    tables, _, _ = scored()[1].partition("Cases that were met by several seeds:")
    lines = tables.splitlines()
    assert max(map(len, lines[: lines.index("")])) <= 80
    assert len(lines) > 40


def test_the_page_says_which_controls_its_example_of_the_compiler_counts(scored, tmp_path):
    """With what the first example of the page leaves in the results folder, and without it."""
    committed = CommittedChecks(ROOT / "detectors" / "expected").read(["optimizer-progress"]).checks
    environment = next(
        check.runtime.environment for check in committed if check.bug == "SO-60335387"
    )
    store = CheckStore(tmp_path / "results" / "detectors")
    store.save_detector(read(write_detector(tmp_path / "my-detector", "")))
    for check in committed:
        if check.bug in ("PyTorch-107076", "PyTorch-115607"):
            store.save(replace(check, detector="my-detector"))
    command = (
        "my-detector",
        "api-sequence",
        "optimizer-progress",
        "--from",
        "both",
        "--label",
        "compiler",
        "--common",
    )

    def rates_on_controls():
        return [
            f"{row['false_controls']}/{row['false_controls_n']}"
            for row in json.loads(scored(*command, "--json")[1])
        ]

    assert rates_on_controls() == ["0/0"] * 3
    for_sanitizers = controls.load(ROOT).look_alikes
    shown = [
        check for check in committed if check.kind == "control" and check.case not in for_sanitizers
    ]
    accused, *other_checks = [check for check in shown if check.runtime.environment == environment]
    for check in (replace(accused, alarms=(HIT,)), *other_checks):
        store.save(replace(check, detector="my-detector"))
    own_rate, *other_rates = sorted(rates_on_controls(), reverse=True)
    count = own_rate.removeprefix("1/")
    sentence = (
        f"still has answers about {count} controls, and ON CONTROLS counts them: "
        f"{own_rate} for my-detector, {other_rates[0]} for the other two."
    )
    assert other_rates[0] == other_rates[1]
    assert sentence in " ".join((ROOT / "docs" / "evaluate.md").read_text().split())


@pytest.mark.parametrize(
    "arguments, words",
    [
        (
            ["mine", "pyod", "--from", "results"],
            "no checks of pyod in results/detectors; there are those of mine",
        ),
        (
            ["mine"],
            "no checks of mine in the committed records; add `--from results`, without --beside: results/detectors "
            "holds some",
        ),
        (
            ["mien", "--from", "results"],
            "no checks of mien (did you mean mine?) in results/detectors; there are those",
        ),
        (["api-sequenc"], "no checks of api-sequenc (did you mean api-sequence"),
        (
            ["pyodd", "--from", "both"],
            "in results/detectors and the committed records; there are those of anomaly-mode",
        ),
        (
            ["--bugs", "PyTorch-115607/graphs"],
            "there are no checks on PyTorch-115607/graphs by these detectors",
        ),
        (["--bugs", "SO-6033538"], "there is no bug 'SO-6033538' (did you mean SO-60335387"),
        (["--label", "compilr"], "no case fits --label 'compilr' (did you mean compiler"),
        (
            ["mine", "--from", "results", "--label", "library"],
            "no checks on library by these detectors",
        ),
        (["--from", "both", "--results", "none"], "there is no folder 'none'"),
        (
            ["--from", "results", "--results", "none"],
            "`trainbugs evaluate` make, and trainbugs.run in Python",
        ),
        (
            ["new"],
            "new has no committed records yet; `trainbugs evaluate --detector new` makes some of "
            "your own",
        ),
        (["new", "pyod"], "trainbugs: new has no committed records yet; "),
        (
            ["new", "mine", "--from", "both"],
            "new has no committed records yet, and there are none in results/detectors",
        ),
        (
            ["new", "--from", "results"],
            "no checks of new in results/detectors; there are those of mine",
        ),
    ],
)
def test_what_has_no_records_is_named(scored, monkeypatch, arguments, words):
    shipped = detectors.names(ROOT)
    monkeypatch.setattr(detectors, "names", lambda root: [*shipped, "new"])
    status, out, err = scored(*arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert len(err.splitlines()) == 1


def test_results_without_detectors(scored, tmp_path):
    (tmp_path / "empty").mkdir()
    line = "there are no checks of any detector in empty/detectors; `trainbugs evaluate` makes them"
    assert scored("--from", "results", "--results", "empty")[2] == f"trainbugs: {line}\n"
    spoilt = (
        tmp_path
        / "results"
        / "detectors"
        / "mine"
        / "none"
        / "SO-60335387"
        / "digits"
        / "buggy-0.json"
    )
    spoilt.write_text("{")
    status, out, err = scored("mine", "pyod", "--from", "results")
    assert (status, out) == (2, "")
    assert "no checks of pyod in results/detectors; " in err
    assert str(spoilt.name) in err
    with pytest.warns(UserWarning, match="buggy-0.json: not a record"):
        assert trainbugs.scores("results").detected.tolist() == [0]
    with pytest.raises(UsageError, match="source is 'all', expected .* or 'both'"):
        trainbugs.scores("all")  # type: ignore[arg-type]
