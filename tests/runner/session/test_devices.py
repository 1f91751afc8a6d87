"""Expected records by kind of device. No GPU is needed: the records are those of a CPU that say `cuda`."""

import pytest
from support.copies import replace
from support.records import as_pinned

from runner.errors import UsageError
from runner.results.expected import CUDA, expected_records, seen_on
from runner.session.promote import promote_runs
from runner.verdicts.verdict import drift


def on_gpu(outcome, **changes):
    changes = {"device": "cuda:1", "pinned": False, "revision": "0123", "environment": "own"} | changes
    return replace(outcome, records=tuple(replace(record, **changes) for record in outcome.records))


@pytest.fixture
def outcome(toy):
    return toy.run()


def test_they_lie_beside_each_other(toy, outcome):
    promote_runs([as_pinned(outcome)])
    assert seen_on(toy.bug, "only") == ("cpu",)
    written = promote_runs([on_gpu(outcome)])
    assert {path.parent for path in written} == {toy.bug.expected / "only" / "cuda"} and len(written) == 4
    assert seen_on(toy.bug, "only") == ("cpu", "cuda")
    assert {record.device for record in expected_records(toy.bug, "only")} == {"cpu"}
    assert {record.device for record in expected_records(toy.bug, "only", CUDA)} == {"cuda:1"}
    promote_runs([as_pinned(outcome)])
    assert all(path.exists() for path in written)


def test_drift_compares_like_with_like(toy, outcome):
    case, there = toy.bug.cases["only"], on_gpu(outcome, torch="2.9.1").records
    assert drift(case, there, outcome.records) is None
    assert drift(case, there, (*outcome.records, *there)) == 0
    assert drift(case, there, on_gpu(outcome, torch="2.8.0").records) is None
    assert drift(case, on_gpu(outcome, torch="2.9.1", injected=True).records, there) is None
    assert drift(case, outcome.records, (*outcome.records, *there)) == 0


def test_those_of_a_gpu_may_be_of_any_interpreter_but_not_of_two_kinds(toy, outcome):
    with pytest.raises(UsageError, match="in a pinned environment"):
        promote_runs([on_gpu(outcome, device="cpu")])
    with pytest.raises(UsageError, match="not REPRODUCED on one kind of device"):
        promote_runs([replace(outcome, records=(*outcome.records[:1], *on_gpu(outcome).records[1:]))])
    with pytest.raises(UsageError, match="not REPRODUCED on one kind"):
        promote_runs([on_gpu(replace(outcome, verdict=replace(outcome.verdict, outcome="NOT REPRODUCED")))])
    assert not toy.bug.expected.exists()
    assert len(promote_runs([replace(on_gpu(outcome, injected=True), injected=True)])) == 4


def test_it_is_said_on_which_devices_a_case_was_seen(toy, outcome, cli):
    assert "seen on no device yet" in cli("info", "Toy-1")[1]
    promote_runs([as_pinned(outcome), on_gpu(outcome)])
    assert "seen on cpu and cuda" in cli("info", "Toy-1")[1]
    assert "Seen on a CPU: 1 cases; on a GPU Toy-1/only." in cli("list", "--markdown")[1]
