"""Data that scripts download: once, checked, and into a cache that no script writes to."""

import errno
import hashlib
import os
from pathlib import Path

import pytest
from support.toy import OWN_PYTHON, SCRIPT, toy_config

from runner.errors import ResultsError
from runner.results.store import Store

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


def source_of_data(toy):
    return next(toy.results.rglob("*.stdout")).read_text().split()[0]


def test_data_is_downloaded_once_and_only_read_then(toy, cache):
    downloading(toy)
    assert run(toy).ok
    assert source_of_data(toy) == "downloads"
    assert (cache / NAME).read_text() == TEXT
    assert run(toy).ok
    assert source_of_data(toy) == "there"
    assert sorted(path.name for path in (cache / NAME).parent.iterdir()) == ["train"]
    downloading(toy, DOWNLOAD + "path.write_text('edited')\n")
    record = run(toy)
    assert record.status == "crashed"
    assert "PermissionError" in record.reason or "Read-only" in record.reason
    assert (cache / NAME).read_text() == TEXT


def test_other_data_than_the_case_declares_is_invalid_and_not_kept(toy, cache):
    downloading(toy, sha256="0" * 64)
    record = run(toy)
    assert record.status == "other data"
    assert f"downloaded {NAME}: its SHA-256 is" in record.reason
    assert list(cache.rglob("*")) == [cache / "SET", cache / "SET" / "raw"]


def test_data_that_another_bug_has_put_into_the_cache_is_not_used(toy, cache):
    """It may declare any hash for a file of that name; what is there stays, and each run has the
    data it declares.
    """
    (cache / NAME).parent.mkdir(parents=True)
    (cache / NAME).write_text("poison")
    downloading(toy)
    for _ in range(2):
        assert run(toy).ok
        assert source_of_data(toy) == "downloads"
    assert (cache / NAME).read_text() == "poison"
    downloading(toy, sha256=hashlib.sha256(b"poison").hexdigest())
    assert run(toy).ok
    assert source_of_data(toy) == "there"


def test_data_in_the_cache_is_not_replaced_by_the_data_of_another_bug(toy, cache):
    downloading(toy)
    assert run(toy).ok
    assert (cache / NAME).read_text() == TEXT
    text = DOWNLOAD.replace(repr(TEXT), "'poison'")
    downloading(toy, text, sha256=hashlib.sha256(b"poison").hexdigest())
    assert run(toy).ok
    assert (cache / NAME).read_text() == TEXT


def test_without_a_hash_every_run_downloads(toy, cache):
    downloading(toy, sha256=None)
    for _ in range(2):
        assert run(toy).ok
        assert source_of_data(toy) == "downloads"
    assert not cache.exists()


@pytest.mark.parametrize(
    "statement", ["os.symlink('/etc/passwd', path)", "os.mkfifo(path)", "path.mkdir()"]
)
def test_what_is_no_file_of_the_run_is_not_kept(toy, cache, statement):
    downloading(toy, DOWNLOAD.replace(f"path.write_text({TEXT!r})", statement))
    assert run(toy).ok
    assert not cache.exists()


def test_a_folder_without_the_data_is_refused_before_any_run(toy, cli, tmp_path):
    downloading(toy)
    status, out, err = cli("run", "Toy-1", *OWN_PYTHON, "--data", tmp_path)
    assert (status, out) == (2, "")
    assert not list(toy.results.rglob("*.json"))
    assert err == (
        "trainbugs: Toy-1/only needs data: name --data DIR, where DIR/SET/raw holds train; "
        f"{tmp_path}/SET/raw/train is not there\n"
    )


def test_it_is_said_once_and_first_that_data_is_downloaded(toy, cli):
    downloading(toy)
    advice = (
        "Toy-1/only: the data is downloaded; without a network name --data DIR, where DIR/SET/raw "
        "holds train\n"
    )
    err = cli("run", "Toy-1/only/buggy", *OWN_PYTHON)[2]
    assert err.count("--data DIR") == 1
    assert advice in err
    assert err.index("--data DIR") < err.index("Toy-1/only/buggy seed")
    assert "--data" not in cli("run", "Toy-1/only/buggy", *OWN_PYTHON, "--force")[2], (
        "it is in the cache"
    )


def test_a_run_that_could_not_download_says_what_to_name(toy):
    downloading(toy, "raise OSError('no network')\n")
    reason = run(toy).reason
    assert reason.startswith(
        "its data was not downloaded: name --data DIR, where DIR/SET/raw holds train; exit status"
    )
    assert reason.endswith("OSError: no network")


def test_advice_of_the_script_about_a_folder_that_is_gone_is_left_out(toy):
    downloading(toy, "raise OSError('no network. Put the files into /gone')\n")
    assert run(toy).reason.endswith("OSError: no network")


def test_one_that_failed_otherwise_says_nothing_of_it(toy):
    downloading(toy, DOWNLOAD + "raise ValueError('why')\n")
    assert run(toy).reason == "exit status 1: ValueError: why"


def test_a_cache_that_cannot_be_written_is_named_and_not_the_temporary_folder(toy, cache):
    downloading(toy)
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_text("a file")
    with pytest.raises(ResultsError) as raised:
        run(toy)
    assert str(raised.value).startswith(f"{cache.parent}: cannot be written: ")
    assert str(raised.value).endswith("name a folder of yours in TRAINBUGS_CACHE")


def test_logs_that_cannot_be_written_are_named_and_not_the_temporary_folder(toy, cache):
    downloading(toy)
    logs = toy.results / "Toy-1" / "only" / "logs"
    logs.parent.mkdir(parents=True)
    logs.write_text("a file")
    with pytest.raises(ResultsError) as raised:
        run(toy)
    assert str(raised.value).startswith(f"{logs}/buggy-seed0-")


def test_streams_that_cannot_be_made_name_the_results(toy, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("runner.sandbox.streams.TemporaryFile", full)
    store = Store(toy.results)
    with (
        pytest.raises(ResultsError, match="No space left on device") as raised,
        store.working_directory(),
        store.streams(),
    ):
        pass
    assert str(raised.value).startswith(f"{toy.results}: cannot be written")
