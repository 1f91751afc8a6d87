"""How long the runs of targets will take, said before the first one."""

import pytest
from support.copies import replace
from support.paths import ROOT
from support.promoted import promoted

from runner.bugs.catalog import Catalog
from runner.session.forecast import Forecast, forecast
from runner.session.options import Options


def options(toy, **changes):
    return Options(**({"python": toy.root, "results": toy.results} | changes))


def test_runs_without_records_are_untimed(toy):
    targets = toy.catalog.select(["Toy-1"])
    expected = forecast(toy.root, targets, options(toy))
    # Two variants with two seeds.
    assert (expected.seconds, expected.untimed) == (0, 4)
    assert not expected.is_long


def test_seconds_are_of_the_slowest_committed_run_of_each_variant(toy):
    records = promoted(toy)
    seconds = {"buggy": [], "fixed": []}
    for record in records:
        seconds[record.variant].append(record.wall_s)
    slowest = [max(of_variant) for of_variant in seconds.values()]
    targets = toy.catalog.select(["Toy-1"])
    expected = forecast(toy.root, targets, options(toy))
    assert expected.seconds == pytest.approx(2 * sum(slowest))
    thrice = forecast(toy.root, targets, options(toy, seeds=(5,), repeat=3))
    assert thrice.seconds == pytest.approx(3 * sum(slowest))
    first = forecast(toy.root, targets, options(toy), only_first_seed=True)
    assert first.seconds == pytest.approx(sum(slowest))
    assert expected.untimed == 0


def test_what_is_said():
    expected = Forecast(seconds=7200, untimed=0, at_a_time=1, missing=())
    assert str(expected) == "about 2.0 h of runs by the committed records"
    several = replace(expected, untimed=3, at_a_time=2, missing=("a", "b"))
    assert str(several) == (
        "about 2.0 h of runs by the committed records, 2 at a time 60 min, "
        "3 runs that nobody has timed, 2 environments to build first"
    )
    assert several.times(3).seconds == 21600
    assert several.times(3).untimed == 9


@pytest.mark.parametrize("change", [{"seconds": 60.0}, {"missing": ("a",)}])
def test_a_long_wait_is_told(change):
    assert replace(Forecast(0, 0, 1, ()), **change).is_long


def test_environments_that_are_not_built_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAINBUGS_CACHE", str(tmp_path))
    targets = Catalog(ROOT).select(["SO-60335387/digits"])
    assert forecast(ROOT, targets, Options()).missing == ("torch-2.2.2",)
    assert forecast(ROOT, targets, Options(environment="torch-2.0.1")).missing == ("torch-2.0.1",)


def test_a_run_says_what_it_will_take(toy, capsys, monkeypatch):
    promoted(toy)
    monkeypatch.setattr("runner.session.forecast.SHORTEST_S", 0)
    toy.run(force=True)
    assert "1 case: about " in capsys.readouterr().err
