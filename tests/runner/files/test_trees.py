"""Folders are removed, whatever a program has made of them: no permissions, depths, links."""

import os

import pytest

from runner.files.trees import remove_tree

NOBODY = 65534


def as_nobody(work):
    """Do something in a child, as a user who is not root where this one is; asserts that it ends
    well.
    """
    child = os.fork()
    if not child:
        status = 1
        try:
            if os.geteuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            work()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


@pytest.fixture
def place(shared):
    """A folder in which everybody may write."""
    shared.chmod(0o777)
    return shared


@pytest.mark.parametrize("mode", [0, 0o100, 0o400, 0o500])
def test_folders_without_permissions_go(place, mode):
    def make_and_remove():
        inner = place / "work" / "a" / "b"
        inner.mkdir(parents=True)
        (inner / "file").write_text("x")
        for folder in (inner, inner.parent, inner.parent.parent):
            folder.chmod(mode)
        remove_tree(place / "work")

    as_nobody(make_and_remove)
    assert not (place / "work").exists()


def test_a_tree_deeper_than_the_stack_and_than_any_path_goes(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    level = os.open(folder, os.O_RDONLY)
    for number in range(3000):
        os.mkdir("level", dir_fd=level)
        if number % 7 == 0:
            os.close(os.open("file", os.O_CREAT, dir_fd=level))
        inner = os.open("level", os.O_RDONLY, dir_fd=level)
        os.close(level)
        level = inner
    os.close(level)
    remove_tree(folder)
    assert not folder.exists()


def test_what_links_lead_to_stays(tmp_path):
    other = tmp_path / "other"
    (other / "inner").mkdir(parents=True)
    (other / "file").write_text("precious")
    other.chmod(0o500)
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "link").symlink_to(other)
    remove_tree(folder)
    assert not folder.exists()
    assert (other / "file").read_text() == "precious"
    (tmp_path / "work").symlink_to(other)
    remove_tree(tmp_path / "work")
    assert (other / "inner").is_dir()
    assert other.stat().st_mode & 0o777 == 0o500


def test_what_is_not_there_is_no_error(tmp_path):
    remove_tree(tmp_path / "nowhere")
