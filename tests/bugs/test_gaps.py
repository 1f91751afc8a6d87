"""What the README of PyTorch-115607 says of the study of gaps: it is in the committed table."""

import csv
from statistics import median

import pytest
from support.paths import ROOT

BUG = ROOT / "bugs" / "PyTorch-115607"
TABLE = list(csv.DictReader((BUG / "studies" / "gaps.csv").read_text().splitlines()))
AFFECTED = ("ASGD", "Adam", "AdamW", "NAdam")


def rows(**values):
    """The rows of the table with these values."""
    return [row for row in TABLE if values.items() <= row.items()]


@pytest.mark.parametrize("place", ["1", "9", "46", "81"])
def test_the_row_of_a_place_is_of_the_table(place):
    runs = rows(variant="buggy", accumulation="1", gap_start=place)
    affected = [row for row in runs if row["optimizer"] in AFFECTED]
    visible = [row for row in affected if row["shows_at"]]
    lost = sorted(float(row["updates_lost"]) for row in affected)
    delays = [int(row["shows_at"]) - int(row["gap_end"]) for row in visible]
    shares = " | ".join("1" if share == 1 else f"{share:.2f}" for share in (lost[0], lost[-1]))
    delay = f"{median(delays):g} | {min(delays)} | {max(delays)}"
    assert len(affected) == 36
    line = f"| {place} | {shares} | {delay} | {len(visible)} |"
    assert line in (BUG / "README.md").read_text()


def test_after_the_gap_every_update_is_lost():
    for row in rows(variant="buggy", accumulation="1"):
        due = 96 - int(row["gap_length"])
        after = 96 - int(row["gap_end"])
        expected = after / due if row["optimizer"] in AFFECTED else 0
        assert float(row["updates_lost"]) == pytest.approx(expected, abs=1e-6)


def test_the_length_of_the_gap_does_not_matter():
    for row in rows(variant="buggy", accumulation="1", gap_length="1"):
        same = {name: row[name] for name in ("optimizer", "seed", "gap_start")}
        if row["optimizer"] in AFFECTED:
            runs = rows(variant="buggy", accumulation="1", **same)
            assert len({run["validation_loss"] for run in runs}) == 1


def test_with_accumulation_only_a_gap_that_holds_a_whole_update_harms():
    for row in rows(variant="buggy", accumulation="4"):
        gap = range(int(row["gap_start"]), int(row["gap_end"]) + 1)
        updates = [range(first, first + 4) for first in range(1, 97, 4)]
        holds_update = any(set(update) <= set(gap) for update in updates)
        is_harmed = holds_update and row["optimizer"] in AFFECTED
        assert (float(row["updates_lost"]) > 0) == is_harmed
    runs = rows(variant="buggy", accumulation="4", optimizer="Adam")
    lost = {f"{float(run['updates_lost']):.0%}" for run in runs}
    assert lost == {"0%", "13%", "91%", "100%"}


def test_the_fixed_program_and_sgd_lose_nothing():
    for row in [*rows(variant="fixed"), *rows(optimizer="SGD")]:
        assert row["updates_lost"] == "0"
        assert row["shows_at"] == ""
