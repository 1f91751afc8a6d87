"""The same run several times: stable or flaky, and a flaky bug is never silently REPRODUCED."""

import json
import sys
from pathlib import Path

from support.records import as_pinned
from support.toy import SCRIPT

from runner.session.promote import promote_runs
from trainbugs.cli.exits import verdict_status

PYTHON = ("--python", sys.executable)
# Another factor at every execution, taken from a list in a file.
FLAKY = """\
from pathlib import Path as _P
_left = _P('COUNT').read_text().split()
_P('COUNT').write_text(' '.join(_left[1:]))
"""


def flaky(toy, shared, factors, variant="fixed"):
    count = shared / "count"
    count.write_text(factors)
    toy.write(
        f"{variant}.py",
        FLAKY.replace("COUNT", str(count)) + SCRIPT.replace("VALUE", "float(_left[0])"),
    )


def test_the_same_every_time_is_stable(cli, toy):
    status, out, _ = cli("run", "Toy-1", "--repeat", "3", *PYTHON)
    row = out.splitlines()[1]
    assert status == 0
    assert "stable: REPRODUCED 3 of 3 times, spread 0" in row
    assert row.split()[2] == "12"
    assert json.loads(Path("results/Toy-1/only/verdict.json").read_text())["repeats"] == {
        "label": "stable",
        "verdicts": {"REPRODUCED": 3},
        "spread": 0.0,
    }
    assert (
        len(list(Path("results").rglob("*-r2.json")))
        == len(list(Path("results").rglob("*-r3.json")))
        == 4
    )


def test_now_so_and_now_so_is_flaky_and_stays_it(cli, toy, shared):
    flaky(toy, shared, "2 1 2 2")
    status, out, _ = cli("run", "Toy-1", "--repeat", "4", "--seeds", "0", *PYTHON)
    assert status == 1
    assert "NOT REPRODUCED" in out.splitlines()[1]
    assert "flaky: REPRODUCED 3 of 4 times, NOT REPRODUCED 1, spread 3" in out
    assert "fixed is higher by 3" in out
    status, out, err = cli("run", "Toy-1", "--seeds", "0", *PYTHON)
    assert status == 1, "not forgotten by the next command"
    assert "flaky: REPRODUCED 3 of 4 times" in out, "not forgotten by the next command"
    assert err.count("done before") == 2
    document = json.loads(Path("results/Toy-1/only/verdict.json").read_text())
    assert (document["verdict"], document["repeats"]["label"], len(document["runs"])) == (
        "NOT REPRODUCED",
        "flaky",
        8,
    )


def test_a_verdict_may_be_stable_though_numbers_vary(toy, shared):
    flaky(toy, shared, "1 1.5 1.2", "buggy")
    toy.write("fixed.py", SCRIPT.replace("VALUE", "2"))
    config = json.loads((toy.directory / "config.json").read_text())
    config["cases"]["only"]["expectations"][1] |= {"op": ">=", "value": 1}
    toy.configure(**config)
    outcome = toy.run(repeat=3, seeds=(0,))
    assert outcome.verdict.outcome == "REPRODUCED"
    assert outcome.repeatability.label == "stable"
    assert outcome.repeatability.spread == 1.5


def test_a_crash_in_one_repeat_makes_it_invalid(toy, shared):
    flaky(toy, shared, "2 crash 2")
    outcome = toy.run(repeat=3, seeds=(0,))
    assert (outcome.verdict.outcome, verdict_status([outcome])) == ("INVALID", 2)
    assert outcome.verdict.reason.startswith("flaky: REPRODUCED 2 of 3 times, INVALID 1; ")


def test_one_variant_can_be_repeated(toy, shared):
    flaky(toy, shared, "1 9", "buggy")
    outcome = toy.run("Toy-1/only/buggy", repeat=2, seeds=(0,))
    assert outcome.verdict.outcome is None
    assert outcome.verdict.failed
    assert outcome.repeatability.text == "all checks hold 1 of 2 times, some checks fail 1"


def test_repeats_go_on_where_they_were(cli, toy):
    cli("run", "Toy-1", "--repeat", "2", *PYTHON)
    _, out, err = cli("run", "Toy-1", "--repeat", "3", *PYTHON)
    assert err.count("done before") == 8
    assert err.count(", repeat 3: ok") == 4
    assert "3 of 3 times" in out


def test_half_of_the_repeats_of_an_interrupted_command_are_not_judged(toy):
    toy.run(repeat=2)
    next(toy.results.rglob("fixed-seed1-*-r2.json")).unlink()
    outcome = toy.run()
    assert outcome.repeatability is None
    assert len(outcome.records) == 4


def test_the_first_of_the_repeats_is_what_one_may_expect(toy):
    paths = promote_runs([as_pinned(toy.run(repeat=2))])
    assert len(paths) == 4
    assert {json.loads(path.read_text())["repeat"] for path in paths} == {1}
