"""The folder of a program is still the one that it was given."""

from runner.execution.launch import _watch_replacement


def test_a_folder_that_stays_is_not_replaced(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    with _watch_replacement(folder) as replaced:
        (folder / "output").write_text("1")
        assert not replaced()
    assert (folder / "output").is_file()


def test_a_folder_that_is_gone_is_made_anew(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    with _watch_replacement(folder) as replaced:
        folder.rmdir()
        assert replaced()
    assert folder.is_dir()


def test_a_link_in_its_place_is_moved_away(tmp_path):
    folder, elsewhere = tmp_path / "work", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    with _watch_replacement(folder) as replaced:
        folder.rmdir()
        folder.symlink_to(elsewhere)
        assert replaced()
    assert folder.is_dir()
    assert not folder.is_symlink()
