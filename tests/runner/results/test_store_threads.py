"""The folders of a store are made once, however many threads ask for them."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from runner.files.locks import TemporaryFolder
from runner.results.store import Store

THREADS = 8


@pytest.mark.parametrize("name", ["scratch", "work"])
def test_threads_that_ask_at_once_get_the_same_folder(tmp_path, monkeypatch, name):
    made, together = [], threading.Barrier(THREADS)
    make = TemporaryFolder.__init__

    def slowly(folder, root, prefix):
        made.append(threading.get_ident())
        threading.Event().wait(0.05)
        make(folder, root, prefix)

    monkeypatch.setattr(TemporaryFolder, "__init__", slowly)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store = Store(tmp_path / "results")

    def ask(_):
        together.wait()
        return getattr(store, name).path

    with ThreadPoolExecutor(THREADS) as threads:
        paths = set(threads.map(ask, range(THREADS)))
    assert len(paths) == 1
    assert len(made) == 1
    assert paths.pop().is_dir()
