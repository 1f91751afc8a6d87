"""Links in a detector's directory: those that lead out are refused where it is read,
and followed nowhere later.
"""

import json
import os
import shutil
import sys

import pytest
from support.detectors import write_detector
from support.paths import ROOT
from support.toy import OWN_PYTHON

from evaluation import keys
from evaluation.catalog import detectors, frozen, submissions
from evaluation.running import adapter, campaign, remote
from evaluation.running.options import CampaignOptions
from runner.errors import CatalogError
from runner.files.folders import check_links, copy_folder
from runner.files.untrusted import UnsafeError

SECRET = "s3cret"
LOOKS = """
def check(target, state):
    here = Path(__file__).parent
    texts = [path.read_text() for path in sorted(here.rglob("*")) if path.is_file() and "SECRET" not in path.name]
    return {"alarms": [alarm("read", "it")] if any("s3cret" in text for text in texts) else []}
main(check)
"""


@pytest.fixture
def outside(tmp_path):
    """A folder of the user's, in which a secret lies."""
    folder = tmp_path / "home"
    (folder / "sub").mkdir(parents=True)
    (folder / ".profile").write_text(SECRET)
    (folder / "sub" / "a.py").write_text(SECRET)
    (folder / "detector.json").write_text(SECRET)
    return folder


@pytest.fixture
def detector(tmp_path):
    return write_detector(tmp_path / "mine", LOOKS)


LINKS = {
    "loot": lambda folder, outside: (folder / "loot").symlink_to(outside / ".profile"),
    "c": lambda folder, outside: (folder / "c").symlink_to(outside),
    "relative": lambda folder, outside: (folder / "relative").symlink_to("../home/sub"),
    "deep/er/link": lambda folder, outside: (
        (folder / "deep" / "er").mkdir(parents=True),
        (folder / "deep" / "er" / "link").symlink_to(outside / "sub" / "a.py"),
    ),
    "chain": lambda folder, outside: (
        (folder / "a").symlink_to("chain"),
        (folder / "chain").symlink_to(outside / ".profile"),
        (folder / "a").unlink(),
    ),
    "nothing": lambda folder, outside: (folder / "nothing").symlink_to(outside / "to come"),
    "adapter.py": lambda folder, outside: (
        (folder / "adapter.py").rename(outside / "adapter.py"),
        (folder / "adapter.py").symlink_to(outside / "adapter.py"),
    ),
    "detector.json": lambda folder, outside: (
        (folder / "detector.json").replace(outside / "detector.json"),
        (folder / "detector.json").symlink_to(outside / "detector.json"),
    ),
}


@pytest.mark.parametrize("name", LINKS)
def test_a_link_that_leads_out_is_refused_in_one_line(cli, toy, detector, outside, name):
    LINKS[name](detector, outside)
    with pytest.raises(
        CatalogError, match=f"mine: {name} is a link that leads out of its directory, to "
    ) as error:
        detectors.read(detector)
    assert "\n" not in str(error.value)
    command = (
        "evaluate",
        "--detector",
        detector,
        "--bugs",
        toy.directory,
        "--controls",
        "none",
        *OWN_PYTHON,
    )
    status, out, err = cli(*command)
    assert status == 2
    assert out == ""
    assert err.count("\n") == 1
    assert f"{name} is a link that leads out" in err


def test_an_absolute_link_is_refused_since_it_would_lead_out_of_a_copy(detector):
    (detector / "again").symlink_to(detector / "adapter.py")
    with pytest.raises(
        CatalogError, match="mine: again is an absolute link, to .*expected one relative"
    ):
        detectors.read(detector)


def test_links_within_the_directory_are_kept(toy, detector, tmp_path):
    (detector / "parts").mkdir()
    (detector / "parts" / "words.txt").write_text("quiet")
    (detector / "words.txt").symlink_to("parts/words.txt")
    (detector / "round").symlink_to(".")
    loaded = detectors.read(detector)
    copy_folder(detector, tmp_path / "copy", adapter._is_left_out)
    assert (tmp_path / "copy" / "words.txt").is_symlink()
    assert (tmp_path / "copy" / "words.txt").read_text() == "quiet"
    result = campaign.run(CampaignOptions([loaded], overhead_on=None), toy.session())
    assert [record.status for record in result.checks] == ["ok", "ok"], result.checks


class Moved:
    """A detector in which a link appears once it has been read."""

    def __init__(self, folder, outside):
        self.detector = detectors.read(folder)
        (folder / "loot.py").symlink_to(outside / ".profile")
        (folder / "c").symlink_to(outside)


def test_a_link_that_appears_later_is_followed_by_nothing(detector, outside, tmp_path):
    moved = Moved(detector, outside).detector
    check = type("Check", (), {})()
    check.detector_run = type("DetectorRun", (), {"detector": moved, "settings": None})()
    words = "is a link that leads out of its directory"
    with pytest.raises(UnsafeError, match=words):
        copy_folder(moved.directory, tmp_path / "copy", adapter._is_left_out)
    assert SECRET not in "".join(
        path.read_text() for path in (tmp_path / "copy").rglob("*") if path.is_file()
    )
    with pytest.raises(UnsafeError, match=words):
        remote._order(check)
    with pytest.raises(UnsafeError, match=words):
        keys.detector_digest(moved)
    with pytest.raises(CatalogError, match=words):
        frozen.digest(moved.directory)


def test_a_check_of_a_detector_in_which_a_link_appears_is_none(toy, detector, outside, monkeypatch):
    """Between one check and the next its author, or a stranger, may change the folder."""
    plan = CampaignOptions([detectors.read(detector)], overhead_on=None)
    real = adapter.Adapter._describe

    def target(self, sample, directory):
        if not (detector / "loot").is_symlink():
            (detector / "loot").symlink_to(outside / ".profile")
            (detector / "c").symlink_to(outside)
        return real(self, sample, directory)

    monkeypatch.setattr(adapter.Adapter, "_describe", target)
    result = campaign.run(plan, toy.session())
    assert {record.status for record in result.checks} == {"tool_error"}
    assert all(
        "is a link that leads out of its directory" in record.reason for record in result.checks
    )


def test_a_folder_is_copied_without_pipes_and_with_its_modes(detector, tmp_path):
    os.mkfifo(detector / "pipe")
    (detector / "tool.sh").write_text("")
    (detector / "tool.sh").chmod(0o750)
    (detector / "__pycache__").mkdir()
    (detector / "empty").mkdir()
    copy_folder(detector, tmp_path / "copy", adapter._is_left_out)
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == [
        "adapter.py", "detector.json", "empty", "tool.sh",
    ]  # fmt: skip
    assert (tmp_path / "copy" / "tool.sh").stat().st_mode & 0o777 == 0o750


def test_a_folder_that_becomes_a_link_while_it_is_copied_is_not_entered(
    detector, outside, tmp_path, monkeypatch
):
    (detector / "sub").mkdir()
    (detector / "sub" / "mine.py").write_text("mine")
    real = os.fwalk

    def fwalk(*arguments, **options):
        for step in real(*arguments, **options):
            yield step
            if (detector / "sub").is_dir() and not (detector / "sub").is_symlink():
                (detector / "sub").rename(tmp_path / "away")
                (detector / "sub").symlink_to(outside / "sub")

    monkeypatch.setattr(os, "fwalk", fwalk)
    copy_folder(detector, tmp_path / "copy", adapter._is_left_out)
    assert not any(path.name == "a.py" for path in (tmp_path / "copy").rglob("*"))


EXAMPLE = "backward-without-zero-grad"


@pytest.mark.parametrize(
    "spoil, words",
    [
        (
            lambda folder, out: (folder / EXAMPLE / "loot").symlink_to(out),
            f"{EXAMPLE}/loot is a link that leads out",
        ),
        (
            lambda folder, out: (folder / "scores").symlink_to(out),
            "scores is a link that leads out",
        ),
        (
            lambda folder, out: (folder.rename(out / "s"), folder.symlink_to(out / "s")),
            "is a link, expected a folder",
        ),
        (
            lambda folder, out: (
                (folder / EXAMPLE).rename(out / "s"),
                (folder / EXAMPLE).symlink_to(out / "s"),
            ),
            f"{EXAMPLE} is a link that leads out",
        ),
    ],
)
def test_links_of_a_submission_are_refused(tmp_path, outside, spoil, words):
    shutil.copytree(ROOT / submissions.FOLDER, tmp_path / submissions.FOLDER)
    spoil(tmp_path / submissions.FOLDER / EXAMPLE, outside)
    with pytest.raises(CatalogError, match=words):
        submissions.load(tmp_path, EXAMPLE)


def test_there_are_none_in_the_catalogue():
    for folder in (*(ROOT / "detectors").iterdir(), *(ROOT / submissions.FOLDER).iterdir()):
        if folder.is_dir():
            check_links(folder)


@pytest.fixture
def packaged(detector):
    """A detector that brings packages."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    (detector / "environment.json").write_text(json.dumps({"disk_gb": 0.1}))
    (detector / ".python-version").write_text(python)
    (detector / "requirements.txt").write_text("")
    return detector


@pytest.mark.parametrize(
    "text",
    [
        "--index-url https://example.org",
        "-e ./code",
        "./code",
        "a @ file:///code",
        "-r ../secret",
        "a==1 --x",
    ],
)
def test_the_lock_of_a_detector_names_wheels_and_nothing_else(packaged, text):
    (packaged / "requirements.txt").write_text(f"{text}\n")
    with pytest.raises(CatalogError, match="mine/requirements.txt: .* is no pin with hashes"):
        adapter.environment_of(detectors.read(packaged))


def test_the_python_of_a_detector_is_a_number_and_no_program(cli, toy, packaged, tmp_path):
    program = tmp_path / "python3.11"
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/executed'\n")
    program.chmod(0o755)
    (packaged / ".python-version").write_text(str(program))
    command = (
        "evaluate",
        "--detector",
        packaged,
        "--bugs",
        toy.directory,
        "--controls",
        "none",
        *OWN_PYTHON,
    )
    status, _, err = cli(*command)
    assert not (tmp_path / "executed").exists()
    assert status == 2
    assert "expected a number like 3.11" in err


def test_packages_of_a_detector_are_built_for_a_lock_of_the_catalogue_alone(packaged, tmp_path):
    assert adapter.environment_of(detectors.read(packaged)).wheels_only
    dslinter = detectors.read(ROOT / "detectors" / "dslinter")
    assert not adapter.environment_of(dslinter).wheels_only
    elsewhere = tmp_path / "dslinter"
    shutil.copytree(dslinter.directory, elsewhere)
    assert not adapter.environment_of(detectors.read(elsewhere)).wheels_only
    (elsewhere / "requirements.txt").write_text(
        (elsewhere / "requirements.txt").read_text() + "\n# more\n"
    )
    assert adapter.environment_of(detectors.read(elsewhere)).wheels_only


def test_a_pipe_in_the_place_of_a_lock_is_refused(packaged):
    (packaged / ".python-version").unlink()
    os.mkfifo(packaged / ".python-version")
    with pytest.raises(CatalogError, match=r"mine/\.python-version: is no plain file"):
        adapter.environment_of(detectors.read(packaged))
