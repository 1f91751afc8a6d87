"""The manifest of a build: what it notices of changes, and what only the hashes tell."""

import os
from pathlib import Path

import pytest

from runner.environments import manifest
from runner.environments.manifest import MANIFEST, changes, contents, file_hashes


@pytest.fixture
def build(tmp_path):
    """A folder with a manifest."""
    site = tmp_path / "lib" / "site-packages"
    site.mkdir(parents=True)
    (site / "adam.py").write_text("step = 1.0\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to("/usr/bin/python3.11")
    (tmp_path / "lib64").symlink_to("lib")
    manifest.write(tmp_path, {})
    return tmp_path


def edit(path: Path, text: str) -> None:
    """Write into a file in place, and set its old time back."""
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def relink(path: Path, target: str) -> None:
    path.unlink()
    path.symlink_to(target)


def replace_by_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


ADAM = "lib/site-packages/adam.py"
CHANGES = [
    (lambda root: (root / ADAM).touch(), f"{ADAM} was changed"),
    (lambda root: edit(root / ADAM, "step = 0.50\n"), f"{ADAM} was changed"),
    (lambda root: (root / ADAM).unlink(), f"{ADAM} is missing"),
    (lambda root: (root / "lib/site-packages/x.pth").touch(), "lib/site-packages/x.pth was added"),
    (lambda root: (root / "lib/torch").mkdir(), "lib/torch was added"),
    (lambda root: (root / "a\nb").touch(), "'a\\nb' was added"),
    (lambda root: (root / os.fsdecode(b"\xff")).touch(), "'\\udcff' was added"),
    (
        lambda root: relink(root / "bin/python", "/usr/bin/python3.12"),
        "bin/python is a link to /usr/bin/python3.12, expected a link to /usr/bin/python3.11",
    ),
    (
        lambda root: relink(root / ADAM, "/tmp/adam.py"),
        f"{ADAM} is a link to /tmp/adam.py, expected a file",
    ),
    (
        lambda root: replace_by_pipe(root / ADAM),
        f"{ADAM} is a device, pipe or socket, expected a file",
    ),
    (
        lambda root: relink(root / "lib64", "\x1b[2J"),
        "lib64 is 'a link to \\x1b[2J', expected a link to lib",
    ),
]


@pytest.mark.parametrize("change, words", CHANGES)
def test_a_change_is_named(build, change, words):
    assert changes(build) == []
    change(build)
    assert changes(build) == [words]


def test_what_was_added_comes_before_what_was_changed_and_is_missing(build):
    (build / "lib" / "new.pth").touch()
    (build / ADAM).touch()
    (build / "lib64").unlink()
    assert [line.split()[-1] for line in changes(build)] == ["added", "changed", "missing"]


def test_a_file_of_the_same_size_with_its_old_time_back_is_found_by_its_hash_only(build):
    edit(build / ADAM, "step = 0.5\n")
    assert changes(build) == []
    assert contents(build, file_hashes(build)) == [f"{ADAM} has other contents"]


def test_a_time_without_its_parts_of_a_second_is_the_same(build):
    """As in the image of a container; another second is not."""
    path = build / ADAM
    seconds = path.stat().st_mtime_ns // 10**9
    os.utime(path, (seconds, seconds))
    assert changes(build) == []
    os.utime(path, (seconds + 1, seconds + 1))
    assert changes(build) == [f"{ADAM} was changed"]


def test_hashes_that_are_known_are_not_made_again(build):
    manifest.write(build, {ADAM: "known"})
    assert contents(build, file_hashes(build)) == [f"{ADAM} has other contents"]
    assert list(file_hashes(build)) == [ADAM]
    assert file_hashes(build, leave_out={ADAM: ""}) == {}


@pytest.mark.parametrize("text", ["{", '["a"]\n', '["a", 1, ""]\n', "\xff", None])
def test_a_manifest_that_cannot_be_read_is_a_change(build, text):
    path = build / MANIFEST
    path.unlink()
    if text is None:
        os.mkfifo(path)
    else:
        path.write_text(text, encoding="latin-1")
    (change,) = changes(build)
    assert change.startswith("its manifest.jsonl cannot be read: ")
    assert "\n" not in change


def test_a_stamp_that_is_none_is_a_change(build):
    (build / MANIFEST).write_text(f'["{ADAM}", "", ""]\n')
    assert f"{ADAM} is a file, expected " in changes(build)


def test_a_folder_that_cannot_be_read_is_a_change(build, monkeypatch):
    def refuse(path, flags, *more, opened=os.open):
        if Path(path).is_file():
            return opened(path, flags, *more)
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(manifest.os, "open", refuse)
    assert changes(build) == [f"{build}/ cannot be read: Permission denied"]
