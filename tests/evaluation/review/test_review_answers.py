"""Answers of strangers: what is wrong with one is a line, and the others count."""

import json

import pytest

from evaluation.review.answers import collect_answers, read_values
from runner.errors import ResultsError

ID = "0123456789abcdef"
GOOD = {"id": ID, "suspicion": 70, "model": "a model"}


@pytest.fixture
def read(tmp_path):
    def read_lines(*lines):
        path = tmp_path / "answers.jsonl"
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("".join(f"{text}\n" for text in texts))
        return collect_answers(read_values(path), {ID})

    return read_lines


def test_a_good_answer(read):
    suspect = {"line": 3, "api": "torch.optim.SGD", "why": "no step"}
    result = read(GOOD | {"suspects": [suspect], "model_date": "2026-01-01", "cost": 0.1})
    assert result.problems == ()
    (answer,) = result.answers
    assert (answer.suspicion, answer.suspects[0].line, answer.sample) == (70, 3, 0)


@pytest.mark.parametrize(
    "line, problem",
    [
        (GOOD | {"suspicion": 101}, "101"),
        (GOOD | {"suspicion": -1}, "-1"),
        (GOOD | {"id": "f" * 16}, "there is no such task"),
        (GOOD | {"id": "../key"}, "id"),
        (GOOD | {"verdict": "buggy"}, "verdict"),
        (GOOD | {"model": ""}, "model"),
        ({"id": ID, "model": "m"}, "suspicion"),
        (GOOD | {"model_date": "yesterday"}, "model_date"),
        ("no JSON", "JSON"),
        ("[1]", "object"),
        ('{"id": "' + "x" * 1_000_001 + '"}', "bytes"),
        ("[" * 2000 + "]" * 2000, "deep"),
    ],
)
def test_what_is_wrong_with_one_is_a_line_and_the_rest_counts(read, line, problem):
    result = read(GOOD, line, GOOD | {"sample": 1})
    assert len(result.answers) == 2
    (text,) = result.problems
    assert "line 2" in text
    assert problem in text
    assert "\n" not in text


def test_the_same_sample_twice_is_refused(read):
    result = read(GOOD, GOOD | {"suspicion": 0}, GOOD | {"model": "another"})
    assert [answer.suspicion for answer in result.answers] == [70, 70]
    assert "was there before" in result.problems[0]


def test_a_key_of_another_export_is_one_line(read):
    result = read(*(GOOD | {"id": letter * 16} for letter in "abc"))
    assert result.answers == ()
    (text,) = result.problems
    assert "line 1: none of 3 is for a task of this key; name the key.json" in text


def test_a_file_of_something_else_is_one_line(read):
    (text,) = read({"schema": 1, "id": ID}, {"schema": 1, "id": ID}).problems
    assert "line 1: there is no key 'schema'" in text
    assert text.endswith("all 2 have this error")


def test_a_file_without_json_is_one_line(read):
    (text,) = read("import torch", "x = 1").problems
    assert "line 1: not JSON" in text
    assert text.endswith("all 2 lines are not JSON")


def test_where_all_are_wrong_for_several_reasons_each_is_a_line(read):
    assert len(read(GOOD | {"suspicion": 101}, GOOD | {"id": "a" * 16}, "{").problems) == 3


def test_a_file_that_is_missing_is_an_error(tmp_path):
    with pytest.raises(ResultsError, match=r"answers\.jsonl"):
        collect_answers(read_values(tmp_path / "answers.jsonl"), {ID})
