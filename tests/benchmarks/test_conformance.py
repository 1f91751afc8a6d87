"""What docs/conformance.md says of optimizers: it is in the committed tables."""

import csv
from collections import Counter

import pytest
from support.paths import ROOT

TABLES = ROOT / "benchmarks" / "conformance" / "tables"
PAGE = (ROOT / "docs" / "conformance.md").read_text()
ROWS = {
    path.stem.removeprefix("torch-"): list(csv.DictReader(path.read_text().splitlines()))
    for path in TABLES.glob("torch-*.csv")
}


def outcomes(release, **fields):
    rows = [row for row in ROWS[release] if _has(row, fields)]
    return {(row["optimizer"], row["variation"]): row["outcome"] for row in rows}


def _has(row, fields):
    return all(row[name] == value for name, value in fields.items())


@pytest.mark.parametrize("release", ROWS)
def test_the_counts_are_those_of_the_table(release):
    rows = ROWS[release]
    assert {row["torch"] for row in rows} == {release}
    assert len({(row["optimizer"], row["variation"]) for row in rows}) == len(rows)
    count = Counter(row["outcome"] for row in rows)
    numbers = [
        len(rows),
        *(count[word] for word in ("same", "differs", "compiled fails", "refused")),
    ]
    assert f"| {release} | {' | '.join(map(str, numbers))} |" in PAGE


@pytest.mark.parametrize("name", ["momentum", "alpha"])
def test_what_a_minimal_program_printed_is_what_the_page_shows(name):
    assert f"```\n{(TABLES / name).with_suffix('.txt').read_text()}```" in PAGE


MOMENTUM = {
    "momentum of first None",
    "momentum of last None",
    "one parameter, its momentum None",
    "one parameter, loaded without momentum",
}


def test_two_things_differ_in_the_current_release():
    differs = [row for row in ROWS["2.13.0"] if row["outcome"] == "differs"]
    assert len(differs) == 6
    momentum = {row["variation"] for row in differs if row["optimizer"] == "SGD"}
    assert momentum == MOMENTUM
    rates = [row for row in differs if row["optimizer"] == "Muon"]
    assert {row["variation"] for row in rates} == {"rate: tensor", "rate: tensor of one dimension"}
    assert {f"{float(row['distance']):.1e}" for row in rates} == {"1.7e-03"}


def test_the_momentum_that_is_none_differs_in_every_release_from_2_4_1_on():
    for release in set(ROWS) - {"2.1.2", "2.2.2", "2.3.1"}:
        wrong = outcomes(release, optimizer="SGD", outcome="differs")
        assert {variation for _, variation in wrong} == MOMENTUM
    older = outcomes("2.3.1", optimizer="SGD", outcome="differs")
    assert {variation for _, variation in older} - MOMENTUM == {
        "state of all forgotten",
        "momentum of all None",
    }


def test_muon_of_the_release_that_brought_it_differs_nearly_everywhere():
    wrong = outcomes("2.9.1", optimizer="Muon", outcome="differs")
    assert len(wrong) == 25
    assert "Muon" not in {name for name, _ in outcomes("2.8.0")}
    assert {name for name, _ in outcomes("2.9.1", outcome="compiled fails")} == {
        "SparseAdam",
        "Adafactor",
    }


def test_the_mended_line_is_the_cause():
    lines = (TABLES / "momentum.txt").read_text().splitlines()
    mended = [line.rpartition(": ")[2] for line in lines if " mended" in line]
    wrong = [
        printed
        for printed in mended
        if printed.split(" compiled ")[0] != printed.split(" compiled ")[1]
    ]
    assert wrong == ["[-0.783, -0.122] compiled [-0.783, 0.139]"]


def test_gradients_that_are_none_are_what_the_old_release_does_not_guard():
    for variation in ("no gradients for a while", "none for the first for a while"):
        wrong = outcomes("2.2.2", variation=variation, outcome="differs")
        assert {name for name, _ in wrong} >= {"Adam", "AdamW", "NAdam"}
    for variation in (
        "all frozen for a while",
        "first frozen for a while",
        "last frozen for a while",
    ):
        wrong = outcomes("2.2.2", variation=variation, outcome="differs")
        assert {name for name, _ in wrong} == {"Adadelta", "RMSprop", "Rprop"}


def test_what_else_the_old_release_does():
    failing = Counter(name for name, _ in outcomes("2.2.2", outcome="compiled fails"))
    assert set(failing) == {"SGD", "RAdam", "SparseAdam", "ASGD", "Adamax"}
    assert outcomes("2.2.2", optimizer="Adagrad", variation="sparse gradients") == {
        ("Adagrad", "sparse gradients"): "differs"
    }
    assert set(outcomes("2.2.2", variation="fused").values()) == {"refused"}
