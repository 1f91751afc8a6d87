"""Records from a results folder, and from the folders that are committed."""

import pytest
from msgspec.structs import replace
from support.checks import HIT, record
from support.detectors import write_detector

from evaluation.catalog.detectors import read
from evaluation.reading.load import (
    committed_folder,
    committed_folders,
    earlier_folder,
    folder_with,
    is_earlier,
    load_results,
)
from evaluation.store.results import CheckStore


@pytest.fixture
def folder(tmp_path):
    """A results folder with the records of two detectors."""
    folder = tmp_path / "detectors"
    store = CheckStore(folder)
    for name in ("mine", "other"):
        store.save_detector(read(write_detector(tmp_path / name, "")))
        store.save(replace(record("buggy", "one", [HIT]), detector=name))
    return folder


def test_all_detectors_of_a_folder_or_some_are_read(folder):
    everything = load_results(folder)
    assert {check.detector for check in everything.checks} == {"mine", "other"}
    some = load_results(folder, ["mine"])
    assert {check.detector for check in some.checks} == {"mine"}


def test_a_file_that_is_no_record_is_named(folder):
    path = next(folder.rglob("buggy-0.json"))
    path.write_text("{")
    records = load_results(folder)
    assert len(records.problems) == 1
    assert path.name in records.problems[0]


def test_the_folders_of_committed_records(tmp_path):
    assert committed_folder(tmp_path) == tmp_path / "detectors" / "expected"
    assert committed_folders(tmp_path, "seeds", False) == [committed_folder(tmp_path)]


def test_what_only_an_earlier_kit_made_is_in_the_earlier_folder(tmp_path):
    today, earlier = committed_folder(tmp_path), earlier_folder(tmp_path)
    assert folder_with(tmp_path, "seeds") == today
    (earlier / "seeds").mkdir(parents=True)
    assert folder_with(tmp_path, "seeds") == earlier
    assert is_earlier(tmp_path, "seeds")
    assert not is_earlier(tmp_path, "rewritten")
    assert folder_with(tmp_path, "rewritten") == today
    (today / "seeds").mkdir(parents=True)
    assert folder_with(tmp_path, "seeds") == today
