"""Changes of folders that are all or nothing: ended by an error, by a kill, done by two at once,
forged.
"""

import json
import os
import shutil
import threading

import pytest
from support.killing import at_each_write, check_all_or_nothing, contents, files, killed_at

from runner.errors import ResultsError, UsageError
from runner.files.swap import HIDDEN, JOURNAL, changing, recover


@pytest.fixture
def folder(tmp_path):
    """A folder with files that will change, go, stay, and come."""
    folder = tmp_path / "expected"
    for name in ("changes", "goes/away", "stays/here", "link-target"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"old {name}")
    (folder / "link").symlink_to("link-target")
    return folder


def change(folder):
    with changing(folder) as copy:
        (copy / "changes").write_text("new")
        shutil.rmtree(copy / "goes")
        (copy / "comes" / "in").mkdir(parents=True)
        (copy / "comes" / "in" / "file").write_text("new")


def test_files_are_replaced_removed_and_added_and_others_stay(folder):
    stays = (folder / "stays" / "here").stat()
    change(folder)
    assert files(folder) == {
        "changes": b"new", "comes/in/file": b"new", "stays/here": b"old stays/here",
        "link": b"old link-target", "link-target": b"old link-target",
    }  # fmt: skip
    assert "goes" not in contents(folder)
    assert (folder / "link").is_symlink()
    again = (folder / "stays" / "here").stat()
    assert (again.st_ino, again.st_mtime_ns, again.st_nlink) == (stays.st_ino, stays.st_mtime_ns, 1)


def test_an_error_leaves_all_as_it_was_and_names_no_copy(folder):
    before = contents(folder)
    with pytest.raises(UsageError) as raised, changing(folder) as copy:
        (copy / "more").write_text("half")
        raise UsageError(f"{copy}/changes: is odd")
    assert str(raised.value) == f"{folder}/changes: is odd"
    assert contents(folder) == before


def test_a_folder_that_is_not_there_is_made_and_goes_where_nothing_came(tmp_path):
    with changing(tmp_path / "a" / "b") as copy:
        (copy / "c").write_text("x")
    assert contents(tmp_path) == {"a": None, "a/b": None, "a/b/c": b"x"}
    with pytest.raises(UsageError), changing(tmp_path / "d"):
        raise UsageError("no")
    assert not (tmp_path / "d").exists()


def test_anew_removes_what_is_not_made_again(folder):
    with changing(folder, anew=True) as copy:
        assert not list(copy.iterdir())
        (copy / "changes").write_text("new")
    assert contents(folder) == {"changes": b"new"}


def test_what_somebody_else_changes_meanwhile_stays(folder):
    with changing(folder) as copy:
        (copy / "comes").write_text("new")
        (folder / "stays" / "here").unlink()
        (folder / "stays" / "here").write_text("edited")
        (folder / "note").write_text("mine")
    assert (folder / "stays" / "here").read_text() == "edited"
    assert (folder / "note").read_text() == "mine"
    assert (folder / "comes").read_text() == "new"


def test_killed_at_any_write_all_is_old_or_all_is_new(folder):
    assert check_all_or_nothing(folder, lambda: change(folder), lambda: recover(folder)) > 40


def test_killed_at_any_write_the_next_change_mends_it_too(folder):
    """Without a reader between: what is left is the new content of both."""

    def add():
        with changing(folder) as copy:
            (copy / "added").write_text("x")

    before = files(folder)
    for _ in at_each_write(folder, lambda: change(folder)):
        add()
        state = files(folder)
        assert state.pop("added") == b"x"
        assert state == before or state["changes"] == b"new" and "goes/away" not in state
        assert HIDDEN not in contents(folder)


def test_a_recovery_that_is_killed_at_any_write_is_recovered_from(folder):
    before = files(folder)
    next(
        number
        for number in range(1, 400)
        if _killed_change(folder, before, number) and _begun(folder)
    )
    saved = folder.with_name("saved")
    shutil.copytree(folder, saved, symlinks=True)
    after = None
    for number in range(1, 400):
        shutil.rmtree(folder)
        shutil.copytree(saved, folder, symlinks=True)
        killed = killed_at(number, lambda: recover(folder))
        recover(folder)
        assert files(folder)["changes"] == b"new"
        assert "goes/away" not in files(folder)
        assert after in (None, files(folder))
        after = files(folder)
        if not killed:
            return
    raise AssertionError("a recovery has no end")


def _killed_change(folder, before, number):
    _put_back(folder, before)
    return killed_at(number, lambda: change(folder))


def _put_back(folder, before):
    shutil.rmtree(folder)
    for name, content in before.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def _begun(folder):
    return (folder / HIDDEN / JOURNAL).exists()


def test_two_at_once_wait_for_each_other(folder):
    def count():
        for _ in range(20):
            with changing(folder) as copy:
                number = int((copy / "number").read_text()) + 1
                (copy / "number").write_text(str(number))

    (folder / "number").write_text("0")
    threads = [threading.Thread(target=count) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (folder / "number").read_text() == "60"
    assert HIDDEN not in contents(folder)


def test_a_reader_leaves_a_change_alone_that_is_being_prepared(folder):
    with changing(folder) as copy:
        (copy / "comes").write_text("new")
        recover(folder)
        assert copy.is_dir()
        assert not (folder / "comes").exists()
    assert (folder / "comes").read_text() == "new"


def forge(folder, journal):
    (folder / HIDDEN / folder.name).mkdir(parents=True)
    (folder / HIDDEN / JOURNAL).write_text(
        journal if isinstance(journal, str) else json.dumps(journal)
    )


@pytest.mark.parametrize(
    "journal, words",
    [
        ({"replaced": [], "removed": ["../victim"]}, "names '../victim', no file of it"),
        ({"replaced": [], "removed": ["/etc/passwd"]}, "names '/etc/passwd', no file of it"),
        ({"replaced": ["out/victim"], "removed": []}, "'out/victim' leads out of it"),
        ({"replaced": [], "removed": ["out/victim"]}, "'out/victim' leads out of it"),
        ({"replaced": [".swap/x"], "removed": []}, "names '.swap/x', no file of it"),
        ({"replaced": []}, "the key 'removed' is missing"),
        ("[" * 5000 + "]" * 5000, "nested more than 50 deep"),
    ],
)
def test_a_forged_journal_changes_nothing_outside_of_the_folder(tmp_path, folder, journal, words):
    (tmp_path / "victim").write_text("precious")
    (folder / "out").symlink_to(tmp_path)
    forge(folder, journal)
    (folder / HIDDEN / folder.name / "out").mkdir()
    (folder / HIDDEN / folder.name / "out" / "victim").write_text("evil")
    with pytest.raises(ResultsError, match=words) as raised:
        recover(folder)
    assert len(str(raised.value).splitlines()) == 1
    assert str(folder) in str(raised.value)
    assert (tmp_path / "victim").read_text() == "precious"


def test_links_in_the_place_of_folders_are_not_followed(tmp_path, folder):
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").write_text("precious")
    (folder / HIDDEN).symlink_to(other)
    recover(folder)
    assert files(other) == {"file": b"precious"}
    (folder / HIDDEN).unlink()
    forge(other, {"replaced": [], "removed": ["file"]})
    (tmp_path / "linked").symlink_to(other)
    recover(tmp_path / "linked")
    assert (other / "file").read_text() == "precious"


@pytest.mark.parametrize("link", ["", "keys"], ids=["the stage", "a folder in it"])
@pytest.mark.parametrize("absolute", [True, False])
def test_a_stage_that_leads_out_takes_no_file_of_the_user(tmp_path, folder, link, absolute):
    home = tmp_path / "home"
    home.mkdir()
    (home / "id_rsa").write_text("precious")
    forge(folder, {"replaced": [f"{link}/id_rsa".lstrip("/")], "removed": []})
    stage = folder / HIDDEN / folder.name
    place = stage / link if link else stage
    if not link:
        stage.rmdir()
    place.symlink_to(home if absolute else os.path.relpath(home, place.parent))
    with pytest.raises(ResultsError, match="is a link|leads out of it") as raised:
        recover(folder)
    assert len(str(raised.value).splitlines()) == 1
    assert "id_rsa" not in contents(folder)
    assert (home / "id_rsa").read_text() == "precious"


def test_git_takes_no_notice_of_a_change_that_was_killed(folder):
    import subprocess

    def git(*words):
        return subprocess.run(
            ["git", "-C", str(folder), *words], check=True, capture_output=True, text=True
        ).stdout

    git("init", "-q")
    before = git("status", "--porcelain")
    # Once the copy is there.
    number = next(
        n
        for n in range(20, 400)
        if killed_at(n, lambda: change(folder)) and (folder / HIDDEN).exists()
    )
    assert number
    assert git("status", "--porcelain") == before


@pytest.mark.skipif(
    os.geteuid() != 0, reason="NOT RUN: gives a folder to another user, which only root may"
)
def test_what_another_user_has_left_is_not_followed(folder):
    forge(folder, {"replaced": [], "removed": ["changes"]})
    os.chown(folder / HIDDEN, 12345, 12345)
    with pytest.raises(
        ResultsError, match="it belongs to another user; run this command as who may write there"
    ):
        recover(folder)
    assert (folder / "changes").exists()
    (folder / HIDDEN / JOURNAL).unlink()
    recover(folder)
