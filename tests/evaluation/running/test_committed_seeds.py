"""Committed records of further seeds: in a folder of their own, beside those of first ones,
of the same code.
"""

from pathlib import Path

import pandas as pd
import pytest
from msgspec.structs import replace
from support.detectors import write_detector
from support.paths import ROOT
from support.rewritten import CODE, commit, pair
from support.toy import OWN_PYTHON

from evaluation.catalog.detectors import read as read_detector
from evaluation.reading.load import folder_with
from evaluation.reading.seeds import committed_with_seeds
from evaluation.reading.sources import RecordSelection, read_records, read_seeds
from evaluation.records import OTHER_CODE, program_name
from evaluation.running import execute, promote
from evaluation.running.options import CampaignOptions
from evaluation.running.promote import refuse_part
from evaluation.scoring.outcomes import outcomes
from evaluation.scoring.seeds import FILE, by_seed
from evaluation.store.committed import SEEDS, CommittedChecks
from runner.bugs.catalog import Catalog
from runner.errors import UsageError
from runner.session.options import Options

ALWAYS = 'main(lambda target, state: {"alarms": [alarm("here", "something", iteration=2)]})'
TITLE = "Cases that were met by several seeds:"


def test_from_the_command_to_the_scores(cli, toy, tmp_path, monkeypatch):
    # Toys have no repository, and run in the interpreter of the tests.
    monkeypatch.setattr(promote, "_refuse_record", lambda record: None)
    monkeypatch.setattr(promote, "refuse_uncommitted", lambda options: None)
    monkeypatch.setattr(execute, "_is_dirty", lambda record: False)
    toy.configure(seeds=[0, 1])
    detector, expected = (
        write_detector(tmp_path / "always", ALWAYS),
        toy.root / "detectors" / "expected",
    )
    command = (
        "evaluate",
        "--detector",
        detector,
        *OWN_PYTHON,
        "--results",
        toy.results,
        "--update-expected",
    )
    status, out, _ = cli(*command)
    assert status == 0
    assert TITLE not in out
    assert not (expected / "seeds").exists()
    assert not (expected / FILE).exists()
    public = {path.name: path.read_bytes() for path in expected.iterdir()}
    assert TITLE not in cli("scores")[1]
    status, out, _ = cli(*command, "--all-seeds")
    assert status == 0
    assert TITLE in out
    # Tables of first seeds stay what they are, to the byte.
    now = {path.name: path.read_bytes() for path in expected.iterdir() if path.is_file()}
    assert set(now) - set(public) == {FILE}
    assert all(now[name] == public[name] for name in public)
    first, further = (CommittedChecks(folder).read().checks for folder in _folders(expected))
    assert {check.seed for check in first} == {0}
    assert {check.seed for check in further} == {1}
    status, out, _ = cli("scores")
    title, heading, row = out.split("\n\n")[-2].splitlines()
    assert status == 0
    assert title == TITLE
    assert row.split() == ["always", "0/1", "0/1", "0/1", "1/1", "1/1", "1/1"]
    assert Path("scores", FILE).read_bytes() == now[FILE]
    assert list(pd.read_csv("scores/scores.csv").detected_n) == [1]
    # Of a part of the programs there is no such table, and one document has no second one.
    assert TITLE not in cli("scores", "--bugs", "Toy-1")[1]
    assert not Path("scores", FILE).exists()
    assert "PAIRED, ANY" not in cli("scores", "--format", "csv")[1]
    assert (
        r"\caption{Cases that were met by several seeds}" in cli("scores", "--format", "latex")[1]
    )
    # One's own records count by whatever seeds there are.
    status, out, _ = cli("scores", "--from", "results", "--results", toy.results)
    assert status == 0
    _, _, all_cases = out.partition("All cases, those of known bugs too:")
    assert all_cases.splitlines()[2].split()[1:4:2] == ["2/2", "0/2"]
    assert TITLE in out
    write_detector(detector, ALWAYS + "  # mended")
    status, out, err = cli(*command)
    assert status == 0
    assert TITLE not in out
    assert not (expected / FILE).exists()
    status, out, err = cli("scores")
    line = (
        "by seeds: of always records of further seeds are left out: they are of another code than "
        "those of the first"
    )
    assert status == 0
    assert line in err
    assert TITLE not in out


def test_a_whole_evaluation_has_the_cases_that_need_data(tmp_path):
    plan = CampaignOptions([read_detector(write_detector(tmp_path / "d", ALWAYS))])
    with pytest.raises(UsageError, match="SO-60335387/lr1e-4, SO-60335387/lr1e-5 need --data DIR"):
        refuse_part(plan, Options(), ROOT)
    refuse_part(plan, Options(data=tmp_path), ROOT)


def _folders(expected):
    return expected, expected / "seeds"


def test_records_by_further_seeds_go_with_the_program_that_they_are_of(
    cli, toy, tmp_path, monkeypatch
):
    """A plain evaluation keeps those of programs that are what they were, and drops the others."""
    monkeypatch.setattr(promote, "_refuse_record", lambda record: None)
    monkeypatch.setattr(promote, "refuse_uncommitted", lambda options: None)
    toy.configure(seeds=[0, 1])
    detector, expected = (
        write_detector(tmp_path / "always", ALWAYS),
        toy.root / "detectors" / "expected",
    )
    command = (
        "evaluate",
        "--detector",
        detector,
        *OWN_PYTHON,
        "--results",
        toy.results,
        "--update-expected",
    )
    cli(*command, "--all-seeds")
    before = (expected / FILE).read_bytes()
    assert TITLE in cli(*command)[1]
    assert (expected / FILE).read_bytes() == before
    toy.write("fixed.py", (toy.directory / "fixed.py").read_text() + "# mended\n")
    cli(*command)
    (remaining,) = CommittedChecks(expected / "seeds").read().checks
    assert remaining.kind == "buggy"
    assert remaining.seed == 1


@pytest.fixture
def both(toy):
    """Commit two programs by a first seed and by another one; returns what counts of them."""

    def call(code=CODE, first=0, seed=1, cases=("one", "two")):
        commit(
            toy.root,
            "d",
            "",
            [replace(check, seed=first) for case in cases for check in pair(case, code=CODE)],
        )
        further = [*pair("one", code=code), *pair("two", code=CODE)]
        commit(toy.root, "d", "", further, seed=seed)
        records = committed_with_seeds([toy.root / "detectors" / "expected"])
        return sorted(
            {(check.case, check.seed) for check in records.checks}
        ), records.excluded_detectors(OTHER_CODE)

    return call


def test_records_by_further_seeds_count_beside_one_of_the_same_code_by_a_smaller_seed(both):
    assert both() == ([("one", 0), ("one", 1), ("two", 0), ("two", 1)], ())
    assert both(code=64 * "b") == ([("one", 0), ("two", 0), ("two", 1)], ("d",))
    assert both(cases=["two"]) == ([("two", 0), ("two", 1)], ("d",))
    assert both(cases=[]) == ([], ("d",))
    assert both(first=1) == ([], ("d",))
    assert both(first=2) == ([], ("d",))


def test_the_committed_table_is_that_of_the_committed_records():
    folder = ROOT / "detectors" / "expected"
    catalog, selection = Catalog(ROOT), RecordSelection((), "expected", folder)
    records = read_seeds(catalog, selection, read_records(catalog, selection))
    assert records
    assert records.checks
    assert not records.excluded_detectors(OTHER_CODE)
    assert (folder / FILE).read_text() == by_seed(outcomes(records.checks, records.rules)).to_csv(
        index=False
    )


def test_further_seeds_are_of_what_was_met_by_the_first_one():
    folder = CommittedChecks(folder_with(ROOT, SEEDS))
    firsts = {detector_and_program(record): record for record in folder.read().checks}
    for record in folder.further.read().checks:
        first = firsts[detector_and_program(record)]
        assert first.seed < record.seed
        assert first.trigger == record.trigger
        assert first.site == record.site
        assert first.runtime.environment == record.runtime.environment
        assert first.rules == record.rules


def detector_and_program(record):
    return record.detector, *program_name(record)[:-1]
