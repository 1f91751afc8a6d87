"""run --record-only: numbers before there are expectations, and no verdict."""

import json
from pathlib import Path

import pytest
from support.toy import OWN_PYTHON, toy_config


@pytest.fixture
def bare(toy):
    """The toy bug before its expectations are written."""
    case = toy_config()["cases"]["only"]
    del case["expectations"]
    toy.configure(cases={"only": case})
    return toy


def test_it_shows_what_was_recorded_and_needs_no_expectation(bare, cli):
    status, out, _ = cli("run", "Toy-1", "--record-only", *OWN_PYTHON)
    lines = out.splitlines()
    assert status == 0
    assert lines[0].split() == [
        "RUN",
        "SEED",
        "STATUS",
        "SECONDS",
        "RECORDS",
        "LAST",
        "RECORD",
    ]
    assert [line.split()[0:3] for line in lines[1:5]] == [
        [f"Toy-1/only/{variant}", seed, "ok"] for seed in "01" for variant in ("buggy", "fixed")
    ]
    assert lines[4].endswith("  3        epoch 3, accuracy 7")
    assert "REPRODUCED" not in out
    assert not list(bare.root.parent.rglob("verdict.json"))


def test_the_records_are_those_of_a_later_verdict(bare, cli):
    assert cli("run", "Toy-1", "--record-only", *OWN_PYTHON)[0] == 0
    bare.configure()
    status, _, err = cli("run", "Toy-1", *OWN_PYTHON)
    assert status == 0
    assert err.count("done before") == 4


def test_without_it_the_error_names_it(bare, cli):
    status, out, err = cli("run", "Toy-1", *OWN_PYTHON)
    assert status == 2
    assert out == ""
    assert err.strip().endswith(
        "Toy-1/only: no expectation is about variant buggy or fixed; `trainbugs run Toy-1 "
        "--record-only` gives the records to write it by"
    )


def test_a_run_that_does_not_end_well_is_status_2_and_says_why(bare, cli):
    bare.write("fixed.py", "raise SystemExit('no')\n")
    status, out, _ = cli("run", "Toy-1/only", "--record-only", "--seeds", "0", *OWN_PYTHON)
    assert status == 2
    buggy, fixed = out.splitlines()[1:3]
    assert " ok " in buggy
    assert " crashed " in fixed
    assert "no" in fixed


def test_one_variant_of_a_whole_bug_as_json(toy, cli):
    status, out, _ = cli(
        "run", "Toy-1/only/fixed", "--record-only", "--json", "--seeds", "1", *OWN_PYTHON
    )
    (row,) = json.loads(out)
    assert status == 0
    assert row["last"] == {"epoch": 3, "accuracy": 7}
    assert (row["id"], row["seed"], row["status"], row["records"]) == (
        "Toy-1/only/fixed",
        1,
        "ok",
        3,
    )
    assert json.loads(Path(row["path"]).read_text())["metrics"][-1] == row["last"]


def test_fields_of_many_elements_and_strange_texts_keep_a_line(bare, cli):
    script = (bare.directory / "buggy.py").read_text()
    bare.write(
        "buggy.py",
        script.replace('{"epoch": epoch,', '{"l": [1, 2], "t": "a\\nb" * 99, "epoch": epoch,'),
    )
    _, out, _ = cli("run", "Toy-1/only/buggy", "--record-only", "--seeds", "0", *OWN_PYTHON)
    line = out.splitlines()[1]
    assert "l [2 elements], t a\\nba\\nb" in line
    assert line.endswith("epoch 3, accuracy 3")
    assert len(line) < 160


def test_figures_are_drawn_of_it(bare, cli, tmp_path):
    status, out, _ = cli("run", "Toy-1", "--record-only", "--seeds", "0", "--figures", *OWN_PYTHON)
    assert status == 0 and list((tmp_path / "figures").rglob("*.png")), out


def test_it_makes_nothing_expected(bare, cli):
    status, _, err = cli("run", "Toy-1", "--record-only", "--update-expected", *OWN_PYTHON)
    assert status == 2
    assert "--update-expected needs verdicts, and --record-only gives none" in err
