"""`trainbugs repair`: export buggy programs, and grade patches of strangers."""

import json
import sys

import pytest
from support.records import as_pinned

from evaluation.repair import further_seeds
from runner.session.promote import promote_runs

OWN_PYTHON = ["--python", sys.executable]


@pytest.fixture
def exported(cli, toy, tmp_path, toy_environment):
    promote_runs([as_pinned(toy.run())])
    status, out, err = cli("repair", "export", "--out", str(tmp_path / "tasks"))
    assert status == 0, err
    assert "show it to nobody" in out
    return tmp_path / "tasks"


def test_an_export_says_how_many_programs_did_not_run_with_further_seeds(
    cli, toy, tmp_path, toy_environment, monkeypatch
):
    promote_runs([as_pinned(toy.run())])
    (target,) = toy.catalog.select(toy.catalog.active())
    digest = further_seeds.scripts_digest(target.case)
    asked = [
        further_seeds.Row(target.case.id, str(seed), "yes", "", digest)
        for seed in further_seeds.seeds()
    ]
    for name, rows, said in (("none", {}, True), ("all", {target.case.id: asked}, False)):
        monkeypatch.setattr(further_seeds, "_committed", lambda rows=rows: rows)
        status, out, err = cli("repair", "export", "--out", str(tmp_path / name))
        assert status == 0, err
        assert ("1 of these did not run with further seeds" in out) is said


def test_a_second_export_keeps_the_key_of_the_first(cli, exported):
    key = (exported / "key.json").read_text()
    status, out, err = cli("repair", "export", "--out", str(exported))
    assert (status, out) == (2, "")
    assert "export to another folder" in err
    assert (exported / "key.json").read_text() == key


def task(folder):
    (line,) = (folder / "tasks.jsonl").read_text().splitlines()
    return json.loads(line)


def test_a_task_shows_the_buggy_program_and_what_it_printed(exported, toy):
    shown = task(exported)
    assert shown["files"] == {"program.py": (toy.directory / "buggy.py").read_text()}
    assert shown["printed"][0]["epoch"] == 1
    assert shown["effect"] == "poor model"
    text = json.dumps(shown)
    assert "Toy-1" not in text
    assert "fixed" not in text


def test_patches_are_graded_and_what_is_wrong_is_a_line(cli, exported, toy, tmp_path):
    name = task(exported)["id"]
    fixed = (toy.directory / "fixed.py").read_text()
    lines = [{"id": name, "script": fixed, "model": "a"}, {"id": name, "model": "b"}]
    path = tmp_path / "patches.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    key, out = str(exported / "key.json"), str(tmp_path / "grades")
    status, printed, err = cli(
        "repair", "grade", str(path), "--key", key, "--out", out, "-q", *OWN_PYTHON
    )
    assert status == 2
    assert "line 2" in err
    assert "1 FIXED" in printed
    (grade,) = json.loads((tmp_path / "grades" / "grades.json").read_text())["grades"]
    assert (grade["case"], grade["outcome"]) == ("Toy-1/only", "FIXED")
    assert len(grade["seeds"]) == 4


@pytest.mark.parametrize(
    "words, expected",
    [
        (["export"], "--out DIR"),
        (["export", "a.jsonl", "--out", "x"], "for repair grade"),
        (["grade", "a.jsonl"], "--key DIR/key.json"),
        (["grade", "a.jsonl", "--key", "k", "--drawn", "-1"], "expected 0 to 100"),
        (["grade", "a.jsonl", "--key", "missing.json"], "missing.json"),
    ],
)
def test_a_wrong_command_is_one_line(cli, words, expected):
    status, out, err = cli("repair", *words)
    assert (status, out) == (2, "")
    assert expected in err
    assert len(err.splitlines()) == 1
