"""Patches of strangers: what is wrong with one is a line, and the others count."""

import json
import time

import pytest

from evaluation.repair.patches import Patch, PatchError, collect_patches, patched_text, read_values
from runner.errors import ResultsError

ID, OTHER = "0123456789abcdef", "1123456789abcdef"
GOOD = {"id": ID, "script": "pass\n", "model": "m"}
TEXT = "one\ntwo\nthree\n"
DIFF = "--- program.py\n+++ program.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"


def _read(path, ids):
    return collect_patches(read_values(path), ids)


@pytest.fixture
def read(tmp_path):
    def read_lines(*lines):
        path = tmp_path / "patches.jsonl"
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("".join(f"{text}\n" for text in texts))
        return _read(path, {ID, OTHER})

    return read_lines


@pytest.mark.parametrize(
    "line, problem",
    [
        (GOOD, "before"),
        (GOOD | {"id": "f" * 16}, "there is no such task"),
        ({"id": OTHER}, "either script"),
        (GOOD | {"id": OTHER, "patch": DIFF}, "either script"),
        (GOOD | {"id": OTHER, "answer": 1}, "answer"),
        ("{", "JSON"),
    ],
)
def test_what_is_wrong_with_one_is_a_line_and_the_rest_counts(read, line, problem):
    result = read(GOOD, line, GOOD | {"model": "another"})
    assert len(result.patches) == 2
    (text,) = result.problems
    assert "line 2" in text
    assert problem in text


def test_a_key_of_another_export_is_one_line(read):
    result = read(*(GOOD | {"id": letter * 16} for letter in "def"))
    assert result.patches == ()
    (text,) = result.problems
    assert "line 1: none of 3 is for a task of this key; name the key.json" in text


@pytest.mark.parametrize("suffix", ["py", "diff"])
def test_of_a_script_or_a_diff_the_folder_is_to_be_named(tmp_path, suffix):
    path = tmp_path / f"{ID}.{suffix}"
    path.write_text(DIFF)
    with pytest.raises(ResultsError, match="name the folder that holds it"):
        _read(path, {ID})


def test_a_folder_has_scripts_and_diffs_by_their_tasks(tmp_path):
    (tmp_path / f"{ID}.py").write_text("pass\n")
    (tmp_path / f"{OTHER}.diff").write_text(DIFF)
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "mine.py").write_text("")
    result = _read(tmp_path, {ID, OTHER})
    assert [(patch.id, bool(patch.script)) for patch in result.patches] == [
        (ID, True),
        (OTHER, False),
    ]
    (problem,) = result.problems
    assert "mine.py" in problem


def test_a_binary_file_and_a_link_out_of_the_folder_are_refused(tmp_path):
    folder = tmp_path / "patches"
    folder.mkdir()
    (folder / f"{ID}.py").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "secret").write_text("secret")
    (folder / f"{OTHER}.py").symlink_to(tmp_path / "secret")
    result = _read(folder, {ID, OTHER})
    assert result.patches == ()
    assert len(result.problems) == 2


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(ResultsError):
        _read(tmp_path / "patches.jsonl", {ID})


def test_a_diff_is_applied():
    assert patched_text(Patch(ID, patch=DIFF), TEXT) == "one\n2\nthree\n"


@pytest.mark.parametrize(
    "diff", ["", "no diff", DIFF.replace("-two", "-zwei"), DIFF + DIFF.replace("program", "other")]
)
def test_a_diff_that_does_not_apply_is_refused(diff):
    with pytest.raises(PatchError):
        patched_text(Patch(ID, patch=diff), TEXT)


# Diffs of other formats, and such as have taken whatthepatch more than a minute each.
OTHERS = {
    "ed": "d106 1\nindex 000..111 100644\n",
    "context": f"*** a\n--- b\n{'*' * 15}\n*** 1,2 ****\n--- 1,2 ----\n",
    "normal": "1c1\n< one\n---\n> 1\n",
    "binary": "GIT binary patch\nliteral 5\nMcmZ?wbhEHbRA5kG\n\n",
    "a long number": f"--- a\n+++ b\n@@ -{'1' * 400_000}",
    "a long command": f"diff {'-x ' * 160_000}",
    "a long git command": f"diff --git {'a/x b/x ' * 60_000}",
    "files": DIFF + "diff --git a/x b/x\ndeleted file\ndiff --git a/y b/y\n",
}


@pytest.mark.parametrize("diff", OTHERS.values(), ids=OTHERS)
def test_a_hostile_diff_is_refused_at_once(diff):
    began = time.process_time()
    with pytest.raises(PatchError, match="no diff of one file"):
        patched_text(Patch(ID, patch=diff), TEXT)
    assert time.process_time() - began < 5


def test_headers_of_git_and_odd_lines_change_nothing():
    head = "diff --git a/program.py b/program.py\nindex 1..2 100644\n"
    diff = f"Here it is:\n{head}{DIFF}\\ No newline at end of file\n```\n"
    assert patched_text(Patch(ID, patch=diff), TEXT) == "one\n2\nthree\n"
    hunk = DIFF.partition("@@")[1] + DIFF.partition("@@")[2]
    assert patched_text(Patch(ID, patch=hunk), TEXT) == "one\n2\nthree\n"


def test_a_line_that_looks_like_a_header_is_removed():
    diff = "--- program.py\n+++ program.py\n@@ -1,2 +1 @@\n---  a: b\n one\n"
    assert patched_text(Patch(ID, patch=diff), "--  a: b\none\n") == "one\n"


def test_a_script_with_a_null_is_refused():
    with pytest.raises(PatchError, match="null"):
        patched_text(Patch(ID, script="\0"), TEXT)


def test_a_script_of_many_lines_is_refused():
    with pytest.raises(PatchError, match="400000 lines, expected at most"):
        patched_text(Patch(ID, script="\n" * 400_000), TEXT)
