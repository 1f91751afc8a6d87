"""The small wheel: what it holds, and that it needs nothing but torch."""

import ast
import base64
import hashlib
import sys
import zipfile
from email.parser import Parser

import pytest
from support.paths import ROOT

from evaluation.watching import small_wheel

# What is in the user's environment because the user trains with it, or runs the tests with it.
OF_THE_USER = {"torch", "transformers", "pytest", "numpy"}
# What the wheel's own files are to each other.
OURS = {"trainbugs_watch", "sanitizer_invariants"}
LAZY = {"trainbugs_watch/report.py": {"msgspec"}}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return small_wheel.build(tmp_path_factory.mktemp("wheel"), ROOT / "detectors" / "sanitizer")


@pytest.fixture(scope="module")
def files(built):
    with zipfile.ZipFile(built) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def imported(text):
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def test_a_wheel_that_is_half_written_is_not_under_its_name(tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(zipfile.ZipFile, "writestr", stop)
    with pytest.raises(KeyboardInterrupt):
        small_wheel.build(tmp_path, ROOT / "detectors" / "sanitizer")
    assert list(tmp_path.iterdir()) == []


def test_it_needs_nothing_but_what_the_user_trains_with(files):
    for name, text in files.items():
        if name.endswith(".py"):
            foreign = imported(text) - OF_THE_USER - OURS - sys.stdlib_module_names
            assert foreign == LAZY.get(name, set()), name


def test_it_is_light_and_holds_what_watches(built, files):
    assert built.stat().st_size < 500_000
    for name in ("launcher/session.py", "sanitizer/monitor.py", "in_process/watching.py"):
        assert f"trainbugs_watch/{name}" in files
    assert not any("evaluation" in imported(text) for text in files.values() if b"import" in text)


def test_its_record_lists_each_file_with_its_hash(files):
    (record,) = [name for name in files if name.endswith("RECORD")]
    rows = [line.split(",") for line in files[record].decode().splitlines()]
    assert [name for name, *_ in rows] == list(files)
    for name, digest, size in rows[:-1]:
        found = hashlib.sha256(files[name]).digest()
        assert digest == f"sha256={base64.urlsafe_b64encode(found).rstrip(b'=').decode()}"
        assert int(size) == len(files[name])


def test_its_description_asks_for_no_package(files):
    (name,) = [name for name in files if name.endswith("METADATA")]
    described = Parser().parsestr(files[name].decode())
    assert described["Name"] == "trainbugs-watch"
    assert described.get_all("Requires-Dist") is None


def test_the_same_source_gives_the_same_bytes(built, tmp_path):
    again = small_wheel.build(tmp_path, ROOT / "detectors" / "sanitizer")
    assert again.read_bytes() == built.read_bytes()


def test_the_command_writes_it_and_says_how_to_install_it(cli, tmp_path):
    status, out, _ = cli("watch", "--wheel", str(tmp_path / "dist"))
    (path,) = (tmp_path / "dist").iterdir()
    assert (status, out) == (0, f"pip install {path}\n")


def test_a_folder_that_cannot_be_made_is_one_line(cli, tmp_path):
    (tmp_path / "file").write_text("")
    status, _, err = cli("watch", "--wheel", str(tmp_path / "file"))
    assert status == 2
    assert "cannot be written" in err
    assert len(err.splitlines()) == 1
