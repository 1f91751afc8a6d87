"""Overheads: bare and watched runs in turns, of one fixed program."""

import pytest
from msgspec.structs import replace
from support.checks import overhead as timing
from support.checks import record
from support.evaluating import HEAD, RULES

from evaluation.catalog import detectors
from evaluation.model import Training
from evaluation.records import Seconds
from evaluation.running import campaign
from evaluation.running.adapter import Adapter
from evaluation.running.detector_check import DetectorCheck
from evaluation.running.options import CampaignOptions
from evaluation.running.timing import select_timed, take_turns
from evaluation.scoring.outcomes import outcomes
from evaluation.scoring.scores import scores


def test_overhead_is_timed_in_turns_on_the_fixed_program(toy, make, monkeypatch, tmp_path):
    folder, checked, check_once = tmp_path / "bare", [], Adapter.check
    folder.mkdir()
    monkeypatch.setattr("evaluation.running.timing.BARE", folder)

    def noted(adapter, *arguments, **options):
        checked.append(adapter.detector.directory)
        return check_once(adapter, *arguments, **options)

    monkeypatch.setattr(Adapter, "check", noted)
    is_fixed = "'100 * epoch' in Path(target.directory, target.script).read_text()"
    for of, alone, ratio in (("loop", 2.0, 1.5), ("process", 5.0, 0.6)):
        check = f'{{"training": {{"seconds": {alone} if {is_fixed} else 1.0, "of": "{of}"}}}}'
        (folder / f"{of}.py").write_text(f"{HEAD}main(lambda target, state: {check})")
        adapter = f'main(lambda target, state: {{"training": {{"seconds": 3.0, "of": "{of}"}}}})'
        session = toy.session()
        selected = [detectors.read(make("trains", adapter))]
        plan = CampaignOptions(selected, overhead_on="Toy-1/only", repeats=2)
        result = campaign.run(plan, session)
        assert [len(record.bare) for record in result.overheads] == [2]
        table = scores(outcomes(result.checks, {"trains": RULES}), result.overheads)
        assert table.claimed_overhead[0] == ratio
        assert table.overhead_of[0] == of
        assert table.overhead[0] == pytest.approx(
            sum(result.overheads[0].watched_wall) / bare_s(result), rel=1e-3
        )
        assert campaign.run(plan, session).overheads == result.overheads
    both_programs, bare, watched = [False, False], True, False
    assert [at == folder for at in checked] == [*both_programs, bare, watched, bare, watched] * 2
    (folder / "process.py").write_text("raise SystemExit(1)")
    assert not campaign.run(plan, session).overheads
    assert not campaign.run(
        CampaignOptions([detectors.read(make("never"))], overhead_on="Toy-1/only"), session
    ).overheads


def bare_s(result):
    return sum(result.overheads[0].bare_wall)


def test_one_fixed_program_of_the_named_case_is_timed():
    trained = Seconds(None, 1.0, Training(1.0, "loop"))
    records = [
        record("buggy", seconds=trained), record("fixed", "another", seconds=trained), record("fixed"),
        record("fixed", seconds=trained, seed=1), record("fixed", seconds=trained),
    ]  # fmt: skip
    by_check = {DetectorCheck(None, None): record for record in records}
    checks = select_timed(list(by_check), by_check, CampaignOptions([], overhead_on="B/one"))
    # By the smallest seed, whichever was met first.
    assert [by_check[check] for check in checks] == records[4:]


@pytest.mark.parametrize("bad", [None, Training(2.0, "process")])
@pytest.mark.parametrize("turn", ["run_bare", "run_watched"])
def test_a_turn_that_fails_or_times_something_else_makes_no_record(turn, bad):
    blank = timing((), ())
    turns = {
        "run_bare": lambda: (Training(1.0, "loop"), 2.0),
        "run_watched": lambda: (Training(3.0, "loop"), 5.0),
    }
    walls = {"bare_wall": (2.0, 2.0), "watched_wall": (5.0, 5.0)}
    assert take_turns(blank, **turns, repeats=2, show=print) == replace(
        timing((1.0, 1.0), (3.0, 3.0)), **walls
    )
    assert take_turns(blank, **turns | {turn: lambda: (bad, 1.0)}, repeats=2, show=print) is None
