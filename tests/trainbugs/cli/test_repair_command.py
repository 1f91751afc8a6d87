"""`trainbugs repair`: export buggy programs, and grade patches of strangers."""

import json
import sys

import pytest
from support.records import as_pinned
from support.toy import toy_config

from evaluation.repair import further_seeds
from runner.session import forecast
from runner.session.promote import promote_runs

OWN_PYTHON = ["--python", sys.executable]


@pytest.fixture
def measuring(toy):
    """The fault is in the measurement, so that a patch may change what is recorded."""
    labels = toy_config()["labels"] | {"stage": "evaluation", "effect": "wrong evaluation"}
    toy.configure(labels=labels)


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


def test_a_bug_without_records_is_left_out_of_an_export(cli, toy, tmp_path, toy_environment):
    status, out, err = cli("repair", "export", "--out", str(tmp_path / "tasks"))
    assert status == 0, err
    (target,) = toy.catalog.select(toy.catalog.active())
    assert f"{target.case.id}: left out, it has no records yet" in err
    assert "0 programs" in out


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
    assert "PATCHES" in printed
    document = json.loads((tmp_path / "grades" / "grades.json").read_text())
    (grade,), (score,) = document["grades"], document["scores"]
    assert (score["model"], score["fixed"], score["same"], score["tasks"]) == ("a", 1, 1, 1)
    assert (grade["case"], grade["outcome"]) == ("Toy-1/only", "FIXED")
    assert len(grade["seeds"]) == 4


@pytest.fixture
def grade(cli, exported, toy, tmp_path):
    """Grades files of patches of the task; returns status, output and errors."""

    def grade_files(*files, out="grades", options=()):
        paths = []
        for number, lines in enumerate(files):
            path = tmp_path / f"patches{number}.jsonl"
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
            paths.append(str(path))
        key = str(exported / "key.json")
        return cli(
            *("repair", "grade", *paths, "--key", key, "--out", str(tmp_path / out), "-q"),
            *OWN_PYTHON,
            *options,
        )

    return grade_files


@pytest.fixture
def line(exported, toy):
    return {"id": task(exported)["id"], "script": (toy.directory / "fixed.py").read_text()}


def test_a_patch_for_the_same_task_in_another_file_is_a_line(grade, line, tmp_path):
    status, _, err = grade([line], [line | {"script": "other = 1"}])
    assert status == 2
    assert "patches1.jsonl, line 1: there was a patch of '-'" in err
    (only,) = json.loads((tmp_path / "grades" / "grades.json").read_text())["grades"]
    assert only["outcome"] == "FIXED"
    assert grade([line | {"model": "a"}], [line | {"model": "b"}])[0] == 0


def test_one_patch_that_cannot_be_parsed_does_not_end_the_grading(grade, line):
    hostile = line | {"script": "-" * 200_000, "model": "deep"}
    binary = {"id": line["id"], "patch": "literal 3\n+y\nGIT binary patch", "model": "binary"}
    status, out, err = grade([hostile, binary, line])
    assert (status, err) == (0, "")
    assert "1 FIXED, 2 INVALID" in out


def test_mere_mistakes_overwrite_no_grades(grade, line, tmp_path):
    path = tmp_path / "grades" / "grades.json"
    assert grade([line])[0] == 0
    before = path.read_text()
    status, out, _ = grade([{"id": "f" * 16, "script": ""}])
    assert (status, out) == (2, "no patch\n")
    assert path.read_text() == before


def test_a_folder_that_cannot_be_made_is_said_before_anything_runs(grade, line, toy, tmp_path):
    (tmp_path / "file").write_text("precious")
    status, _, err = grade([line], out="file")
    assert status == 2
    assert "file: cannot be written: " in err
    assert len(err.splitlines()) == 1
    assert not list((tmp_path / "results").rglob("*-seed*.json"))


def test_a_task_whose_program_has_changed_is_not_graded(grade, line, toy):
    script = toy.directory / "buggy.py"
    script.write_text(f"{script.read_text()}\n")
    status, out, err = grade([line])
    assert status == 2
    assert f"the program of task {line['id']} (Toy-1/only) has changed since the export" in err
    assert "FIXED" not in out


def test_a_key_without_digests_is_graded_with_one_line(grade, line, exported):
    key = json.loads((exported / "key.json").read_text())
    del key["programs"]
    (exported / "key.json").write_text(json.dumps(key))
    status, out, err = grade([line])
    assert status == 0
    assert "1 FIXED" in out
    assert "does not say which texts its programs had (catalogue " in err
    assert len(err.splitlines()) == 1


def test_a_key_with_digests_of_other_tasks_is_none(grade, line, exported):
    key = json.loads((exported / "key.json").read_text())
    key["programs"] = {"f" * 16: "0" * 64}
    (exported / "key.json").write_text(json.dumps(key))
    status, _, err = grade([line])
    assert status == 2
    assert "expected the digest of each task's program" in err
    assert len(err.splitlines()) == 1


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


@pytest.mark.usefixtures("measuring")
def test_with_other_parameters_a_table_says_where_a_patch_is_no_repair(grade, line, tmp_path):
    cheat = line["script"].replace("2 * epoch", '(2 if config["num_epoch"] < 4 else 1) * epoch')
    lines = [line | {"model": "a"}, line | {"script": cheat, "model": "b"}]
    status, out, err = grade(lines, options=["--vary"])
    assert status == 0, err
    assert "VARIED" in out
    assert "num_epoch = 4: accuracy is 1, and 2 in the fixed program" in out
    scores = json.loads((tmp_path / "grades" / "grades.json").read_text())["scores"]
    assert [(item["same"], item["varied"]) for item in scores] == [(1, 1), (1, 0)]


@pytest.mark.parametrize("models, runs", [(["a"], 12), (["a", "b"], 16)])
def test_how_long_the_runs_take_is_said_before_the_first(
    cli, grade, line, tmp_path, monkeypatch, models, runs
):
    monkeypatch.setattr(forecast, "SHORTEST_S", 0)
    monkeypatch.setattr(forecast, "estimates", lambda bug, case: {})
    grade([line | {"model": model} for model in models])
    words = (str(tmp_path / "patches0.jsonl"), "--key", str(tmp_path / "tasks" / "key.json"))
    status, _, err = cli("repair", "grade", *words, *OWN_PYTHON)
    assert status == 0
    patches = "1 patched program" if len(models) == 1 else "2 patched programs"
    assert err.startswith(
        f"{patches}: about 0 s of runs by the committed records, {runs} runs that"
    )


def test_a_file_whose_name_is_no_task_is_a_clear_line(cli, exported, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "mine.py").write_text("")
    words = (str(folder), "--key", str(exported / "key.json"))
    status, _, err = cli("repair", "grade", *words)
    assert status == 2
    assert "mine.py: id 'mine': there is no such task; expected one of the key" in err


def test_vary_is_for_grades(cli, tmp_path):
    status, _, err = cli("repair", "export", "--out", str(tmp_path / "t"), "--vary")
    assert status == 2
    assert "--vary" in err
