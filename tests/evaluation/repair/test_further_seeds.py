"""The study of further seeds: how cases are judged, the table, and what the repair track leaves
out.
"""

import importlib
import re
from collections import Counter

import msgspec.structs
import pytest
from support.paths import ROOT

from evaluation.repair import further_seeds
from evaluation.repair.further_seeds import Row
from evaluation.repair.tasks import repairable
from runner.bugs.catalog import Catalog
from runner.bugs.program import VARIANTS


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("further_seeds")


@pytest.fixture
def studied(benchmark, toy, toy_environment, tmp_path):
    """Study the toy bug, whose accuracy is low with all seeds; returns its rows."""
    for name in VARIANTS:
        script = toy.directory / f"{name}.py"
        script.write_text(script.read_text().replace('config["seed"]', 'config["seed"] % 2'))

    def call():
        (target,) = benchmark.studied(toy.catalog)
        return benchmark.study(toy.session(), target, tmp_path / "table.csv")

    return call


def row(case, seed, behaves="yes"):
    return Row(case, seed, behaves, "", "0" * 12)


def test_the_seeds_are_chosen_by_a_hash_and_are_no_seed_of_a_case():
    seeds = further_seeds.seeds()
    assert seeds == (150077, 161048, 161594, 218698, 885181)
    for target in Catalog(ROOT).select(Catalog(ROOT).active()):
        assert not set(seeds) & set(target.case.program.seeds), target.case.id


def test_a_case_that_behaves_has_a_row_for_each_seed(studied, tmp_path):
    rows = studied()
    assert [item.seed for item in rows] == [str(seed) for seed in further_seeds.seeds()]
    assert {item.behaves for item in rows} == {"yes"}
    assert further_seeds.read_table(tmp_path / "table.csv") == rows
    assert further_seeds.unsteady(rows) == {}


def test_a_case_says_with_how_many_further_seeds_it_behaves(toy, monkeypatch):
    (target,) = toy.catalog.select(toy.catalog.active())
    case, digest = target.case, further_seeds.scripts_digest(target.case)
    rows = [Row(case.id, str(seed), "yes", "", digest) for seed in further_seeds.seeds()]
    overall = Row(case.id, further_seeds.ALL, "no", "", digest)
    tables = {
        "5 of 5": rows,
        "4 of 5": [rows[0]._replace(behaves="no"), *rows[1:]],
        "5 of 5 (not over all)": [*rows, overall],
        None: [row._replace(scripts="of an older script") for row in rows],
    }
    for expected, table in tables.items():
        monkeypatch.setattr(further_seeds, "_committed", lambda table=table: {case.id: table})
        assert further_seeds.steadiness(case) == expected


def test_a_case_that_does_not_says_which_expectation_fails(studied, toy):
    fixed = toy.directory / "fixed.py"
    (toy.directory / "buggy.py").write_text(fixed.read_text())
    rows = studied()
    assert {item.behaves for item in rows} == {"no"}
    statements = [
        item.statement for item in toy.catalog.bug("Toy-1").cases["only"].oracle.expectations
    ]
    assert any(rows[0].reason.startswith(statement) for statement in statements)


def test_a_run_that_fails_is_invalid(studied, toy):
    (toy.directory / "fixed.py").write_text("raise SystemExit(3)\n")
    assert {item.behaves for item in studied()} == {"invalid"}


def test_expectations_about_several_seeds_are_judged_over_all_of_them(toy, toy_environment):
    (target,) = toy.catalog.select(["Toy-1"])
    first = target.case.oracle.expectations[0]
    about_all = msgspec.structs.replace(first, across_seeds="mean")
    oracle = msgspec.structs.replace(target.case.oracle, expectations=(first, about_all))
    target = msgspec.structs.replace(
        target, case=msgspec.structs.replace(target.case, oracle=oracle), variants=VARIANTS
    )
    session = toy.session()
    runs = session.plan(target, further_seeds.seeds())
    records = [record for _, record in session.execute(runs)]
    rows = further_seeds.judged(target, records)
    assert [item.seed for item in rows] == [*map(str, further_seeds.seeds()), "all"]


def test_what_is_in_the_table_runs_again_only_if_a_script_has_changed(
    benchmark, studied, toy, tmp_path
):
    studied()
    targets = benchmark.studied(toy.catalog)
    assert benchmark.missing(targets, tmp_path / "table.csv") == []
    fixed = toy.directory / "fixed.py"
    fixed.write_text(fixed.read_text() + "\n")
    assert benchmark.missing(targets, tmp_path / "table.csv") == targets


@pytest.mark.parametrize(
    "rows, reason",
    [
        ([row("A/a", "1"), row("A/a", "all")], None),
        ([row("A/a", "1", "no"), row("A/a", "2", "invalid"), row("A/a", "3")], "with 2 of 5"),
        ([row("A/a", "1"), row("A/a", "all", "no")], "over 5"),
    ],
)
def test_a_case_is_unsteady_if_it_does_not_behave_with_a_seed(rows, reason):
    found = further_seeds.unsteady(rows).get("A/a")
    assert found is None if reason is None else reason in found


def test_the_repair_track_leaves_out_what_is_unsteady(toy, monkeypatch, tmp_path):
    (target,), _ = repairable(toy.catalog)
    table = tmp_path / "table.csv"
    further_seeds.write_table(table, [row(target.case.id, "1", "no")])
    monkeypatch.setattr(further_seeds.read_table, "__defaults__", (table,))
    targets, left_out = repairable(toy.catalog)
    assert targets == []
    assert left_out == [
        f"{target.case.id}: left out, its twins do not do what is expected with 1 of 5 further seeds"
    ]


def test_a_case_that_needs_a_gpu_is_not_called_never_run():
    _, left_out = repairable(Catalog(ROOT))
    assert "PyTorch-115607/graphs: left out, it needs a GPU" in left_out


def test_an_environment_that_was_built_for_a_case_is_removed_after_its_cases(
    benchmark, toy, monkeypatch
):
    there, removed = [["old"], ["old", "of-another-command", "toy"]], []
    monkeypatch.setattr(benchmark, "_built", lambda root: there.pop(0))
    monkeypatch.setattr(benchmark.spec, "load", lambda root, name: name)
    monkeypatch.setattr(benchmark.builder, "remove", removed.append)
    done = []
    benchmark.by_environment(benchmark.studied(toy.catalog), done.append)
    assert [target.bug.id for target in done] == ["Toy-1"]
    assert removed == ["toy"]


def test_the_page_has_the_cases_that_are_unsteady(benchmark):
    rows = further_seeds.read_table()
    cases = {item.case for item in rows}
    unsteady = further_seeds.unsteady(rows)
    page = (ROOT / "docs" / "running.md").read_text()
    studied = len(benchmark.studied(Catalog(ROOT)))
    words = " ".join(page.split())
    assert f"So far {len(cases)} of {studied} cases were run. In {len(unsteady)} of them" in words
    shown = {}
    for line in re.findall(r"^\| (\S+/\S+)(?: \(benign\))? \| (\d) of 5 \|", page, re.MULTILINE):
        shown[line[0]] = int(line[1])
    held = Counter(item.case for item in rows if item.behaves == "yes" and item.seed != "all")
    assert shown == {case: held[case] for case in unsteady}


def test_the_committed_table_knows_its_scripts(benchmark):
    rows = further_seeds.read_table()
    assert rows == sorted(rows)
    targets = {target.case.id: target for target in benchmark.studied(Catalog(ROOT))}
    for item in rows:
        assert item.scripts == further_seeds.scripts_digest(targets[item.case].case), item.case
