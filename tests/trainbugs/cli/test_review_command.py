"""`trainbugs review`: export tasks, and import answers of strangers."""

import json

import pytest


@pytest.fixture
def exported(cli, tmp_path, toy_environment):
    status, out, err = cli("review", "export", "--out", str(tmp_path / "tasks"))
    assert status == 0, err
    assert "show it to no reviewer" in out
    return tmp_path / "tasks"


def tasks(folder):
    return [json.loads(line) for line in (folder / "tasks.jsonl").read_text().splitlines()]


def test_a_stranger_scores_answers_without_a_network(cli, exported, tmp_path):
    kinds = json.loads((exported / "key.json").read_text())["tasks"]
    lines = [
        {
            "id": task["id"],
            "model": "m",
            "suspicion": 90 if kinds[task["id"]]["kind"] == "buggy" else 5,
        }
        for task in tasks(exported)
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    key = str(exported / "key.json")
    status, out, err = cli("review", "import", str(path), "--key", key, "--out", str(tmp_path))
    assert (status, err) == (0, "")
    assert "1/1" in out
    (score,) = json.loads((tmp_path / "reviews.json").read_text())["scores"]
    assert (score["paired"], score["pairs"]) == (1, 1)


def test_a_second_export_keeps_the_key_of_the_first(cli, exported):
    key = (exported / "key.json").read_text()
    status, out, err = cli("review", "export", "--out", str(exported))
    assert (status, out) == (2, "")
    assert "export to another folder" in err
    assert (exported / "key.json").read_text() == key


def test_a_file_without_answers_overwrites_no_scores(cli, exported, tmp_path):
    (tmp_path / "empty.jsonl").write_text("\n")
    (tmp_path / "wrong.jsonl").write_text("{}\n")
    (tmp_path / "reviews.json").write_text("earlier")
    for name, expected in (("empty", "holds no answer"), ("wrong", "line 1")):
        words = [str(tmp_path / f"{name}.jsonl"), "--key", str(exported / "key.json")]
        status, out, err = cli("review", "import", *words, "--out", str(tmp_path))
        assert status == 2
        assert expected in err
        assert "PAIRED" not in out, "a table without a row tells nothing"
        assert len(err.splitlines()) == 1
        assert (tmp_path / "reviews.json").read_text() == "earlier"


def test_a_file_named_twice_is_refused(cli, exported, tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text("")
    words = [str(path), f"{tmp_path}/./answers.jsonl", "--key", str(exported / "key.json")]
    status, out, err = cli("review", "import", *words)
    assert (status, out) == (2, "")
    assert "answers.jsonl is named twice" in err


def test_an_answer_to_the_same_sample_in_another_file_is_a_line(cli, exported, tmp_path):
    name = tasks(exported)[0]["id"]
    for number, suspicion in enumerate((0, 100)):
        line = {"id": name, "model": "m", "suspicion": suspicion}
        (tmp_path / f"{number}.jsonl").write_text(json.dumps(line))
    paths = [str(tmp_path / f"{number}.jsonl") for number in range(2)]
    words = [*paths, "--key", str(exported / "key.json"), "--out", str(tmp_path)]
    status, _, err = cli("review", "import", *words)
    assert status == 2
    assert "1.jsonl, line 1: sample 0 of m for" in err
    (score,) = json.loads((tmp_path / "reviews.json").read_text())["scores"]
    assert (score["samples"], score["agreement"]) == (1, None)


def test_the_samples_of_a_second_log_come_after_those_before(cli, exported, tmp_path, monkeypatch):
    name = tasks(exported)[0]["id"]
    line = {"id": name, "model": "m", "suspicion": 60}
    (tmp_path / "file.jsonl").write_text(json.dumps(line))

    def reviews(path):
        for sample in range(2):
            yield line | {"sample": sample}

    monkeypatch.setattr("trainbugs.inspect_tracks.logs.reviews", reviews)
    paths = [str(tmp_path / part) for part in ("a.eval", "file.jsonl", "b.eval")]
    words = [*paths, "--key", str(exported / "key.json"), "--out", str(tmp_path)]
    status, _, err = cli("review", "import", *words)
    assert "file.jsonl, line 1: sample 0 of m" in err, "a file numbers its samples itself"
    assert status == 2
    (score,) = json.loads((tmp_path / "reviews.json").read_text())["scores"]
    assert score["samples"] == 4


def test_a_key_in_which_a_buggy_program_has_no_site_is_none(cli, exported, tmp_path):
    path = exported / "key.json"
    key = json.loads(path.read_text())
    for entry in key["tasks"].values():
        entry["site"] = None
    path.write_text(json.dumps(key))
    lines = [{"id": name, "model": "m", "suspicion": 90} for name in key["tasks"]]
    lines = [line | {"suspects": [{"line": 1}]} for line in lines]
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    status, out, err = cli("review", "import", str(tmp_path / "a.jsonl"), "--key", str(path))
    assert (status, out) == (2, "")
    assert "a buggy program has one" in err
    assert len(err.splitlines()) == 1


def test_what_is_wrong_is_told_line_by_line_and_the_rest_is_scored(cli, exported, tmp_path):
    name = tasks(exported)[0]["id"]
    good = {"id": name, "model": "m", "suspicion": 3}
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(good) + "\n" + json.dumps(good | {"suspicion": 101}) + "\n{\n")
    status, out, err = cli("review", "import", str(path), "--key", str(exported / "key.json"))
    assert status == 2
    assert len(err.splitlines()) == 2
    assert "1/" in out


@pytest.mark.parametrize(
    "words, expected",
    [
        (["export"], "--out DIR"),
        (["export", "a.jsonl", "--out", "x"], "for review import"),
        (["import", "a.jsonl"], "--key DIR/key.json"),
        (["import", "--key", "k"], "needs files of answers"),
        (["import", "a.jsonl", "--key", "k", "--threshold", "101"], "expected 0 to 100"),
        (["import", "a.jsonl", "--key", "k", "--perturb", "1"], "for review export"),
        (["import", "a.jsonl", "--key", "k", "--plant", "1"], "for review export"),
        (
            ["export", "--out", "x", "--perturb", "1", "--plant", "1"],
            "one of --perturb and --plant",
        ),
        (
            ["export", "--out", "x", "--plant", "1"],
            "evaluate --detector loss-rules --plant 1` judges",
        ),
        (["import", "a.jsonl", "--key", "missing.json"], "missing.json"),
        (["export", "--out", "x", "--perturb", "-1"], "'-1': expected a number from 0 to"),
        (["export", "--out", "x", "--plant", "-1"], "'-1': expected a number from 0 to"),
    ],
)
def test_a_wrong_command_is_one_line(cli, words, expected):
    status, out, err = cli("review", *words)
    assert (status, out) == (2, "")
    assert expected in err
    assert len(err.splitlines()) == 1
