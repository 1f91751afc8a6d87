"""Folders and locks that end with the process that holds them."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from runner.errors import ResultsError
from runner.files.locks import CLAIMS, LOCK, PREFIX, Scratch, TemporaryFolder, sweep
from runner.results.store import Store
from runner.sandbox.limits import Limits, own_folder

HOLD = """
import sys, time
from pathlib import Path
from runner.files.locks import Scratch
scratch = Scratch(Path(sys.argv[1]))
(scratch.path / "half").write_text("half")
with scratch.claim("a run") as ours:
    print(ours, flush=True)
    time.sleep(60)
"""


def names(root):
    return sorted(path.name for path in root.iterdir())


def test_a_scratch_folder_ends_with_its_object(tmp_path):
    scratch = Scratch(tmp_path)
    (scratch.path / "file").write_text("x")
    assert scratch.path.parent == tmp_path
    assert len(names(tmp_path)) == 3
    other = Scratch(tmp_path)
    assert other.path != scratch.path, "it is not swept while it lives"
    assert (scratch.path / "file").exists(), "it is not swept while it lives"
    del scratch, other
    assert names(tmp_path) == [CLAIMS]


def test_a_claim_is_seen_by_others_until_it_ends(tmp_path):
    first, second = Scratch(tmp_path), Scratch(tmp_path)
    with first.claim("a") as ours, second.claim("a") as theirs, second.claim("b") as other:
        assert (ours, theirs, other) == (True, False, True)
        with second.claim("a") as still:
            assert not still, "a claim that was refused takes nothing away"
    with second.claim("a") as theirs:
        assert theirs


def test_the_file_of_claims_is_not_made_through_a_link(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / CLAIMS).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ResultsError, match=r"\.claims: is a link, expected a file; remove it"):
        _ = Store(tmp_path / "results").scratch
    assert not (tmp_path / "elsewhere").exists()


def test_claims_hold_between_threads(tmp_path):
    first, second, claims = Scratch(tmp_path), Scratch(tmp_path), []

    def ask():
        with second.claim("a") as ours:
            claims.append(ours)

    with first.claim("a"):
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    assert claims == [False]


def test_what_a_killed_process_leaves_is_removed_by_the_next(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "True\n"
        scratch = Scratch(tmp_path)
        with scratch.claim("a run") as ours:
            assert not ours
        assert len(list(tmp_path.glob(f"{PREFIX}*/half"))) == 1, "its owner lives"
        os.kill(holder.pid, signal.SIGKILL)
    with scratch.claim("a run") as ours:
        assert ours
    sweep(tmp_path)
    assert names(tmp_path) == sorted([CLAIMS, scratch.path.name, scratch.path.name + LOCK])


def test_a_lock_without_a_folder_is_removed_too(tmp_path):
    (tmp_path / f"{PREFIX}abc{LOCK}").write_text("")
    sweep(tmp_path)
    assert names(tmp_path) == []


def test_a_folder_can_be_removed_before_its_object_ends(tmp_path):
    folder = TemporaryFolder(tmp_path, PREFIX)
    (folder.path / "file").write_text("x")
    folder.remove()
    assert names(tmp_path) == []
    folder.remove()


def test_a_folder_in_the_place_of_the_claims_is_named(tmp_path):
    (tmp_path / CLAIMS).mkdir()
    with pytest.raises(ResultsError, match="claims: is a folder, expected a file; remove it"):
        Store(tmp_path).scratch  # noqa: B018
    assert names(tmp_path) == [CLAIMS]


def test_the_temporary_folder_of_a_program_goes_with_the_folder_that_notes_it(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    work = TemporaryFolder(tmp_path, PREFIX)
    with own_folder({}, Limits(scratch=work.path)) as (folder, _):
        folder.path.mkdir()
        assert names(work.path) == [folder.path.name]
        assert folder.path.parent == tmp_path
        assert folder.name == str(folder.path)
        (work.path / "tb-other").touch()
        (tmp_path / "tb-other").mkdir()
        work.remove()
        assert names(tmp_path) == ["tb-other"]
    work = TemporaryFolder(tmp_path, PREFIX)
    with own_folder({}, Limits(scratch=work.path)) as (folder, _):
        pass
    assert names(work.path) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT RUN: only root makes files of other users")
def test_what_another_user_has_put_among_temporary_files_stays(tmp_path):
    # Whoever owns them could exchange a folder for a link while it is removed.
    (tmp_path / f"{PREFIX}planted{LOCK}").touch()
    (tmp_path / f"{PREFIX}planted").mkdir()
    (tmp_path / f"{PREFIX}planted" / "tb-01234567").touch()
    (tmp_path / "tb-01234567").mkdir()
    (tmp_path / f"{PREFIX}taken{LOCK}").touch()
    (tmp_path / f"{PREFIX}taken").mkdir()
    for name in (f"{PREFIX}planted{LOCK}", f"{PREFIX}planted", f"{PREFIX}taken"):
        os.chown(tmp_path / name, 65534, 65534)
    TemporaryFolder(tmp_path, PREFIX).remove()
    planted = [f"{PREFIX}planted", f"{PREFIX}planted{LOCK}", f"{PREFIX}taken"]
    assert names(tmp_path) == [*planted, "tb-01234567"]
