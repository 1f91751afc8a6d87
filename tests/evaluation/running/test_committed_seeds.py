"""Committed records of further seeds: in a folder of their own, beside those of first ones, of the same code."""

from pathlib import Path

import pandas as pd
from support.detectors import write_detector
from support.paths import ROOT
from support.toy import OWN_PYTHON

from evaluation.running import promote
from evaluation.scoring.beside import with_further
from evaluation.scoring.scores import outcomes
from evaluation.scoring.seeds import FILE, by_seed
from evaluation.store import ExpectedEvaluations

ALWAYS = 'main(lambda target, state: {"alarms": [alarm("here", "something", iteration=2)]})'
TITLE = "Cases that were met by several seeds:"


def test_from_the_command_to_the_scores(cli, toy, tmp_path, monkeypatch):
    # Toys have no repository, and run in the interpreter of the tests.
    monkeypatch.setattr(promote, "_refuse_record", lambda record: None)
    toy.configure(seeds=[0, 1])
    detector, expected = write_detector(tmp_path / "always", ALWAYS), toy.root / "detectors" / "expected"
    asked = ("evaluate", "--detector", detector, *OWN_PYTHON, "--results", toy.results, "--update-expected")
    status, out, _ = cli(*asked)
    assert status == 0 and TITLE not in out and not (expected / "seeds").exists() and not (expected / FILE).exists()
    public = {path.name: path.read_bytes() for path in expected.iterdir()}
    assert TITLE not in cli("scores")[1]
    status, out, _ = cli(*asked, "--all-seeds")
    assert status == 0 and TITLE in out
    # Tables of first seeds stay what they are, to the byte.
    now = {path.name: path.read_bytes() for path in expected.iterdir() if path.is_file()}
    assert set(now) - set(public) == {FILE} and all(now[name] == public[name] for name in public)
    met = [{each.seed for each in folder.read().checks} for folder in map(ExpectedEvaluations, _folders(expected))]
    assert met == [{0}, {1}]
    status, out, _ = cli("scores")
    title, heading, row = out.split("\n\n")[-2].splitlines()
    assert (status, title, row.split()) == (0, TITLE, ["always", "0/1", "0/1", "0/1", "1/1", "1/1", "1/1"])
    assert Path("scores", FILE).read_bytes() == now[FILE]
    assert list(pd.read_csv("scores/scores.csv").detected_n) == [1]
    # Of a part of the programs there is no such table, and one document has no second one.
    assert TITLE not in cli("scores", "--bugs", "Toy-1")[1] and "PAIRED, ANY" not in cli("scores", "--format", "csv")[1]
    assert r"\caption{Cases that were met by several seeds}" in cli("scores", "--format", "latex")[1]
    # One's own records count by whatever seeds there are.
    status, out, _ = cli("scores", "--from", "results", "--results", toy.results)
    assert status == 0 and out.splitlines()[1].split()[1:4:2] == ["2/2", "0/2"] and TITLE in out
    write_detector(detector, ALWAYS + "  # mended")
    status, out, err = cli(*asked)
    assert status == 0 and TITLE not in out and not (expected / FILE).exists()
    status, out, err = cli("scores")
    line = (
        "by seeds: of always records of further seeds are left out: they are of another code than those of first ones"
    )
    assert status == 0 and line in err and TITLE not in out


def _folders(expected):
    return expected, expected / "seeds"


def test_the_committed_table_is_that_of_the_committed_records():
    folder = ROOT / "detectors" / "expected"
    found = with_further([folder])
    assert (folder / FILE).exists() == bool(found and found.checks)
    if found and found.checks:
        assert not found.other_code
        assert (folder / FILE).read_text() == by_seed(outcomes(found.checks, found.rules)).to_csv(index=False)


def test_further_seeds_are_of_programs_that_were_met_by_the_first_one():
    folder = ExpectedEvaluations(ROOT / "detectors" / "expected")
    first = {(each.detector, each.references, each.kind, each.bug, each.case) for each in folder.read().checks}
    further = folder.further.read().checks
    assert {(each.detector, each.references, each.kind, each.bug, each.case) for each in further} <= first
    assert all(each.seed > 0 for each in further)
