"""The subcommand results: names that it does not know, and names that are no bugs."""

import json

import pytest
from support.toy import OWN_PYTHON


@pytest.fixture
def run(cli):
    cli("run", "Toy-1", "--seeds", "0", *OWN_PYTHON)


def test_a_name_that_is_near(cli, run, tmp_path):
    status, out, err = cli("results", "Toi-1")
    assert (status, out, err) == (
        2,
        "",
        "trainbugs: there are no records of Toi-1 (did you mean Toy-1?) in results\n",
    )
    (tmp_path / "results" / "slurm").mkdir()
    assert cli("results", "slurn")[2].endswith("no records of slurn in results\n")


def test_one_of_several_names_is_unknown(cli, run):
    status, out, err = cli("results", "Toy-1", "Toy-1/only", "Toy-1/onyl")
    assert (status, out) == (
        2,
        "",
    )
    assert "no records of Toy-1/onyl (did you mean Toy-1?) in results" in err
    assert len(cli("results", "Toy-1/only")[1].splitlines()) == 3


@pytest.mark.parametrize(
    "name", ["..", ".", "", "Toy-1/..", "/etc", "../results", "Toy-1//", ".claims"]
)
def test_nothing_leads_out_of_the_folder(cli, run, tmp_path, name):
    record = next((tmp_path / "results").rglob("buggy-*.json"))
    (tmp_path / record.name).write_text(
        json.dumps(json.loads(record.read_text()) | {"bug": "Other-1"})
    )
    status, out, err = cli("results", name)
    assert (status, out) == (
        2,
        "",
    )
    assert f"{name!r} is no ID of a bug; expected BUG or BUG/CASE" in err
