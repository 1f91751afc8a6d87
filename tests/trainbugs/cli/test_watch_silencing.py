"""What silences a finding of `trainbugs watch`: a comment in its line, and the baseline file."""

import json
import os
from xml.etree import ElementTree

import pytest

OTHER = {"code": "other", "severity": "warning", "line": 8}
LINES = ["", "", "", "", "", "", "loss = 1", "loss = 2", ""]


@pytest.fixture
def program(tmp_path):
    """Write train.py, with something behind its line 7."""

    def write(comment, above=0):
        lines = [""] * above + LINES
        lines[6 + above] += comment
        (tmp_path / "train.py").write_text("\n".join(lines))

    return write


@pytest.mark.parametrize(
    "comment",
    [
        "  # trainbugs: ignore[stale-gradients]",
        "  # trainbugs: ignore[clip, stale-gradients]",
        "  # why  #trainbugs:ignore[stale-gradients] as we said",
    ],
)
def test_a_comment_silences_what_it_names_in_its_line(watch, fake, program, comment):
    program(comment)
    fake.leaves([{}])
    assert watch("train.py") == (
        0,
        "",
        "trainbugs watch: no invariant was broken in 40 steps of 1 optimizer; 1 finding silenced "
        "by comments\n",
    )
    fake.leaves([{"line": 8}])
    assert watch("train.py")[0] == 1


@pytest.mark.parametrize(
    "comment", ["  # trainbugs: ignore[clip]", "  # trainbugs: ignore[]", "  # trainbugs: ignore"]
)
def test_a_comment_that_does_not_name_it_silences_nothing(watch, fake, program, comment):
    program(comment)
    fake.leaves([{}])
    assert watch("train.py")[0] == 1


HINT = "trainbugs watch: {}: a comment ignores {!r}, but there is no such invariant{}\n"
NEAR = " (did you mean stale-gradients?)"


@pytest.mark.parametrize("alarms, status", [([{}], 1), ([{"line": 8}], 1), ([], 0)])
def test_a_comment_that_names_no_invariant_gets_a_hint(watch, fake, program, alarms, status):
    """Wherever it stands in the script: also where nothing was found."""
    program("  # trainbugs: ignore[stale-gradiants, stale-gradients, ]")
    fake.leaves(alarms)
    ended, _, err = watch("train.py")
    assert ended == (0 if {} in alarms else status)
    assert err.count(HINT.format("train.py:7", "stale-gradiants", NEAR)) == 1
    assert err.count("a comment ignores") == 1


@pytest.mark.parametrize("comment", ["ignore", "ignore[]", "ignore, please", "ignore all"])
def test_a_comment_without_a_name_gets_a_hint(watch, fake, program, comment):
    program(f"  # trainbugs: {comment}")
    fake.leaves([{}])
    status, _, err = watch("train.py")
    assert status == 1
    assert "train.py:7: a comment ignores nothing; name an invariant: # trainbugs: ignore[" in err


def test_a_word_that_begins_like_the_comment_gets_no_hint(watch, program):
    program("  # trainbugs: ignored by its authors")
    assert "a comment ignores" not in watch("train.py")[2]


def test_a_name_that_is_near_to_none(watch, fake, program):
    program("  # trainbugs: ignore[xyzzy]")
    assert HINT.format("train.py:7", "xyzzy", "") in watch("train.py")[2]


def test_a_hint_on_another_file_of_the_program(watch, fake, program, tmp_path):
    """Files are read in which something was found."""
    program("")
    (tmp_path / "loop.py").write_text("step()\nstep()  # trainbugs: ignore[stale_gradients]\n")
    fake.leaves([{"file": "loop.py", "line": 1}, {"file": None, "line": None}])
    assert HINT.format("loop.py:2", "stale_gradients", NEAR) in watch("train.py")[2]


def test_a_baseline_passes_over_what_was_there(watch, fake, program, tmp_path):
    program("")
    fake.leaves([{}])
    status, _, err = watch("--baseline", "base.json", "--write-baseline", "train.py")
    assert status == 0
    assert "; 1 finding silenced by the baseline" in err
    assert json.loads((tmp_path / "base.json").read_text()) == {
        "schema": 1,
        "findings": [{"invariant": "stale-gradients", "file": "train.py", "text": "loss = 1"}],
    }
    program("", above=3)
    fake.leaves([{"line": 10}, OTHER | {"severity": "error", "line": 11}])
    status, _, err = watch("--baseline", "base.json", "train.py")
    assert status == 1
    assert "other " in err
    assert "stale-gradients" not in err


def test_a_line_that_has_changed_is_new(watch, fake, program):
    program("")
    fake.leaves([{}])
    watch("--baseline", "base.json", "--write-baseline", "train.py")
    program(" + 1")
    assert watch("--baseline", "base.json", "train.py")[0] == 1


def test_what_a_comment_silences_is_in_no_baseline(watch, fake, program, tmp_path):
    program("  # trainbugs: ignore[stale-gradients]")
    fake.leaves([{}, OTHER])
    watch("--baseline", "base.json", "--write-baseline", "train.py")
    findings = json.loads((tmp_path / "base.json").read_text())["findings"]
    assert [finding["invariant"] for finding in findings] == ["other"]


def test_a_program_without_a_step_makes_no_baseline(watch, fake, tmp_path):
    fake.leaves(steps=0)
    (tmp_path / "base.json").write_text("mine")
    assert watch("--baseline", "base.json", "--write-baseline", "train.py")[0] == 3
    assert (tmp_path / "base.json").read_text() == "mine"


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "[]",
        '{"schema": 2, "findings": []}',
        '{"schema": 1, "findings": [{}]}',
        "[" * 100_000,
    ],
)
def test_a_baseline_that_is_none(watch, fake, tmp_path, text):
    if text is not None:
        (tmp_path / "base.json").write_text(text)
    status, _, err = watch("--baseline", "base.json", "train.py")
    assert status == 2
    assert err.count("cannot be read") == 1
    assert "--baseline base.json: cannot be read: " in err
    assert len(err.splitlines()) == 1
    assert not (fake.path.parent / "called.json").exists()


def test_a_baseline_that_is_a_pipe_is_not_waited_for(watch, fake, tmp_path):
    os.mkfifo(tmp_path / "base.json")
    status, _, err = watch("--baseline", "base.json", "train.py")
    assert status == 2
    assert "--baseline base.json: cannot be read: is no plain file" in err


def test_a_baseline_is_written_to_a_named_file(watch, fake):
    status, _, err = watch("--write-baseline", "train.py")
    assert status == 2
    assert "--write-baseline needs the name of the file" in err


def test_the_documents_say_what_silences(watch, fake, program, tmp_path):
    program("  # trainbugs: ignore[stale-gradients]")
    fake.leaves([{}])
    formats = ["--json", "o.json", "--sarif", "o.sarif", "--junit", "o.xml"]
    assert watch(*formats, "train.py")[0] == 0
    document = json.loads((tmp_path / "o.json").read_text())
    assert document["answer"] == "kept"
    assert document["findings"][0]["silenced"] == "comment"
    assert len(document["report"]["alarms"]) == 1
    log = json.loads((tmp_path / "o.sarif").read_text())
    assert log["runs"][0]["results"][0]["suppressions"] == [{"kind": "inSource"}]
    assert ElementTree.parse(tmp_path / "o.xml").getroot().findall(".//failure") == []


def test_a_rank_that_is_not_the_first_writes_no_file(watch, fake, program, tmp_path):
    program("")
    (tmp_path / "base.json").write_text("the first rank's")
    fake.leaves([{}], told_elsewhere=True)
    files = ["--baseline", "base.json", "--write-baseline", "--sarif", "a.sarif"]
    assert watch(*files, "train.py") == (0, "", "")
    assert (tmp_path / "base.json").read_text() == "the first rank's"
    assert not (tmp_path / "a.sarif").exists()
