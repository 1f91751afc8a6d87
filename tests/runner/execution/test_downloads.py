"""Data that scripts download: once, checked, and into a cache that no script writes to."""

import hashlib
import os
from pathlib import Path

import pytest
from support.toy import SCRIPT, toy_config

NAME, TEXT = "SET/raw/train", "images"
SHA256 = hashlib.sha256(TEXT.encode()).hexdigest()
# As torchvision does it: what is there is not downloaded again.
DOWNLOAD = f"""
import os
from pathlib import Path
path = Path(os.environ["TRAINBUGS_CACHE"], "data", "{NAME}")
print("there" if path.exists() else "downloads", flush=True)
if not path.exists():
    path.parent.mkdir(parents=True)
    path.write_text({TEXT!r})
"""


@pytest.fixture
def cache() -> Path:
    return Path(os.environ["TRAINBUGS_CACHE"], "data")


def downloading(toy, text=DOWNLOAD, sha256=SHA256):
    """The toy's buggy script with data of its own; `sha256` is what the case declares."""
    config = toy_config()
    config["cases"]["only"]["data"] = [NAME]
    toy.configure(cases=config["cases"], **({"sha256": {NAME: sha256}} if sha256 else {}))
    toy.write("buggy.py", text + SCRIPT.replace("VALUE", "1"))


def run(toy):
    return toy.run("Toy-1/only/buggy", seeds=(0,), force=True).records[0]


def said(toy):
    return next(toy.results.rglob("*.stdout")).read_text().split()[0]


def test_data_is_downloaded_once_and_only_read_then(toy, cache):
    downloading(toy)
    assert run(toy).ok and said(toy) == "downloads" and (cache / NAME).read_text() == TEXT
    assert run(toy).ok and said(toy) == "there"
    assert sorted(path.name for path in (cache / NAME).parent.iterdir()) == ["train"]
    downloading(toy, DOWNLOAD + "path.write_text('edited')\n")
    record = run(toy)
    assert record.status == "crashed" and "PermissionError" in record.reason and (cache / NAME).read_text() == TEXT


def test_other_data_than_the_case_declares_is_invalid_and_not_kept(toy, cache):
    downloading(toy, sha256="0" * 64)
    record = run(toy)
    assert record.status == "other data" and f"downloaded {NAME}: its SHA-256 is" in record.reason
    assert list(cache.rglob("*")) == [cache / "SET", cache / "SET" / "raw"]


def test_without_a_hash_every_run_downloads(toy, cache):
    downloading(toy, sha256=None)
    for _ in range(2):
        assert run(toy).ok and said(toy) == "downloads"
    assert not cache.exists()


@pytest.mark.parametrize("what", ["os.symlink('/etc/passwd', path)", "os.mkfifo(path)", "path.mkdir()"])
def test_what_is_no_file_of_the_run_is_not_kept(toy, cache, what):
    downloading(toy, DOWNLOAD.replace(f"path.write_text({TEXT!r})", what))
    assert run(toy).ok and not cache.exists()
