"""Devices are never replaced by files: root would replace /dev/null itself."""

import os

import pytest

from runner.errors import ResultsError
from runner.files.atomic import write_text


def make_device(path):
    try:
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("NOT RUN: only root makes devices")


def make_link_to_device(path):
    path.symlink_to("/dev/null")


@pytest.mark.parametrize("make", [make_device, make_link_to_device])
def test_a_device_stays(tmp_path, monkeypatch, make):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "odd"
    make(path)
    before = path.lstat()
    with pytest.raises(ResultsError, match="odd: cannot be written: it is no plain file"):
        write_text(path, "new")
    after = path.lstat()
    assert (after.st_mode, after.st_ino) == (before.st_mode, before.st_ino)
    assert not list(tmp_path.glob(".*"))


def test_files_and_links_to_them_are_replaced(tmp_path):
    (tmp_path / "file").write_text("old")
    for name, target in (("link", "file"), ("lost", "nothing"), ("folder", ".")):
        (tmp_path / name).symlink_to(target)
    for name in ("link", "lost", "folder", "new"):
        write_text(tmp_path / name, "new")
        assert not (tmp_path / name).is_symlink()
        assert (tmp_path / name).read_text() == "new"
    assert (tmp_path / "file").read_text() == "old"
