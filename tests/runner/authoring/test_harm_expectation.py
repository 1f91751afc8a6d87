"""The expectation that states the harm is one, on what a user sees,
and tells the variants apart with each seed.
"""

import shutil

import pytest
from support.copies import replace
from support.environments import QUIET
from support.paths import ROOT
from support.records import as_pinned
from support.toy import toy_config

from runner.authoring.harm import check_harm, check_horizon_keys, metric_names
from runner.bugs.catalog import load_bug
from runner.results.expected import expected_records
from runner.session.promote import promote_runs
from runner.session.session import record_targets
from runner.studies import horizon


@pytest.fixture
def whole(toy, toy_environment):
    """The toy bug with its records."""
    promote_runs([as_pinned(toy.run())])
    return toy


def found(toy):
    bug = toy.bug
    case = bug.cases["only"]
    return list(check_harm(bug, case, expected_records(bug, "only")))


def mark(toy, *marks, **changes):
    """Mark expectations of the toy bug as the harm, and change all of them."""
    cases = toy_config()["cases"]
    for item, is_marked in zip(cases["only"]["expectations"], marks, strict=True):
        item |= {"harm": is_marked, **changes}
    toy.configure(cases=cases)


def test_the_marked_expectation_of_the_toy_bug_is_no_problem(whole):
    assert found(whole) == []


@pytest.mark.parametrize("marks, count", [((False, False), 0), ((True, True), 2)])
def test_one_expectation_is_marked(whole, marks, count):
    mark(whole, *marks)
    assert found(whole) == [f"case only: {count} expectations are marked `harm`, expected one"]


def test_the_harm_of_all_seeds_together_is_none_of_each(whole):
    mark(whole, False, True, across_seeds="mean")
    assert found(whole)[0].endswith("is marked as the harm, and is about all seeds together")


def test_an_expectation_that_the_fixed_program_meets_too_is_no_harm(whole):
    cases = toy_config()["cases"]
    cases["only"]["expectations"][1]["harm"] = False
    cases["only"]["expectations"][0] |= {"harm": True, "value": 10}
    whole.configure(cases=cases)
    assert "holds of the fixed program, too (seed 0)" in found(whole)[0]


def test_a_benign_case_has_no_harm(whole):
    cases = toy_config()["cases"]
    cases["only"]["benign"] = True
    whole.configure(cases=cases)
    assert found(whole)[0].endswith("is marked as the harm, and no harm is expected")
    mark(whole, False, False)


def test_wasted_work_needs_no_harm(whole):
    cases = toy_config()["cases"]
    cases["only"]["expectations"][1]["harm"] = False
    whole.configure(cases=cases, labels=toy_config()["labels"] | {"effect": "wasted work"})
    assert found(whole) == []


def test_the_harm_is_stated_on_what_the_script_writes(whole):
    probe = 'ROW = {"accuracy": 1}\n'
    whole.write("probe.py", probe)
    assert found(whole) == []
    text = (whole.directory / "buggy.py").read_text()
    whole.write("buggy.py", text.replace('"accuracy": 1', '**{"other": 2}, "score": 1'))
    assert "which probe.py measures and the buggy script does not print" in found(whole)[0]
    whole.configure(labels=toy_config()["labels"] | {"effect": "no learning"})
    assert found(whole) == []


def test_names_of_metrics_are_keys_of_dictionaries(tmp_path):
    path = tmp_path / "a.py"
    path.write_text('x = {"loss": 1}\ny = dict(rate=2)\nx["step"] = 3\nx[f"task_{y}"] = "other"\n')
    names = metric_names([path])
    assert all(map(names.may_have, ("loss", "rate", "step", "task_1")))
    assert not names.may_have("other")


def constructed(toy, **changes):
    declared = toy_config()["declared"]
    declared["harm"] |= {"kind": "constructed", "length": "num_epoch", **changes}
    toy.configure(declared=declared)


def run_horizon(toy):
    """Runs of twice the length, kept with the bug."""
    bug = toy.bug
    options = toy.session().options
    recorded = record_targets(toy.catalog, horizon.horizon_targets(bug), options, QUIET)
    records = [as_pinned_record(record) for _, records in recorded for record in records]
    path = bug.expected / horizon.FILE
    path.write_text(horizon.text(horizon.rows(bug, records)))
    return path


def as_pinned_record(record):
    runtime = replace(record.runtime, environment="toy", pinned=True)
    return replace(record, runtime=runtime)


def test_a_constructed_harm_needs_runs_of_twice_the_length(whole):
    constructed(whole, length=None)
    assert found(whole)[0].startswith("case only: harm is constructed and names no length")
    constructed(whole)
    assert "there is no expected/horizon.csv; `trainbugs horizon Toy-1" in found(whole)[0]
    path = run_horizon(whole)
    assert found(whole) == []
    rows = horizon.read(whole.bug)
    assert [(row.variant, row.seed, row.value) for row in rows] == [
        ("buggy", 0, 6.0),
        ("fixed", 0, 12.0),
        ("buggy", 1, 7.0),
        ("fixed", 1, 13.0),
    ]
    constructed(whole, late=True)
    assert found(whole) == ["case only: harm.late is True, and expected/horizon.csv says False"]
    path.write_text(path.read_text().replace("buggy,1,accuracy,7", "buggy,1,accuracy,14"))
    assert found(whole) == []
    constructed(whole)
    assert found(whole) == ["case only: harm.late is False, and expected/horizon.csv says True"]


def test_a_horizon_of_other_scripts_is_stale(tmp_path):
    shutil.copytree(ROOT / "bugs" / "PyTorch-176851", tmp_path / "PyTorch-176851")
    assert list(check_horizon_keys(load_bug(tmp_path / "PyTorch-176851"), ROOT)) == []
    script = tmp_path / "PyTorch-176851" / "fixed.py"
    script.write_text(script.read_text() + "# A line more.\n")
    problems = list(check_horizon_keys(load_bug(tmp_path / "PyTorch-176851"), ROOT))
    assert "patients, fixed seed 0 is of other files" in problems[0]


def test_a_horizon_lacks_a_seed(whole):
    constructed(whole)
    path = run_horizon(whole)
    path.write_text("\n".join(path.read_text().splitlines()[:-2]) + "\n")
    assert "expected/horizon.csv has no row of only, seed 1" in found(whole)[0]


def test_a_length_that_is_no_whole_number_is_refused(whole):
    from runner.errors import CatalogError

    constructed(whole, length="output")
    with pytest.raises(CatalogError, match="expected a parameter that is a whole number"):
        horizon.horizon_targets(whole.bug)


def test_a_horizon_of_another_metric_is_no_evidence(whole):
    constructed(whole)
    path = run_horizon(whole)
    path.write_text(path.read_text().replace(",accuracy,", ",loss,"))
    assert "has loss of only, and the harm is stated on accuracy" in found(whole)[0]


def test_means_and_extremes_at_the_end_are_about_the_second_half(whole):
    metrics = {"buggy": [{"accuracy": value} for value in (0, 0, 1, 3)]}
    for reduction, of_all, at_the_end in (("mean", 1, 2), ("min", 0, 1), ("last", 3, 3)):
        cases = toy_config()["cases"]
        cases["only"]["expectations"][1]["reduce"] = reduction
        whole.configure(cases=cases)
        case = whole.bug.cases["only"]
        assert horizon.harm_value(case, metrics, "buggy") == of_all
        assert horizon.end_value(case, metrics, "buggy") == at_the_end
