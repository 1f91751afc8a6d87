"""Run records: written whole or not at all, read back as they were, foreign files named."""

import errno
import json
import math
import os
from pathlib import Path

import pytest
from support.toy import SCRIPT

from runner.errors import ResultsError
from runner.files.atomic import write_json
from runner.files.locks import CLAIMS
from runner.results.expected import expected_path
from runner.results.export import frame, write_csv
from runner.results.folder_index import INDEX
from runner.results.record import encode, read_record
from runner.results.store import Store


def test_a_record_says_everything_about_its_run(toy):
    outcome = toy.run(seeds=(1,))
    path = toy.results / "Toy-1" / "only" / f"buggy-seed1-{outcome.records[0].key[:12]}.json"
    data = json.loads(path.read_text())
    assert data["metrics"] == [
        {"epoch": 1, "accuracy": 2},
        {"epoch": 2, "accuracy": 3},
        {"epoch": 3, "accuracy": 4},
    ]
    assert data["parameters"] == {"num_epoch": 3, "seed": 1, "device": "cpu", "output": "metrics"}
    assert (data["environment"], data["pinned"], data["torch"]) == ("own", False, None)
    assert (data["device"], data["status"], data["exit_code"], data["benign"]) == (
        "cpu",
        "ok",
        0,
        False,
    )
    assert data["wall_s"] > 0
    assert data["peak_memory_mb"] > 1
    assert data["machine"].startswith("Linux")
    assert read_record(path) == outcome.records[0]
    assert {path.name for path in toy.results.rglob(".*")} == {CLAIMS, INDEX}, (
        "nothing temporary stays"
    )


def test_no_path_of_the_machine_in_a_record(toy, tmp_path):
    toy.run(data=tmp_path)
    for path in toy.results.rglob("*-seed*.json"):
        assert str(tmp_path) not in path.read_text()


def test_not_finite_numbers_are_valid_json():
    def refuse(name):
        raise ValueError(name)

    from support.records import record

    text = json.dumps(encode(record("buggy", 0, (math.nan, math.inf, -math.inf))), allow_nan=False)
    metrics = json.loads(text, parse_constant=refuse)["metrics"]
    assert [row["accuracy"] for row in metrics] == ["NaN", "Infinity", "-Infinity"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 1}', '{"schema": 99}', "[" * 100_000])
def test_a_foreign_file_is_named(tmp_path, text):
    path = tmp_path / "buggy-seed0-0.json"
    path.write_text(text)
    assert "buggy-seed0-0.json: not a run record" in Store(tmp_path).records().problems[0]


def test_writing_is_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "record.json"
    write_json(path, {"a": 1})

    def full(self, *arguments, **options):
        with self.open("w") as file:
            file.write('{"a"')
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(
        ResultsError, match="record.json: cannot be written: No space left on device"
    ):
        write_json(path, {"a": 2})
    assert json.loads(path.read_bytes()) == {"a": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["record.json"]


def test_a_reader_has_the_old_file_or_the_new_one(tmp_path):
    path = tmp_path / "record.json"
    write_json(path, {"a": 1})
    with path.open() as reader:
        write_json(path, {"a": 2})
        assert json.load(reader) == {"a": 1}
    assert json.loads(path.read_text()) == {"a": 2}


def test_table_has_a_row_per_record(toy, tmp_path):
    toy.run(seeds=(0,))
    table = frame(Store(toy.results).records())
    assert len(table) == 6
    assert set(table["variant"]) == {"buggy", "fixed"}
    assert list(table[table["variant"] == "fixed"]["metric.accuracy"]) == [2, 4, 6]
    assert list(table["record"])[:3] == [1, 2, 3]
    assert set(table["parameter.num_epoch"]) == {3}
    write_csv(Store(toy.results).records(), str(tmp_path / "all.csv"))
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 7
    with pytest.raises(ResultsError, match="cannot be written"):
        write_csv([], str(tmp_path / "no" / "such" / "all.csv"))


def test_an_empty_table(tmp_path):
    assert len(frame(Store(tmp_path).records())) == 0


def test_table_of_not_finite_numbers_stays_a_column_of_numbers(toy):
    toy.write("buggy.py", SCRIPT.replace("VALUE", "float('nan')"))
    toy.run(seeds=(0,))
    table = frame(Store(toy.results).records())
    assert table["metric.accuracy"].dtype == float
    assert table["metric.accuracy"].max() == 6


@pytest.mark.parametrize(
    "field, value",
    [
        *(("metrics", value) for value in (None, [1, 2], "x")),
        ("variant", ["x"]),
        ("variant", "best"),
        ("status", "fine"),
        ("started", None),
        ("seed", "0"),
        ("wall_s", "x"),
        ("parameters", None),
        ("torch", 2.2),
    ],
)
def test_a_field_of_the_wrong_kind_is_named_and_the_run_is_made_again(toy, field, value):
    toy.run(seeds=(0,))
    path = next(toy.results.rglob("fixed-seed0-*.json"))
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
    assert f"not a run record: {field}" in Store(toy.results).records().problems[0]
    assert toy.run(seeds=(0,)).verdict.outcome == "REPRODUCED"
    assert len(Store(toy.results).records()) == 2


def test_a_verdict_that_is_none(toy):
    toy.run()
    Store(toy.results).verdict_path("Toy-1", "only").write_text("{}")
    with pytest.raises(ResultsError, match="verdict.json: not a verdict"):
        Store(toy.results).judged_runs("Toy-1", "only")


def test_expected_path(toy):
    record = toy.run().records[0]
    assert (
        expected_path(toy.bug, record)
        == toy.bug.directory / "expected" / "only" / "buggy-seed0.json"
    )
