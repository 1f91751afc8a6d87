"""The scores, computed a second time by code of its own."""

import pytest
from support.paths import ROOT

from benchmarks.recompute_scores import SCORES, differences, sign_test, student
from evaluation.scoring.exact_test import mcnemar
from evaluation.scoring.intervals import student as series


def test_a_second_computation_of_all_rows_agrees():
    assert differences(ROOT, SCORES) == []


def test_a_wrong_number_is_found(tmp_path):
    heading, *rows = SCORES.read_text().splitlines()
    column = heading.split(",").index("paired")
    cells = rows[0].split(",")
    cells[column] = str(int(cells[column]) + 1)
    path = tmp_path / "scores.csv"
    path.write_text("\n".join([heading, ",".join(cells)]) + "\n")
    (line,) = differences(ROOT, path)
    assert ": paired " in line


@pytest.mark.parametrize("leads, p", [([1] * 6, 0.03125), ([1, -1], 1), ([0, 0], 1), ([], 1)])
def test_the_sign_test_is_that_of_a_coin(leads, p):
    assert sign_test(leads) == p
    assert mcnemar(sum(lead > 0 for lead in leads), sum(lead < 0 for lead in leads)) == p


@pytest.mark.parametrize("freedom", [1, 5, 13, 33, 45, 55])
def test_the_quantile_is_that_of_the_tables(freedom):
    assert student(freedom) == pytest.approx(series(freedom), rel=0.01)
