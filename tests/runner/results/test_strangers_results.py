"""A stranger's results folder, whose links would lead to files of the user: none is written."""

from support.copies import replace
from support.records import RECORD

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
