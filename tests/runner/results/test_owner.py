"""One results folder, one bug directory for each ID: what has the same ID is refused, not mixed."""

import json
import shutil

import pytest
from support.toy import OWN_PYTHON, SCRIPT, toy_config

from runner.results.store import OWNER

RUN = ("--seeds", "0", *OWN_PYTHON)


@pytest.fixture
def copy(toy, tmp_path):
    """A directory outside of the catalogue with the ID of the toy, in which nothing goes wrong."""
    directory = tmp_path / "copy"
    shutil.copytree(toy.directory, directory)
    (directory / "buggy.py").write_text(SCRIPT.replace("VALUE", "2"))
    return directory


def refused(answer, *words):
    status, out, err = answer
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert all(word in err for word in (*words, "which has the same ID as")), err
    return "name another folder by --results, or give one of them another ID" in err


def test_a_copy_does_not_overwrite_the_verdict_of_the_catalogue(cli, toy, copy, tmp_path):
    assert cli("run", "Toy-1", *RUN)[0] == 0
    verdict = (tmp_path / "results/Toy-1/only/verdict.json").read_text()
    assert refused(
        cli("run", copy, *RUN), "results/Toy-1 holds runs of", str(toy.directory), str(copy)
    )
    assert (tmp_path / "results/Toy-1/only/verdict.json").read_text() == verdict
    assert refused(cli("figures", copy, "--from", "results"))
    assert cli("run", copy, *RUN, "--results", "others")[0] == 1
    assert cli("run", copy, *RUN, "--results", "others")[2].count("done before") == 2
    assert cli("figures", copy, "--from", "results", "--results", "others")[0] == 0


def test_nor_the_catalogue_that_of_a_copy(cli, copy, tmp_path):
    assert cli("run", copy, *RUN)[0] == 1
    assert refused(cli("run", "Toy-1", *RUN), f"holds runs of {copy}")
    assert refused(cli("figures", "--from", "results"), f"holds runs of {copy}")
    other = tmp_path / "other"
    shutil.copytree(copy, other)
    assert refused(cli("run", other, *RUN), f"holds runs of {copy}", str(other))


def test_a_bug_of_ones_own_is_at_home_where_its_first_runs_are(cli, copy, tmp_path):
    (copy / "config.json").write_text(json.dumps(toy_config(id="Mine-1")))
    (tmp_path / "results" / "Mine-1").mkdir(parents=True)
    assert cli("run", copy, "Toy-1", *RUN)[0] == 1
    assert (tmp_path / "results" / "Mine-1" / OWNER).read_text() == f"{copy}\n"
    assert not (tmp_path / "results" / "Toy-1" / OWNER).exists()
    assert len(cli("results")[1].splitlines()) == 5


def test_an_owner_that_cannot_be_read(cli, copy, tmp_path):
    cli("run", copy, *RUN)
    path = tmp_path / "results" / "Toy-1" / OWNER
    path.write_bytes(b"\xff")
    status, _, err = cli("run", copy, *RUN)
    assert status == 2
    assert f"results/Toy-1/{OWNER}: cannot be read as UTF-8" in err
    assert "remove it" in err
