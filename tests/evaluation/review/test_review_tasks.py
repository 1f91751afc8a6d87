"""The tasks of reviews: what they show, and what they do not tell."""

import json
import re
import stat
from pathlib import Path

import msgspec
import pytest
from support.paths import ROOT

from evaluation.catalog import controls
from evaluation.exporting import KEY, TASKS
from evaluation.planting import judgements
from evaluation.planting.judgements import Judgement
from evaluation.review.planted import collect_planted
from evaluation.review.tasks import collect_programs, write_tasks
from evaluation.review.tasks import read_review_key as read_key
from evaluation.running import planting
from runner.bugs.catalog import Catalog
from runner.errors import ResultsError, UsageError


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tasks")
    catalog = Catalog(ROOT)
    programs, left_out = collect_programs(catalog, controls.load(ROOT))
    assert left_out == []
    write_tasks(folder, programs)
    return folder


@pytest.fixture(scope="module")
def tasks(exported):
    return [json.loads(line) for line in (exported / TASKS).read_text().splitlines()]


def test_each_case_that_counts_has_its_twins_and_each_control_one(exported):
    entries = list(read_key(exported / KEY).tasks.values())
    kinds = [entry.kind for entry in entries]
    assert kinds.count("buggy") == kinds.count("fixed") > 80
    assert kinds.count("control") == len(list((ROOT / "detectors" / "controls").glob("*.py")))
    bugs = {entry.bug for entry in entries}
    assert "PyTorch-84803" not in bugs
    assert "CycleGAN-1201" not in bugs
    assert not any(entry.case == "graphs" for entry in entries)


def test_nobody_else_can_read_the_key_at_any_moment(tmp_path, monkeypatch):
    modes = []
    replace = Path.replace

    def watched(path, target):
        modes.append((Path(target).name, stat.S_IMODE(path.stat().st_mode)))
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", watched)
    write_tasks(tmp_path, [])
    assert dict(modes)[KEY] == 0o600
    assert stat.S_IMODE((tmp_path / KEY).stat().st_mode) == 0o600


def test_a_task_tells_neither_bug_nor_variant(exported, tasks):
    names = {entry.bug for entry in read_key(exported / KEY).tasks.values()} - {"control"}
    for task in tasks:
        assert "program.py" in task["files"]
        assert not {"probe.py", "with_probe.py", "buggy.py", "fixed.py"} & set(task["files"])
        text = json.dumps(task["files"])
        assert not any(name in text for name in names), task["id"]
        assert not re.search(r"\b(buggy|bug-free)\b", text, re.I), task["id"]


def test_a_task_names_the_versions_of_what_it_imports(tasks):
    for task in tasks:
        assert re.fullmatch(r"\d+\.\d+\.\d+", task["packages"]["torch"])
        assert task["python"].startswith("3.11")
    assert any("transformers" in task["packages"] for task in tasks)


def test_ids_and_order_are_others_each_time(exported, tmp_path):
    programs, _ = collect_programs(Catalog(ROOT), controls.load(ROOT))
    first = read_key(exported / KEY)
    second = write_tasks(tmp_path, programs)
    assert not set(first.tasks) & set(second.tasks)
    assert list(first.tasks.values()) != list(second.tasks.values())


def test_the_site_of_a_buggy_program_is_in_its_text(exported, tasks):
    key = read_key(exported / KEY)
    in_text = 0
    for task in tasks:
        entry = key.tasks[task["id"]]
        if entry.kind == "buggy" and entry.site.file == "program.py" and entry.site.line:
            line = task["files"]["program.py"].splitlines()[entry.site.line - 1]
            assert line.strip()
            in_text += 1
    assert in_text > 20


def test_the_key_is_for_its_owner_alone(exported):
    assert (exported / KEY).stat().st_mode & 0o077 == 0


def test_a_file_of_tasks_is_no_key(exported):
    with pytest.raises(ResultsError, match="not a key"):
        read_key(exported / TASKS)


@pytest.fixture
def judged(tmp_path):
    """A results folder in which the first candidates of a seed are judged: a fault does harm, the
    next one none, and of the third one another line was judged.
    """
    catalog = Catalog(ROOT)
    sources = planting.clean_targets(
        [*catalog.select(["SO-60335387", "Bolts-654", "PyTorch-16045"])]
    )
    candidates = [planting.make_candidate(source, 7) for source in sources]
    judged = [
        Judgement(item.program_name, item.case.name, "", item.target.bug.site.line, True, "")
        for item in candidates
    ]
    harmless = msgspec.structs.replace(judged[1], harm=False)
    moved = msgspec.structs.replace(judged[2], line=1)
    folder = tmp_path / "rewritten" / "plant-7"
    folder.mkdir(parents=True)
    judgements.write(folder, [judged[0], harmless, moved], tmp_path)
    return candidates[0]


def test_planted_pairs_are_those_that_were_judged_to_do_harm(judged, tmp_path):
    catalog = Catalog(ROOT)
    programs, left_out = collect_planted(catalog, controls.load(ROOT), 7, tmp_path)
    buggy, fixed = [program.entry for program in programs]
    assert (buggy.kind, fixed.kind) == ("buggy", "fixed")
    assert buggy.bug == fixed.bug == f"planted-{judged.program_name}"
    assert buggy.program != fixed.program
    line = programs[0].files["program.py"].splitlines()[buggy.site.line - 1]
    assert line.strip()
    reasons = " ".join(left_out)
    for reason in ("does no harm", "another one", "further programs: not judged"):
        assert reason in reasons
    assert len(left_out) == 3


def test_the_key_of_planted_pairs_names_the_seed(judged, tmp_path):
    programs, _ = collect_planted(Catalog(ROOT), controls.load(ROOT), 7, tmp_path)
    write_tasks(tmp_path, programs, "plant-7")
    assert read_key(tmp_path / KEY).rewriting == "plant-7"
    text = (tmp_path / TASKS).read_text()
    assert "planted" not in text
    assert judged.program_name not in text


def test_a_seed_that_nobody_has_judged_is_an_error(tmp_path):
    with pytest.raises(UsageError, match="nobody has judged"):
        collect_planted(Catalog(ROOT), controls.load(ROOT), 8, tmp_path)
