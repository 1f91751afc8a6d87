"""The digest of a record's metrics: what was edited or is foreign is not "done before", and says so
in one line.
"""

import json
import math
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.copies import replace
from support.records import RECORD, as_pinned
from support.toy import OWN_PYTHON

from runner.authoring.validate import problems
from runner.errors import ResultsError
from runner.results.record import digest, encode, read_record
from runner.results.store import Store
from runner.session.promote import promote_runs

TEXTS = st.text(st.characters(codec="utf-8"))
SCALARS = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats() | TEXTS
METRICS = st.dictionaries(TEXTS, SCALARS | st.lists(SCALARS, max_size=3), max_size=4)


def edit(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def drop_digest(path):
    edit(path, metrics_digest=None)


def edit_metrics(path):
    edit(path, metrics=[{"epoch": n, "accuracy": 2 * n} for n in (1, 2, 3)])


def cut_off(path):
    edit(path, metrics=json.loads(path.read_text())["metrics"][:1])


def take_those_of_the_other_seed(path):
    other = json.loads(next(path.parent.glob("buggy-seed1-*.json")).read_text())
    edit(path, metrics=other["metrics"], metrics_digest=other["metrics_digest"])


def rename_the_variant(path):
    edit(path, variant="fixed")


def copy_the_other_seed(path):
    shutil.copy(next(path.parent.glob("buggy-seed1-*.json")), path)


@pytest.mark.parametrize(
    "spoil, words",
    [
        (edit_metrics, "its metrics are not those of the run: they do not match metrics_digest"),
        (cut_off, "its metrics are not those of the run"),
        (take_those_of_the_other_seed, "its metrics are not those of the run"),
        (drop_digest, "has no digest of its metrics"),
        (rename_the_variant, "is the record of another run"),
        (copy_the_other_seed, "is the record of another run"),
        (lambda path: path.write_text("{"), "not a run record: not JSON"),
    ],
)
def test_what_is_not_as_it_was_written_is_done_again_with_one_line(
    cli, toy, tmp_path, spoil, words
):
    cli("run", "Toy-1", *OWN_PYTHON)
    path = next((tmp_path / "results").rglob("buggy-seed0-*.json"))
    spoil(path)
    status, out, err = cli("run", "Toy-1", *OWN_PYTHON)
    lines = [line for line in err.splitlines() if path.name in line]
    assert status == 0
    assert "REPRODUCED" in out
    assert err.count("done before") == 3
    assert len(lines) == 1
    assert words in lines[0]
    assert lines[0].endswith("; the run is done again")
    assert cli("run", "Toy-1", *OWN_PYTHON)[2].count("done before") == 4


def test_a_failed_run_that_is_called_ok_is_done_again(toy):
    toy.write("buggy.py", "raise RuntimeError")
    toy.run(seeds=(0,))
    path = next(toy.results.rglob("buggy-seed0-*.json"))
    edit(
        path,
        status="ok",
        metrics=json.loads(next(toy.results.rglob("fixed-*.json")).read_text())["metrics"],
    )
    assert toy.run(seeds=(0,)).verdict.reason.startswith("buggy seed 0: crashed")


def test_an_edited_record_is_named_wherever_it_is_read(cli, toy, tmp_path):
    cli("run", "Toy-1", *OWN_PYTHON)
    edit_metrics(next((tmp_path / "results").rglob("buggy-seed0-*.json")))
    for command in (["results"], ["figures", "Toy-1", "--from", "results"]):
        status, _, err = cli(*command)
        assert status == 2
        assert "its metrics are not those of the run" in err


def test_expected_records_from_before_the_digest_still_serve(toy, toy_environment):
    promote_runs([as_pinned(toy.run())])
    for path in (toy.directory / "expected").rglob("*-seed*.json"):
        assert json.loads(path.read_text())["metrics_digest"]
        drop_digest(path)
    assert toy.run(force=True).drift == 0


@pytest.mark.parametrize("folder", ["only", "versions/toy/only"])
def test_validate_names_expected_records_without_a_digest(toy, toy_environment, folder):
    promote_runs([as_pinned(toy.run())])
    records_folder = toy.directory / "expected" / folder
    if not records_folder.exists():
        shutil.copytree(toy.directory / "expected" / "only", records_folder)
    for path in sorted(records_folder.glob("*-seed*.json"))[:2]:
        drop_digest(path)
    # The toy has no map, so that its records are surplus besides.
    (problem,) = [
        problem for problem in problems(toy.directory, toy.root) if "no metrics_digest" in problem
    ]
    verb = "versions" if "versions" in folder else "run"
    assert problem.startswith(
        f"expected/{folder.partition('/')[0]}/buggy-seed0.json and 1 more: no metrics_digest"
    )
    assert f"`trainbugs {verb} Toy-1 --force --update-expected` makes one" in problem


def test_an_edited_expected_record_is_no_record(toy, toy_environment):
    promote_runs([as_pinned(toy.run())])
    edit_metrics(toy.directory / "expected" / "only" / "buggy-seed0.json")
    assert (
        "buggy-seed0.json: its metrics are not those of the run"
        in problems(toy.directory, toy.root)[0]
    )


# A busy machine is no mistake of the code.
@settings(deadline=None)
@given(st.lists(METRICS, min_size=1, max_size=3))
def test_what_was_written_is_read_back_with_the_same_digest(tmp_path_factory, metrics):
    written = replace(RECORD, metrics=tuple(metrics), metrics_digest=digest(RECORD.key, metrics))
    path = tmp_path_factory.mktemp("records") / "buggy-seed0-0.json"
    path.write_text(json.dumps(encode(written), allow_nan=False))
    assert read_record(path).metrics_digest == written.metrics_digest


def test_the_digest_is_of_the_metrics_and_the_key():
    metrics = ({"epoch": 1, "accuracy": math.nan},)
    assert digest("0" * 64, metrics) == digest("0" * 64, ({"accuracy": "NaN", "epoch": 1},))
    assert digest("0" * 64, metrics) != digest("1" * 64, metrics) != digest("1" * 64, metrics * 2)
    assert digest("0" * 64, ()) is None


def test_a_record_with_a_wrong_digest_cannot_be_read(tmp_path):
    store = Store(tmp_path)
    path = store.save(replace(RECORD, metrics_digest="0" * 64))
    with pytest.raises(ResultsError, match="they do not match metrics_digest"):
        read_record(path)
