"""A stranger's results folder, whose links would lead to files of the user: none is written."""

import pytest
from support.copies import replace
from support.records import RECORD

from runner.errors import ResultsError
from runner.results.folder_index import INDEX
from runner.results.store import Store


def test_logs_of_another_machine_replace_a_link_and_write_nothing_through_it(tmp_path):
    victim, store = tmp_path / "bashrc", Store(tmp_path / "results")
    victim.write_text("precious")
    log = store.log_path(RECORD, "stdout")
    log.parent.mkdir(parents=True)
    log.symlink_to(victim)
    store.save_logs(RECORD, {"stdout": b"what the program wrote"})
    assert victim.read_text() == "precious"
    assert not log.is_symlink()
    assert log.read_bytes() == b"what the program wrote"


def test_the_command_that_shows_results_writes_no_line_through_a_link(cli, tmp_path):
    victim, store = tmp_path / "bashrc", Store(tmp_path / "results")
    victim.write_text("precious\n")
    path = store.save(replace(RECORD, bug="Toy-1", case="only"))
    path.rename(path.with_name("buggy-seed0-$(echo PWNED).json"))
    (store.root / INDEX).unlink()
    (store.root / INDEX).symlink_to("../bashrc")
    status, out, _ = cli("results")
    assert status == 0
    assert "Toy-1" in out
    assert victim.read_text() == "precious\n"


@pytest.mark.parametrize("linked", ["Toy-1", "Toy-1/only", "Toy-1/only/logs"])
def test_a_folder_that_is_a_link_is_not_written_to(tmp_path, linked):
    victims, store = tmp_path / "home", Store(tmp_path / "results")
    (victims / "only" / "logs").mkdir(parents=True)
    record = replace(RECORD, bug="Toy-1", case="only")
    path = store.root / linked
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(victims)
    with pytest.raises(ResultsError, match="a link leads out of .*; remove it"):
        store.save_logs(record, {"stdout": b"what the program wrote"})
    if linked != "Toy-1/only/logs":
        with pytest.raises(ResultsError, match="a link leads out of .*; remove it"):
            store.save(record)
    assert sorted(victims.rglob("*")) == [victims / "only", victims / "only" / "logs"]
