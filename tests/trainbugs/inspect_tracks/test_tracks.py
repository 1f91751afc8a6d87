"""Both tracks as tasks of inspect_ai, with the provider that replays answers: no network."""

import json
import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from support.chat_server import serving
from support.records import as_pinned

from runner.errors import UsageError
from runner.session.promote import promote_runs
from trainbugs.inspect_tracks.prompts import (
    TASK,
    read_tasks,
    repair_answer,
    repair_prompt,
    review_answer,
    review_prompt,
)

# Nothing listens on port 9.
WITHOUT_NETWORK = {
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "127.0.0.1",
}
INSPECT = Path(sys.executable).parent / "inspect"


@pytest.fixture
def exported(cli, toy, tmp_path, toy_environment):
    promote_runs([as_pinned(toy.run())])
    for track in ("review", "repair"):
        assert cli(track, "export", "--out", str(tmp_path / track))[0] == 0
    return tmp_path


def evaluate(folder, track, texts):
    """The log of a task whose answers are these texts, by the tasks' IDs."""
    answers = folder / f"{track}-answers.jsonl"
    lines = [json.dumps({"id": name, "text": text}) for name, text in texts.items()]
    answers.write_text("\n".join(lines))
    return evaluate_model(
        folder, track, ["--model", "trainbugs-replay/known", "-M", f"answers={answers}"]
    )


def evaluate_model(folder, track, model, variables=None):
    """The log of a task that a model was given; what is not on this machine cannot be reached."""
    done = subprocess.run(
        [
            INSPECT, "eval", f"trainbugs/{track}", "-T", f"tasks={folder / track / 'tasks.jsonl'}",
            *model, "--display", "none", "--log-dir", folder / "logs" / track,
            "--log-format", "eval",
        ],
        capture_output=True, text=True, cwd=folder,
        env={**os.environ, **WITHOUT_NETWORK, **(variables or {})},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (log,) = (folder / "logs" / track).glob("*.eval")
    return log


@pytest.mark.parametrize("answers, said", [("", "no file"), ("nowhere.jsonl", "nowhere.jsonl")])
def test_a_replay_without_a_file_says_how_to_name_one(answers, said):
    registry = pytest.importorskip("trainbugs.inspect_tracks.registry")
    with pytest.raises(UsageError, match=f"{said}: .* name it by -M answers=FILE"):
        registry.Replay("known", answers=answers)


def test_a_log_of_reviews_is_scored(cli, exported):
    key = exported / "review" / "key.json"
    kinds = {name: entry["kind"] for name, entry in json.loads(key.read_text())["tasks"].items()}
    texts = {
        name: f'Well.\n```json\n{{"suspicion": {90 if kind == "buggy" else 5}}}\n```'
        for name, kind in kinds.items()
    }
    log = evaluate(exported, "review", texts)
    status, out, err = cli("review", "import", str(log), "--key", str(key))
    assert (status, err) == (0, "")
    assert "trainbugs-replay/known" in out
    assert "1/1" in out


def test_a_server_on_this_machine_is_asked(cli, exported):
    """`openai-api/NAME/MODEL` is inspect's name for what speaks OpenAI's API elsewhere."""
    key = exported / "review" / "key.json"
    kinds = {name: entry["kind"] for name, entry in json.loads(key.read_text())["tasks"].items()}

    def answer(prompt):
        kind = kinds[TASK.search(prompt)[1]]
        return f'```json\n{{"suspicion": {80 if kind == "buggy" else 20}, "suspects": []}}\n```'

    with serving(answer) as server:
        log = evaluate_model(
            exported,
            "review",
            ["--model", "openai-api/local/stub"],
            {"LOCAL_BASE_URL": server.url, "LOCAL_API_KEY": "none"},
        )
    assert len(server.prompts) == len(kinds)
    status, out, err = cli("review", "import", str(log), "--key", str(key), "--json")
    assert (status, err) == (0, "")
    (score,) = json.loads(out)["scores"]
    assert score["model"] == "openai-api/local/stub"
    assert (score["paired"], score["pairs"]) == (1, 1)
    assert score["tokens"] == 110 * len(kinds)


def test_an_answer_that_is_no_review_is_a_line(cli, exported):
    log = evaluate(exported, "review", {})
    status, _, err = cli("review", "import", str(log), "--key", str(exported / "review/key.json"))
    assert status == 2
    assert "suspicion" in err


def test_a_log_of_repairs_is_graded(cli, exported, toy):
    key = exported / "repair" / "key.json"
    (name,) = json.loads(key.read_text())["tasks"]
    fixed = (toy.directory / "fixed.py").read_text()
    log = evaluate(exported, "repair", {name: f"Here.\n```python\n{fixed}```\n"})
    own = ["--python", sys.executable]
    status, out, err = cli("repair", "grade", str(log), "--key", str(key), "-q", *own)
    assert (status, err) == (0, "")
    assert "1 FIXED" in out


def test_a_key_is_refused_as_tasks(exported):
    with pytest.raises(Exception, match="its key is for no model"):
        read_tasks(exported / "review" / "key.json")


def test_prompts_hold_the_program_with_its_lines(exported):
    (repair,) = read_tasks(exported / "repair" / "tasks.jsonl")
    for prompt in (repair_prompt(repair), review_prompt(repair)):
        assert f"Task {repair['id']}." in prompt
        assert "   1 import json" in prompt
        assert "Toy-1" not in prompt


@pytest.mark.parametrize(
    "text, answer",
    [
        ('```json\n{"suspicion": 3}\n```', {"suspicion": 3}),
        ('{"suspicion": 3}', {"suspicion": 3}),
        ('```\n{"a": 1}\n```\nno:\n```json\n{"b": 2}\n```', {"b": 2}),
        ("[1]", None),
        ("none", None),
    ],
)
def test_the_last_object_of_an_answer_counts(text, answer):
    assert review_answer(text) == answer


def test_the_longest_block_is_the_program():
    assert repair_answer("```python\npass\n```\n```py\nimport torch\n```") == "import torch\n"
    assert repair_answer("none") is None


def test_half_a_character_in_an_answer_is_no_answer():
    assert review_answer('{"suspicion": "\ud800"}') is None


def test_pipe_in_the_place_of_a_log_is_one_line(cli, exported, tmp_path):
    log = tmp_path / "waits.eval"
    os.mkfifo(log)
    key = str(exported / "review" / "key.json")
    status, out, err = cli("review", "import", str(log), "--key", key)
    assert (status, out) == (2, "")
    assert err == f"trainbugs: {log}: cannot be read as a log: is no plain file\n"


def test_a_log_that_unpacks_to_much_is_one_line(cli, exported, tmp_path, monkeypatch):
    """As many zeros as fit into no memory make an archive of a few megabytes."""
    monkeypatch.setattr("trainbugs.inspect_tracks.logs.MAX_LOG_BYTES", 1_000_000)
    log = tmp_path / "bomb.eval"
    with ZipFile(log, "w", ZIP_DEFLATED) as archive:
        archive.writestr("samples/a_epoch_1.json", '"' + "0" * 10_000_000 + '"')
    assert log.stat().st_size < 20_000
    key = str(exported / "repair" / "key.json")
    status, out, err = cli("repair", "grade", str(log), "--key", key, "-q")
    assert (status, out) == (2, "")
    words = "cannot be read as a log: it unpacks to more than 1000000 bytes"
    assert err == f"trainbugs: {log}: {words}\n"
