"""The digest of the kit covers each of its files, those of the launcher included."""

import shutil

import pytest

from evaluation import keys

FILES = sorted(path.relative_to(keys.KIT).as_posix() for path in keys.KIT.rglob("*.py"))


@pytest.fixture
def digest_of_copy(tmp_path, monkeypatch):
    """A copy of the kit, and a function that returns its digest."""
    copy = tmp_path / "kit"
    shutil.copytree(keys.KIT, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(keys, "KIT", copy)

    def digest():
        keys.kit_digest.cache_clear()
        return keys.kit_digest()

    yield copy, digest
    keys.kit_digest.cache_clear()


def test_the_kit_has_the_launcher_and_its_modules():
    assert {"detector_kit.py", "launcher/__main__.py", "launcher/moments.py"} < set(FILES)


@pytest.mark.parametrize("file", FILES)
def test_a_change_in_a_file_changes_the_digest(digest_of_copy, file):
    copy, digest = digest_of_copy
    before = digest()
    path = copy / file
    path.write_text(path.read_text() + "\n")
    assert digest() != before
    path.write_text(path.read_text()[:-1])
    assert digest() == before


def test_a_new_file_of_the_launcher_changes_the_digest(digest_of_copy):
    copy, digest = digest_of_copy
    before = digest()
    (copy / "launcher" / "more.py").write_text("")
    assert digest() != before
