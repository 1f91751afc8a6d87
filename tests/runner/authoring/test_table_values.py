"""Numbers of cells: out of which records, made how, written how."""

import json

import pytest
from support.copies import replace
from support.records import RECORD
from support.studies import write_study

from runner.authoring.table_sources import Extreme, Source
from runner.authoring.table_values import CommittedRecords, compute, format_values
from runner.errors import MeasureError, UsageError
from runner.expectations.series import Operand
from runner.results.expected import expected_path, version_path
from runner.results.record import encode
from runner.studies import definition, table

RATES = {"buggy": 0.1, "fixed": 0.25}


@pytest.fixture
def records(toy):
    """Committed records of two seeds: accuracy grows by RATES in each of four epochs."""
    for variant, rate in RATES.items():
        for seed in (0, 1):
            metrics = tuple(
                {"epoch": epoch, "accuracy": rate * epoch + seed, "list": [epoch, 2], "name": "a"}
                for epoch in (1, 2, 3, 4)
            )
            record = replace(RECORD, variant=variant, seed=seed, metrics=metrics)
            write(expected_path(toy.bug, record), record)
            if seed == 0:
                write(version_path(toy.bug, record), record)
    return CommittedRecords(toy.bug)


def write(path, record):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(encode(record)))


def words(records, **keys):
    source = Source(**({"metric": "accuracy", "variant": "buggy", "format": ".2f"} | keys))
    return " ".join(compute(source, records).words)


@pytest.mark.parametrize(
    "keys, expected",
    [
        ({}, "0.40 1.40"),
        ({"variant": "fixed"}, "1 2"),
        ({"where": {"epoch": 2}}, "0.20 1.20"),
        ({"between": {"epoch": (2, 3)}, "reduce": "mean"}, "0.25 1.25"),
        ({"at": Extreme(metric="accuracy", reduce="min"), "metric": "epoch"}, "1 1"),
        ({"minus": "fixed"}, "-0.60 -0.60"),
        ({"over": Operand(where={"epoch": 1})}, "4.00 1.27"),
        ({"metric": "list", "index": 0}, "4 4"),
        ({"metric": "list", "reduce": "distinct"}, "4 4"),
        ({"metric": "name"}, "a a"),
        ({"reduce": "all", "seeds": (0,)}, "0.10 0.20 0.30 0.40"),
        ({"metric": "epoch", "seeds": "alike"}, "4"),
        ({"environment": "toy"}, "0.40"),
        ({"metric": "epoch", "also": (Source(variant="fixed"),)}, "4 4"),
    ],
)
def test_a_cell_is_made_of_records(records, keys, expected):
    assert words(records, **keys) == expected


@pytest.mark.parametrize(
    "keys, message",
    [
        ({"metric": None}, "no metric is named"),
        ({"variant": None}, "no variant is named"),
        ({"variant": "upstream"}, "only has no record of variant upstream, seed 0"),
        ({"case": "onyl"}, "there is no case 'onyl' .did you mean only"),
        ({"metric": "loss"}, "metric 'loss' is missing"),
        ({"where": {"epoch": 5}}, "no record of variant buggy has epoch = 5"),
        ({"between": {"epoch": (5, 6)}}, "no record of variant buggy has epoch from 5 to 6"),
        ({"format": None}, "is no whole number; add 'format'"),
        ({"seeds": "alike"}, "the seeds are to be alike, and give 0.40 1.40"),
        ({"also": (Source(variant="fixed"),)}, "`also` names what gives 1 2, not 0.40 1.40"),
    ],
)
def test_what_the_records_do_not_give_is_an_error(records, keys, message):
    with pytest.raises(MeasureError, match=message):
        words(records, **keys)


@pytest.fixture
def study_records(toy):
    """The toy bug with a committed study: accuracy is 0.1 for factor 0, 0.2 for 1, 0.3 for 2."""
    write_study(toy)
    study = definition.load(toy.bug, "grid")
    run = dict.fromkeys(definition.RUN_COLUMNS, "") | {"status": table.OK}
    rows = [
        table.StudyRow(point, variant, seed, run, 0.001, None, {"accuracy": float(point.values[0]) / 10 + 0.1})
        for point in study.points
        for variant in study.variants
        for seed in (0, 1)
    ]  # fmt: skip
    rows[0] = replace(rows[0], run=run | {"status": "crashed"})
    study.path(".csv").write_text(table.text(study, rows))
    return CommittedRecords(toy.bug)


@pytest.mark.parametrize(
    "keys, expected",
    [
        ({"reduce": "count"}, "9"),
        ({"where": {"factor": 0}, "reduce": "count"}, "3"),
        ({"where": {"factor": 2}, "reduce": "median"}, "0.30"),
        ({"metric": "seed", "where": {"kind": "a", "factor": 1}, "reduce": "all"}, "0 1"),
        ({"minus": Operand(metric="rate"), "reduce": "max"}, "0.30"),
    ],
)
def test_trainings_of_a_study_are_one_series(study_records, keys, expected):
    assert words(study_records, study="grid", **keys) == expected


def test_an_unknown_study_is_an_error(records):
    with pytest.raises(UsageError, match="Toy-1 has no study 'gird'"):
        words(records, study="gird")


@pytest.mark.parametrize(
    "values, spec, expected",
    [
        ([0.7235, 0.5], ".3f", "0.724 0.500"),
        ([0.0625], ".3f", "0.062"),
        ([0.0, 1.0], ".3f", "0 1"),
        ([0.0, 0.5], ".3f", "0.000 0.500"),
        ([-0.0001], ".2f", "0.00"),
        ([3e-7], ".0e", "3e-7"),
        ([1 / 272], "1/n", "1/272"),
        ([1 / 272, 1.0], "1/n", "1/272 1"),
        ([True, "float"], None, "True float"),
    ],
)
def test_numbers_are_written_alike_everywhere(values, spec, expected):
    assert " ".join(format_values(values, spec)) == expected
