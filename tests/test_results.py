"""Run records: written whole or not at all, read back as they were, foreign files named."""

import errno
import json
import math
import os
from pathlib import Path

import pytest

from runner.errors import ResultsError
from runner.results import Store, encode, expected_path, newest_runs, read_record, write_json
from runner.table import frame, write_csv


def test_a_record_says_everything_about_its_run(toy):
    outcome = toy.run(seeds=(1,))
    path = toy.results / "Toy-1" / "only" / f"buggy-seed1-{outcome.records[0].key[:12]}.json"
    data = json.loads(path.read_text())
    assert data["metrics"] == [{"epoch": 1, "accuracy": 2}, {"epoch": 2, "accuracy": 3}, {"epoch": 3, "accuracy": 4}]
    assert data["parameters"] == {"num_epoch": 3, "seed": 1, "device": "cpu", "output": "metrics"}
    assert (data["environment"], data["pinned"], data["lock"], data["torch"]) == ("own", False, None, None)
    assert (data["device"], data["status"], data["exit_code"], data["benign"]) == ("cpu", "ok", 0, False)
    assert data["wall_s"] > 0 and data["peak_memory_mb"] > 1 and data["machine"].startswith("Linux")
    assert read_record(path) == outcome.records[0]
    assert not list(toy.results.rglob(".*")), "nothing temporary stays"


def test_no_path_of_the_machine_in_a_record(toy, tmp_path):
    toy.run(data=tmp_path)
    for path in toy.results.rglob("*-seed*.json"):
        assert str(tmp_path) not in path.read_text()


def test_not_finite_numbers_are_valid_json():
    def refuse(name):
        raise ValueError(name)

    from test_verification import record

    text = json.dumps(encode(record("buggy", 0, (math.nan, math.inf, -math.inf))), allow_nan=False)
    found = json.loads(text, parse_constant=refuse)["metrics"]
    assert [row["accuracy"] for row in found] == ["NaN", "Infinity", "-Infinity"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 1}', '{"schema": 99}', "[" * 100_000])
def test_a_foreign_file_is_named(tmp_path, text):
    path = tmp_path / "buggy-seed0-0.json"
    path.write_text(text)
    with pytest.raises(ResultsError, match="buggy-seed0-0.json: not a run record"):
        Store(tmp_path).records()


def test_writing_is_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "record.json"
    write_json(path, {"a": 1})

    def full(self, *arguments, **options):
        with self.open("w") as file:
            file.write('{"a"')
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(ResultsError, match="record.json: cannot be written: No space left on device"):
        write_json(path, {"a": 2})
    assert json.loads(path.read_bytes()) == {"a": 1}
    assert [found.name for found in tmp_path.iterdir()] == ["record.json"]


def test_table_has_a_row_per_record(toy, tmp_path):
    toy.run(seeds=(0,))
    table = frame(Store(toy.results).records())
    assert len(table) == 6
    assert set(table["variant"]) == {"buggy", "fixed"}
    assert list(table[table["variant"] == "fixed"]["metric.accuracy"]) == [2, 4, 6]
    assert list(table["record"])[:3] == [1, 2, 3] and set(table["parameter.num_epoch"]) == {3}
    write_csv(Store(toy.results).records(), str(tmp_path / "all.csv"))
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 7
    with pytest.raises(ResultsError, match="cannot be written"):
        write_csv([], str(tmp_path / "no" / "such" / "all.csv"))


def test_an_empty_table(tmp_path):
    assert len(frame(Store(tmp_path).records())) == 0


def test_newest_runs_are_of_one_place(toy):
    toy.run(seeds=(0, 1))
    toy.configure(parameters={"num_epoch": 2, "seed": 0, "device": "auto", "output": "metrics"})
    toy.run(seeds=(1,))
    runs = newest_runs(toy.bug, Store(toy.results))["only"]
    assert [(r.variant, r.seed) for r in runs] == [("buggy", 0), ("buggy", 1), ("fixed", 0), ("fixed", 1)]
    assert [len(run.metrics) for run in runs] == [3, 2, 3, 2]


def test_expected_path(toy):
    record = toy.run().records[0]
    assert expected_path(toy.bug, record) == toy.bug.directory / "expected" / "only" / "buggy-seed0.json"
