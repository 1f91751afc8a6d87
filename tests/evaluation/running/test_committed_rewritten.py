"""Committed records of rewritten programs: in folders of their own,
set side by side with those of the same code.
"""

import json
from dataclasses import replace as replace_plan
from pathlib import Path

import pandas as pd
import pytest
from msgspec import to_builtins
from msgspec.structs import replace
from support.checks import overhead, with_changes
from support.detectors import write_detector
from support.paths import ROOT
from support.rewritten import CODE, commit, commit_all, pair
from support.same_tables import assert_same_table
from support.toy import OWN_PYTHON

from evaluation.catalog.detectors import read
from evaluation.keys import detector_digest
from evaluation.planting import judgements
from evaluation.planting.judgements import Judgement
from evaluation.reading.load import folder_with
from evaluation.reading.rewritten import committed_with_rewritten
from evaluation.reading.sources import RecordSelection, read_rewritten
from evaluation.records import OTHER_CODE
from evaluation.running import promote
from evaluation.running.campaign import CampaignResult
from evaluation.running.options import CampaignOptions
from evaluation.running.promote import promote_checks, refuse_part, renew_side_by_side
from evaluation.scoring.rewritten import FILE, side_by_side
from evaluation.store.committed import CommittedChecks
from runner.bugs.catalog import Catalog
from runner.bugs.config import REWRITTEN
from runner.errors import ResultsError, UsageError
from runner.session.options import Options

ALWAYS = 'main(lambda target, state: {"alarms": [alarm("here", "something", iteration=2)]})'
NEVER = "main(lambda target, state: {})"
TITLE = "Cases found in programs as published, rewritten, and with planted faults:"
OTHER = 64 * "b"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "expected"


@pytest.fixture
def keep(tmp_path, folder):
    """Commit records of a detector, of programs that are rewritten so."""

    def call(name, rewriting, checks, overheads=()):
        detector = read(write_detector(tmp_path / "own" / name, NEVER))
        CommittedChecks(folder).rewritten_by(rewriting).replace(
            detector, [replace(check, detector=name) for check in checks], overheads
        )

    return call


def counts(folder, column):
    table = side_by_side(committed_with_rewritten([folder]))
    return dict(zip(table.detector, table[column], strict=True))


def test_each_folder_holds_what_its_name_says(folder, keep):
    keep("d", "", pair())
    keep("d", "perturb-1", pair(perturb=1))
    keep("d", "plant-0", pair(plant=0))
    expected = CommittedChecks(folder)
    assert [committed.rewriting for committed in expected.rewritten] == ["perturb-1", "plant-0"]
    assert {check.rewritten_as for check in expected.read().checks} == {""}
    assert {check.perturb for check in expected.rewritten_by("perturb-1").read().checks} == {1}
    assert {check.plant for check in expected.rewritten_by("plant-0").read().checks} == {0}


@pytest.mark.parametrize(
    "place, checks, words",
    [
        ("", pair(perturb=1), "is of programs perturb-1, expected as published"),
        (
            "",
            [*pair(), *pair("two", plant=0)],
            "line 4: is of programs plant-0, expected as published",
        ),
        ("perturb-1", pair(), "line 2: is of programs as published, expected perturb-1"),
        ("perturb-1", pair(perturb=2), "is of programs perturb-2, expected perturb-1"),
        ("plant-1", pair(perturb=1), "is of programs perturb-1, expected plant-1"),
        ("perturb-01", pair(perturb=1), "is of programs perturb-1, expected perturb-01"),
    ],
)
def test_records_of_other_programs_are_refused_with_one_line(folder, keep, place, checks, words):
    keep("d", place, checks)
    with pytest.raises(ResultsError, match=rf"d\.jsonl, .*{words}: they are never mixed") as raised:
        CommittedChecks(folder).rewritten_by(place).read()
    assert len(str(raised.value).splitlines()) == 1


def test_nothing_is_timed_on_rewritten_programs(folder, keep):
    timed = overhead((1.0,), (2.0,))
    keep("d", "", pair(), [timed])
    keep("d", "perturb-1", pair(perturb=1), [timed])
    assert CommittedChecks(folder).read().overheads
    with pytest.raises(
        ResultsError, match="line 4: is of programs as published, expected perturb-1"
    ):
        CommittedChecks(folder).rewritten_by("perturb-1").read()


def test_only_records_of_the_same_code_are_set_side_by_side(folder, keep):
    """The published ones say which, also where the others are newer."""
    keep("same", "", pair(code=CODE, started="1"))
    keep("same", "perturb-1", pair(code=CODE, perturb=1, started="2"))
    keep("same", "perturb-2", pair(alarms=(), code=OTHER, perturb=2, started="3"))
    keep("other", "", pair(code=CODE, started="1"))
    keep("other", "perturb-1", pair(code=OTHER, perturb=1, started="2"))
    keep("unnoted", "", pair(kit=CODE, started="1"))
    keep("unnoted", "perturb-1", pair(kit=CODE, code=CODE, perturb=1, started="2"))
    keep("alone", "plant-1", pair(code=CODE, plant=1, started="1"))
    keep("alone", "plant-2", pair(alarms=(), code=OTHER, plant=2, started="2"))
    records = committed_with_rewritten([folder])
    assert records.excluded_detectors(OTHER_CODE) == ("alone", "other", "same", "unnoted")
    assert {(check.detector, check.rewritten_as) for check in records.checks} == {
        ("same", ""), ("same", "perturb-1"), ("alone", "plant-2"),
    }  # fmt: skip
    assert counts(folder, "perturbed_detected_n")["same"] == 1


def test_who_met_no_rewritten_program_has_no_row(folder, keep):
    keep("d", "", [*pair(), *pair(references="same")])
    keep("d", "perturb-1", pair(perturb=1, references="same"))
    keep("e", "", pair())
    assert {
        (check.detector, check.references) for check in committed_with_rewritten([folder]).checks
    } == {("d", "same")}


def test_without_records_of_rewritten_programs_there_is_no_table(folder, keep):
    keep("d", "", pair())
    assert committed_with_rewritten([folder]) is None
    keep("e", "perturb-1", pair(perturb=1))
    assert committed_with_rewritten([folder], ["d"]) is None
    assert committed_with_rewritten([folder], ["e"]) is not None


def test_the_table_is_written_anew_and_goes_with_its_records(folder, keep):
    keep("d", "", [*pair(code=CODE), *pair("two", code=CODE)])
    keep("d", "perturb-1", pair(alarms=(), code=CODE, perturb=1))
    renew_side_by_side(folder)
    row = pd.read_csv(folder / FILE).iloc[0]
    assert row.public_paired == 1
    assert row.public_paired_n == 1
    assert row.perturbed_paired == 0
    assert row.perturbed_paired_n == 1
    assert 0 < row.public_paired_low < 1
    assert row.public_paired_high == 1
    assert row.perturbed_paired_low == 0
    keep("d", "", pair(code=OTHER))
    assert renew_side_by_side(folder).excluded_detectors(OTHER_CODE) == ("d",)
    assert not (folder / FILE).exists()


def result(folder, checks, broken=()):
    return CampaignResult(tuple(checks), (), tuple(broken), folder / "detectors")


def clean(**changes):
    return [replace(check, revision="0" * 40) for check in pair(**changes)]


@pytest.mark.parametrize(
    "spoil, words",
    [
        ({"pinned": False}, "did not run in a pinned environment"),
        ({"revision": "0-dirty"}, "is not committed"),
        ({"revision": None}, "is not committed"),
        ({"detector": "e"}, "detector d met no program"),
    ],
)
def test_what_is_not_committed_or_not_pinned_is_refused_here_too(tmp_path, folder, spoil, words):
    plan = CampaignOptions([read(write_detector(tmp_path / "d", NEVER))], perturb=1)
    checks = [with_changes(check, **spoil) for check in clean(perturb=1)]
    with pytest.raises(UsageError, match=words):
        promote_checks(plan, result(tmp_path, checks), {"d": folder})
    assert not folder.exists()
    promote_checks(plan, result(tmp_path, clean(perturb=1)), {"d": folder})
    assert [path.relative_to(folder).as_posix() for path in folder.rglob("*.jsonl")] == [
        "rewritten/perturb-1/d.jsonl"
    ]


def test_a_program_that_does_not_run_is_refused_here_too(tmp_path, folder):
    plan = CampaignOptions([read(write_detector(tmp_path / "d", NEVER))], perturb=1)
    broken = type("Subject", (), {"run": type("Run", (), {"name": "Toy-1/only/fixed seed 0"})})
    with pytest.raises(UsageError, match="Toy-1/only/fixed seed 0 does not run by itself"):
        promote_checks(plan, result(tmp_path, clean(perturb=1), [broken]), {"d": folder})
    assert not folder.exists()


def test_only_records_of_these_detectors_and_this_seed_are_replaced(tmp_path, folder, keep):
    for place, changes in (("", {}), ("perturb-1", {"perturb": 1}), ("perturb-2", {"perturb": 2})):
        keep("d", place, pair(**changes))
        keep("e", place, pair(**changes))
    before = {path: path.read_text() for path in folder.rglob("*.jsonl")}
    plan = CampaignOptions(
        [read(write_detector(tmp_path / "d", NEVER))], bugs=["B/two"], controls="none", perturb=1
    )
    promote_checks(plan, result(tmp_path, clean(case="two", perturb=1)), {"d": folder})
    changed = [path for path in folder.rglob("*.jsonl") if path.read_text() != before[path]]
    assert changed == [folder / "rewritten" / "perturb-1" / "d.jsonl"]
    assert {
        check.case for check in CommittedChecks(folder).rewritten_by("perturb-1").read(["d"]).checks
    } == {"two"}


def test_a_part_is_enough_of_rewritten_programs_only(tmp_path):
    part = CampaignOptions(
        [read(write_detector(tmp_path / "d", NEVER))], ["B"], "none", overhead_on=None
    )
    for rewritten in (replace_plan(part, perturb=0), replace_plan(part, plant=1)):
        refuse_part(rewritten, Options(), tmp_path)
    with pytest.raises(UsageError, match="for whole evaluations"):
        refuse_part(part, Options(), tmp_path)


def test_one_kind_of_references_is_enough_where_no_other_row_of_the_same_code_goes(tmp_path):
    described = read(write_detector(tmp_path / "detectors" / "d", NEVER))
    (tmp_path / "bugs").mkdir()
    expected = CommittedChecks(tmp_path / "detectors" / "expected")
    plan = CampaignOptions([described], references=("same",))
    for digest in (detector_digest(described), CODE):
        expected.replace(
            described, pair(code=digest, references="cross") + pair("two", code=CODE), ()
        )
        if digest == CODE:
            refuse_part(plan, Options(), tmp_path)
            continue
        with pytest.raises(
            UsageError,
            match="d has committed records with cross references: add cross to --references",
        ):
            refuse_part(plan, Options(), tmp_path)
        refuse_part(replace_plan(plan, references=("cross",)), Options(), tmp_path)


def judged(program, harm=True, why="loss ends at 2 at best"):
    return Judgement(program, "no-step", "without step", 3, harm, why)


def test_what_is_said_of_planted_faults_is_kept_beside_the_records(tmp_path, folder):
    plan = CampaignOptions([read(write_detector(tmp_path / "d", NEVER))], plant=1)
    place = folder / "rewritten" / "plant-1"
    for program, harm in (("B", True), ("A", True), ("B", False)):
        judgements.write(tmp_path, [judged(program, harm)])
        promote_checks(plan, result(tmp_path, clean(plant=1)), {"d": folder})
    # Of a program that the last evaluation did not have, the word of an earlier one stays.
    assert judgements.read(place) == (judged("A"), judged("B", False))
    assert json.loads((place / "planted.json").read_text())[0]["program"] == "A"
    (place / "planted.json").write_text('[{"program": "A"}]')
    with pytest.raises(
        ResultsError, match=r"planted.json: no list of planted faults: \[0\]: the key 'operator'"
    ):
        promote_checks(plan, result(tmp_path, clean(plant=1)), {"d": folder})


def test_from_the_command_to_the_scores(cli, toy, tmp_path, monkeypatch):
    """Both kinds of records are committed, and set side by side;
    tables of published programs stay as they are.
    """
    # Toys have no repository, and run in the interpreter of the tests.
    monkeypatch.setattr(promote, "_refuse_record", lambda record: None)
    monkeypatch.setattr(promote, "refuse_uncommitted", lambda options: None)
    toy.configure(seeds=[0])
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
    rewritten = (*command, "--bugs", "Toy-1/only", "--controls", "none", "--perturb", "3")
    status, out, err = cli(*command)
    assert status == 0
    assert "side-by-side" not in out + err
    assert not list(expected.glob("*/"))
    public = {path.name: path.read_bytes() for path in expected.iterdir()}
    assert cli("scores")[1].count("PERTURBED") == 0
    scored = {
        name: Path("scores", name).read_bytes()
        for name in ("scores.csv", "outcomes.csv", "comparisons.csv")
    }
    status, out, err = cli(*rewritten)
    assert status == 0
    assert f"written to {expected}: side-by-side.csv" in out
    committed = CommittedChecks(expected).rewritten_by("perturb-3").read().checks
    assert {(check.kind, check.perturb) for check in committed} == {("buggy", 3), ("fixed", 3)}
    now = {path.name: path.read_bytes() for path in expected.iterdir() if path.is_file()}
    assert set(now) - set(public) == {"side-by-side.csv"}
    assert all(now[name] == public[name] for name in public)
    status, out, _ = cli("scores")
    title, heading, row = out.split("\n\n")[-2].splitlines()
    assert status == 0
    assert title == TITLE
    assert heading.split()[1:4] == [
        "PUBLIC",
        "PAIRED",
        "PERTURBED",
    ]
    assert row.split() == ["always", "1/1", "(21-100)", "0/1", "1/1", "(21-100)", "0/1", "-", "-"]
    assert {name: Path("scores", name).read_bytes() for name in scored} == scored
    assert Path("scores", "side-by-side.csv").read_bytes() == now["side-by-side.csv"]
    # Of a part of the programs there is no such table.
    assert "PERTURBED" not in cli("scores", "--bugs", "Toy-1")[1]
    write_detector(detector, ALWAYS + "  # mended")
    status, out, err = cli(*command)
    line = (
        "side by side: of always records of rewritten programs are left out: they are of another "
        "code than those of"
    )
    assert status == 0
    assert line in err
    assert not (expected / "side-by-side.csv").exists()
    status, out, err = cli("scores")
    assert status == 0
    assert line in err
    assert "PERTURBED" not in out
    (expected / "rewritten" / "perturb-3" / "always.jsonl").replace(expected / "always.jsonl")
    status, out, err = cli("scores")
    assert status == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "of programs perturb-3, expected as published" in err


def test_records_of_an_earlier_kit_are_set_side_by_side_with_published_ones_of_that_kit(
    cli, toy, tmp_path
):
    commit_all(toy.root)
    _, before, notes = cli("scores")
    assert "PERTURBED" in before
    assert "earlier kit" not in notes
    expected = toy.root / "detectors" / "expected"
    expected.rename(toy.root / "detectors" / "earlier")
    commit(toy.root, "memory", "", pair("three", code=OTHER))
    status, after, notes = cli("scores")
    assert status == 0
    said = "of an earlier kit, and in no score above: the table of rewritten programs"
    assert said in notes
    assert "three" not in before
    assert after[after.index(TITLE) :] == before[before.index(TITLE) :]


def test_the_committed_table_is_that_of_the_committed_records():
    folder = ROOT / "detectors" / "expected"
    records = read_rewritten(Catalog(ROOT), RecordSelection((), "expected", folder))
    assert records
    assert (folder / FILE).exists() == bool(records and records.checks)
    if records and records.checks:
        assert_same_table(side_by_side(records).to_csv(index=False), (folder / FILE).read_text())


def test_committed_lists_of_planted_faults_are_of_the_committed_records():
    """Each planted program that a detector met was judged, and does harm."""
    stores = CommittedChecks(folder_with(ROOT, REWRITTEN)).rewritten
    assert stores
    for expected in stores:
        checks = expected.read().checks
        shown = {(check.bug, check.case) for check in checks if check.plant is not None}
        harmful = {
            (f"planted-{judgement.program}", judgement.operator)
            for judgement in judgements.read(expected.root)
            if judgement.harm
        }
        assert shown <= harmful, expected.root


def test_a_judgement_survives_its_file(tmp_path):
    judgements.write(tmp_path, [judged("B"), judged("A", False)])
    assert [to_builtins(judgement)["program"] for judgement in judgements.read(tmp_path)] == [
        "A",
        "B",
    ]
    assert judgements.read(tmp_path / "nowhere") == ()
