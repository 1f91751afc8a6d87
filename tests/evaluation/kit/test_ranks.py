"""The ranks of one machine: who tells for all, and what the others leave."""

import importlib.util
import json
import os
import threading

import pytest

from evaluation.keys import KIT

VARIABLES = {"LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": "1"}


@pytest.fixture
def ranks(monkeypatch, tmp_path):
    specification = importlib.util.spec_from_file_location("ranks", KIT / "launcher" / "ranks.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(module, "PATIENCE_S", 5)
    return module


class Recorder:
    def __init__(self, steps):
        self.steps = steps

    def write(self, path):
        """As the kit's own report: whoever looks finds all of it or nothing."""
        unfinished = path.with_name(f"{path.name}.begun")
        unfinished.write_text(json.dumps({"steps": self.steps}))
        unfinished.replace(path)


def team(ranks, number, **others):
    return ranks.find_team({**VARIABLES, "LOCAL_RANK": str(number), **others})


@pytest.mark.parametrize("missing", ["LOCAL_RANK", "LOCAL_WORLD_SIZE"])
def test_a_program_that_nobody_started_as_a_rank_has_no_team(ranks, missing):
    assert ranks.find_team({k: v for k, v in VARIABLES.items() if k != missing}) is None
    assert ranks.find_team(VARIABLES | {"LOCAL_WORLD_SIZE": "1"}) is None
    assert ranks.find_team(VARIABLES | {"LOCAL_RANK": "no number"}) is None


def test_the_first_one_gets_what_the_others_leave_while_it_waits(ranks):
    first, second = team(ranks, 0), team(ranks, 1)
    assert first.is_first
    assert not second.is_first
    later = threading.Timer(0.2, second.leave, [Recorder(7)])
    later.start()
    assert first.collect() == [{"steps": 7}]
    later.join()
    assert not first.folder.exists()


def test_one_that_leaves_nothing_is_not_waited_for_for_ever(ranks, monkeypatch):
    monkeypatch.setattr(ranks, "PATIENCE_S", 0.1)
    assert team(ranks, 0).collect() == []


def test_ranks_of_another_program_are_another_team(ranks):
    folder = team(ranks, 0).folder
    assert team(ranks, 1).folder == folder
    assert team(ranks, 0, MASTER_PORT="2").folder != folder
    assert team(ranks, 0, TORCHELASTIC_RESTART_COUNT="1").folder != folder
    assert team(ranks, 0, TRAINBUGS_AGENT=str(os.getpid())).folder != folder


def test_nothing_is_left_in_a_folder_of_somebody_else(ranks, monkeypatch):
    second = team(ranks, 1)
    second.folder.mkdir()
    monkeypatch.setattr(ranks.os, "getuid", lambda: -1)
    second.leave(Recorder(1))
    assert list(second.folder.iterdir()) == []
