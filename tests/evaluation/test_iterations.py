"""From which iteration on twins differ, by what the monitor has written down."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from support import toys

from evaluation.iterations.counting import (
    MONITOR,
    Iterations,
    counted,
    digests,
    first_difference,
)
from evaluation.model import Alarm
from evaluation.records import CheckRecord


def alarms(*steps, start="0000", rank=0, chunk=100):
    """What the monitor tells of a process."""
    chunks = [
        Alarm(f"steps-{rank}", "".join(steps[i : i + chunk]), "info", iteration=i + 1)
        for i in range(0, len(steps), chunk)
    ]
    return [*reversed(chunks), Alarm(f"start-{rank}", start, "info", iteration=1)]


@pytest.mark.parametrize(
    ("buggy", "fixed", "expected"),
    [
        (alarms("aaaa", "bbbb"), alarms("aaaa", "bbbb"), None),
        (alarms("aaaa", "bbbb"), alarms("aaaa", "cccc"), 2),
        (alarms("aaaa", "bbbb"), alarms("ffff", "bbbb"), 1),
        (alarms("aaaa"), alarms("aaaa", start="1111"), 0),
        # Two programs of which one trains for longer.
        (alarms("aaaa", "bbbb"), alarms("aaaa", "bbbb", "cccc"), 3),
        # Alarms of many iterations come in pieces, in any order.
        (alarms(*["aaaa"] * 9, chunk=4), alarms(*["aaaa"] * 8, "bbbb", chunk=4), 9),
        # The second process differs earlier than the first one.
        (
            alarms("aaaa", "bbbb") + alarms("aaaa", "dddd", rank=1),
            alarms("aaaa", "cccc") + alarms("eeee", "dddd", rank=1),
            1,
        ),
    ],
)
def test_the_first_iteration_after_which_twins_differ(buggy, fixed, expected):
    assert first_difference(digests(buggy), digests(fixed)) == expected


def answer(kind, alarms, status="ok"):
    """A record of a check, with the parts that are read."""
    parts = {"bug": "Toy-1", "case": "only", "seed": 0, "trigger": 2, "reason": "it hung"}
    return cast(CheckRecord, SimpleNamespace(kind=kind, alarms=alarms, status=status, **parts))


def test_programs_of_a_case_are_compared():
    records = [
        answer("fixed", alarms("aaaa", "cccc", "dddd")),
        answer("buggy", alarms("aaaa", "bbbb")),
    ]
    assert counted(records) == [Iterations("Toy-1/only", 0, 2, buggy=2, fixed=3, differ_from=2)]
    # A program alone has nothing to be compared with.
    assert counted(records[:1]) == []


def test_a_program_that_could_not_be_watched_is_no_difference():
    (row,) = counted([answer("buggy", (), status="timeout"), answer("fixed", alarms("aaaa"))])
    assert row == Iterations("Toy-1/only", 0, 2, problem="buggy: timeout: it hung")


def test_the_command_says_what_it_could_not_count(cli, toy):
    # The toy's interpreter has no torch, which the monitor needs.
    status, out, _ = cli("iterations", "Toy-1", "--python", sys.executable, "--json", "-q")
    (row,) = json.loads(out)
    assert status == 2
    assert row["case"] == "Toy-1/only"
    assert "tool_error" in row["problem"]
    # Beside the answers of detectors, which are scored.
    assert not Path("results/detectors").exists()
    assert Path("results/iterations").is_dir()
    # The trigger is the present one, even where the answer was kept.
    config = toy.directory / "config.json"
    config.write_text(config.read_text().replace('"iteration": 2', '"iteration": 3'))
    _, out, err = cli("iterations", "Toy-1", "--python", sys.executable, "--json")
    assert "done before" in err
    assert (row["trigger"], json.loads(out)[0]["trigger"]) == (2, 3)


def told(alarms):
    """What the launcher's report has of them, by process."""
    return digests(
        Alarm(alarm["code"], alarm["message"], "info", iteration=alarm["iteration"])
        for alarm in alarms
    )


TWO_JOBS = """
model = nn.Linear(4, 2)
x = torch.randn(8, 4)
for rate in RATES:
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for _ in range(3):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
"""
TWO_OPTIMIZERS = """
left, right = nn.Linear(4, 2), nn.Linear(4, 2)
optimizers = [torch.optim.SGD(part.parameters(), lr=rate) for part, rate in zip((left, right), RATES)]
x = torch.randn(8, 4)
for _ in range(3):
    for part, optimizer in zip((left, right), optimizers):
        optimizer.zero_grad()
        part(x).square().mean().backward()
        optimizer.step()
"""


@pytest.mark.real
@pytest.mark.parametrize(
    ("program", "rates", "iterations", "differ"),
    [
        # The second optimizer is made later, and begins from what the first one has trained.
        (TWO_JOBS, "[0.1, 0.2]", 6, 4),
        (TWO_JOBS, "[0.2, 0.1]", 6, 1),
        (TWO_JOBS, "[0.1, 0.1]", 6, None),
        # Optimizers that step in turns share their iterations.
        (TWO_OPTIMIZERS, "[0.1, 0.2]", 3, 1),
        ("torch.manual_seed(1)\n" + TWO_JOBS, "[0.1, 0.1]", 6, 0),
    ],
)
def test_the_monitor_tells_when_programs_part(
    torch_python, tmp_path, program, rates, iterations, differ
):
    shown = program.removeprefix("torch.manual_seed(1)\n")
    texts = {
        "buggy": program.replace("RATES", rates),
        "fixed": shown.replace("RATES", "[0.1, 0.1]"),
    }
    verdicts = toys.run(torch_python, tmp_path, texts, MONITOR / "monitor.py")
    buggy, fixed = (told(verdicts[name].alarms) for name in ("buggy", "fixed"))
    assert len(buggy["0"]) == len(fixed["0"]) == iterations + 1
    assert first_difference(buggy, fixed) == differ
