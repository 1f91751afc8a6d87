"""What a task of the repair track shows of the program."""

from types import SimpleNamespace
from typing import Any

import pytest

from evaluation.repair import tasks


def test_of_what_was_measured_the_task_shows_what_the_program_prints(monkeypatch):
    metrics = [{"epoch": 1, "loss": 2.0, "hidden": 3.0}]
    records = [
        SimpleNamespace(variant="fixed", metrics=[{"epoch": 9}]),
        SimpleNamespace(variant="buggy", metrics=metrics),
    ]
    monkeypatch.setattr(tasks, "expected_records", lambda bug, case: records)
    target: Any = SimpleNamespace(bug=None, case=SimpleNamespace(name="only", id="A-1/only"))
    printed = list(tasks._printed(target, 'print({"epoch": epoch, "loss": loss})'))
    assert printed == [{"epoch": 1, "loss": 2.0}]


@pytest.mark.parametrize(
    "text, expected",
    [
        ('def probe(names):\n    return names["model"].weight', {"model"}),
        ('def probe(names, other):\n    return other["model"]', set()),
        ("def probe(names):\n    return names[0]", set()),
    ],
)
def test_the_names_that_a_probe_reads(tmp_path, text, expected):
    path = tmp_path / "probe.py"
    path.write_text(text)
    assert tasks._measured_names(path) == expected
