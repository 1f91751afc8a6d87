"""Which cases a bounded proof runs, what a full one notes, and the committed table."""

import json
import shutil
from dataclasses import replace
from datetime import datetime

import proof
import pytest
from conftest import toy_config

from runner.catalog import Catalog
from runner.records import encode, expected_path, write_json

NEEDS_NOTHING = {"gpu": "needs a GPU", "data": "needs data: left to the full proof"}


def add_bug(toy, name, **changes):
    """Another toy bug, which takes ten seconds by its two expected records."""
    records = toy.run(seeds=(0,)).records
    directory = toy.root / "bugs" / name
    shutil.copytree(toy.directory, directory)
    case = toy_config()["cases"]["only"] | changes.pop("case", {})
    (directory / "config.json").write_text(json.dumps(toy_config(id=name, cases={"only": case}, **changes)))
    bug = toy.catalog.bug(name)
    for record in records:
        key = f"{record.key[:-5]}{len(name):05}"
        write_json(expected_path(bug, record), encode(replace(record, bug=name, key=key, wall_s=5.0)))


@pytest.fixture
def catalog(toy, monkeypatch):
    """A seed bug, five like it, one in each of two other environments, one that needs data."""
    monkeypatch.setattr(proof, "SEED_BUGS", ("Seed",))
    for name in ("Seed", "A1", "A2", "A3", "A4", "A5"):
        add_bug(toy, name)
    add_bug(toy, "B1", environment="b")
    add_bug(toy, "C1", environment="c")
    add_bug(toy, "Data", case={"data": ["SET/raw/train"]})
    shutil.rmtree(toy.directory)
    return toy.catalog


def row(name, key, **changes):
    made = proof.Row(name, key, "REPRODUCED", "0.0", "5", "2026-11-21T12:00:00+00:00", "a machine, 2 cores", "abc")
    return replace(made, **changes)


def table(catalog):
    """A table that proves every case."""
    return {name: row(name, key) for name, key in proof.keys(catalog).items()}


def plan(catalog, table, commit="abc"):
    return proof.plan(catalog, table, commit, NEEDS_NOTHING)


def test_the_key_of_a_case_is_that_of_its_runs(catalog):
    bug = catalog.bug("A1")
    before = proof.case_key(bug, bug.cases["only"])
    path = next(bug.expected.glob("only/buggy-seed0.json"))
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"wall_s": 6.0}))
    assert proof.case_key(bug, bug.cases["only"]) == before
    path.write_text(json.dumps(record | {"key": "0" * 64}))
    assert proof.case_key(bug, bug.cases["only"]) not in (before, "")
    shutil.rmtree(bug.expected)
    assert proof.case_key(bug, bug.cases["only"]) == ""


def test_without_a_table_everything_is_run_the_seed_bugs_first_one_environment_after_the_other(catalog):
    made = plan(catalog, {})
    seeds, changed = ["Seed/only"], [f"{name}/only" for name in ("A1", "A2", "A3", "A4", "A5", "B1", "C1")]
    assert list(made.chosen) == seeds + changed
    assert [made.chosen[name] for name in made.chosen] == [proof.SEED] + [proof.CHANGED] * 7
    assert made.left_out == {"Data/only": "needs data: left to the full proof"} and made.standing == ()


@pytest.mark.parametrize("change", [{"key": "0" * 64}, {"verdict": "NOT REPRODUCED"}, None])
def test_what_the_table_does_not_prove_is_run(catalog, change):
    whole = table(catalog)
    for name in ("A3/only", "Data/only"):
        whole[name] = replace(whole[name], **change) if change else None
    made = plan(catalog, {name: row for name, row in whole.items() if row})
    assert {name for name, why in made.chosen.items() if why == proof.CHANGED} == {"A3/only"}
    assert set(made.left_out) == {"Data/only"}


def test_a_case_without_expected_records_is_run_whatever_the_table_says(catalog):
    shutil.rmtree(catalog.bug("A3").expected)
    assert plan(catalog, table(catalog)).chosen["A3/only"] == proof.CHANGED


def test_the_share_is_bounded_and_each_commit_has_another_one(catalog, monkeypatch):
    monkeypatch.setattr(proof, "SHARE_S", 25.0)
    whole, met = table(catalog), set()
    for commit in "abcdefghij":
        made = plan(catalog, whole, commit)
        share = {name for name, why in made.chosen.items() if why == proof.SHARE}
        # Two of ten seconds; another environment alone would take longer than that.
        assert len(share) == 2 and not share & {"B1/only", "C1/only", "Data/only", "Seed/only"}
        assert plan(catalog, whole, commit) == made and not made.left_out
        assert set(made.standing) == set(whole) - set(made.chosen)
        met |= share
    assert met == {f"A{number}/only" for number in range(1, 6)}


def test_the_share_meets_other_environments(catalog, monkeypatch):
    monkeypatch.setattr(proof, "SHARE_S", 10.0 + proof.ENVIRONMENT_S)
    chosen = [plan(catalog, table(catalog), commit).chosen for commit in "abcdefghijklmnopqrstuvwxyz"]
    assert {"B1/only", "C1/only"} <= {name for each in chosen for name in each}
    assert not any({"B1/only", "C1/only"} <= set(each) for each in chosen)


def test_a_table_is_read_as_it_was_written(tmp_path):
    rows = {name: row(name, "0" * 64) for name in ("b", "a")}
    proof.write(tmp_path / "proof.csv", rows.values())
    assert (tmp_path / "proof.csv").read_text().splitlines()[1].startswith("a,")
    assert proof.read(tmp_path / "proof.csv") == rows and proof.read(tmp_path / "none.csv") == {}


TESTS = """\
import pathlib, pytest

@pytest.mark.real
@pytest.mark.reproduction
@pytest.mark.parametrize("target", TARGETS)
def test_case(target, record_property):
    record_property("verdict", "REPRODUCED")
    record_property("drift", 0.0)

@pytest.mark.real
def test_other():
    assert pathlib.Path("other").exists()

@pytest.mark.real
@pytest.mark.skip(reason="not here")
def test_skipped(): pass

def test_unmarked(): pass
"""


@pytest.fixture
def proofs(pytester, catalog, monkeypatch):
    """Runs pytest with these options on tests that stand for whole reproductions."""
    monkeypatch.setattr(proof, "ROOT", catalog.root)
    monkeypatch.setattr(proof, "TABLE", catalog.root / "proof.csv")
    monkeypatch.setattr(proof, "BEGUN", catalog.root / "proof-begun.csv")
    monkeypatch.setattr(proof, "commit", lambda: "abc-dirty")
    pytester.makepyfile(test_them=TESTS.replace("TARGETS", repr(["A1/only", "A2/only", "Seed/only"])))
    return lambda *options: pytester.runpytest_inprocess("-p", "proving", "-p", "no:cacheprovider", *options)


def test_a_full_proof_goes_on_where_it_was_stopped_and_writes_the_table(proofs, pytester, catalog):
    proof.write(proof.TABLE, [row("A3/only", proof.keys(catalog)["A3/only"]), row("A4/only", "0" * 64)])
    before = proof.TABLE.read_text()
    first = proofs("-m", "real", "--full-proof")
    first.assert_outcomes(passed=3, failed=1, skipped=1, deselected=1)
    first.stdout.fnmatch_lines(["1 tests are left: the same command goes on*"])
    assert proof.TABLE.read_text() == before and len(proof.read(proof.BEGUN)) == 3
    # What was edited meanwhile is run again.
    expected = next(catalog.bug("A2").expected.glob("only/buggy-seed0.json"))
    expected.write_text(json.dumps(json.loads(expected.read_text()) | {"key": "1" * 64}))
    pytester.path.joinpath("other").touch()
    second = proofs("-m", "real", "--full-proof")
    second.assert_outcomes(passed=2, skipped=1, deselected=3)
    assert not proof.BEGUN.exists()
    made = proof.read(proof.TABLE)
    # A case that was not run here keeps its row while its key is today's.
    assert set(made) == {"A1/only", "A2/only", "A3/only", "Seed/only"}
    assert made["A2/only"].key == proof.keys(catalog)["A2/only"] and made["A1/only"].commit == "abc-dirty"
    assert not made["A3/only"].commit.endswith("dirty") and made["A1/only"].drift == "0.0"


def test_a_part_of_a_full_proof_writes_no_table(proofs, pytester):
    pytester.path.joinpath("other").touch()
    proofs("-m", "real", "--full-proof", "-k", "case").assert_outcomes(passed=3, deselected=3)
    assert not proof.TABLE.exists() and len(proof.read(proof.BEGUN)) == 3


def test_a_bounded_proof_runs_what_is_planned_and_names_what_it_does_not_run(proofs, catalog):
    whole = table(catalog)
    proof.write(proof.TABLE, [row for name, row in whole.items() if name not in ("A1/only", "Data/only")])
    within = proofs("-m", "real", "--proof-within", "600")
    within.assert_outcomes(passed=3, deselected=3)
    within.stdout.fnmatch_lines(["Seed/only: seed bug", "A1/only: not in the table", "A2/only: share of the others"])
    within.stdout.fnmatch_lines(["Data/only: not in the table: NOT RUN, needs data: left to the full proof"])
    late = proofs("-m", "real", "--proof-within", "0")
    late.assert_outcomes(passed=1, skipped=2, deselected=3)
    late.stdout.fnmatch_lines(["Seed/only: seed bug", "A1/only: not in the table: NOT RUN, out of time"])


def test_the_committed_table_is_of_cases_of_the_catalogue():
    rows, today = proof.read(proof.TABLE), proof.keys(Catalog(proof.ROOT))
    assert set(rows) <= set(today) and {row.verdict for row in rows.values()} == {"REPRODUCED"}
    for made in rows.values():
        assert datetime.fromisoformat(made.date).tzinfo and len(made.key) == 64 and len(made.commit) == 40
        assert float(made.drift) >= 0 and float(made.seconds) >= 0 and made.machine
