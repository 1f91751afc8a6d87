"""A check counts where the watched program did what it does alone,
and not where a monitor ended or changed it.
"""

import json
import shutil

import pytest
from support.checks import HIT, record
from support.detectors import write_detector
from support.toy import toy_config

from evaluation.catalog import detectors
from evaluation.keys import KIT
from evaluation.model import Answer, Rule
from evaluation.running import campaign
from evaluation.running.disturbance import ComparedAnswer, compare_with_bare
from evaluation.running.options import CampaignOptions
from evaluation.running.program import BareBaseline, ShownProgram
from evaluation.scoring.comparison import comparisons
from evaluation.scoring.outcomes import outcomes
from evaluation.scoring.report import tables
from evaluation.scoring.scores import scores

# As the launcher is called, without torch, which toys do without: the monitor's `watch` begins,
# then the program runs.
LAUNCHER = """
import json, runpy, sys
out, *rest = sys.argv[1:]
monitor = rest.pop(1) if rest[0] == "--monitor" else None
script, *arguments = rest[1:] if monitor else rest
sys.argv = [script, *arguments]
REPORT = {"alarms": [{"code": "c", "message": "m", "severity": "error", "iteration": 2}], "dropped": 0,
          "optimizers": 1, "loop_s": 0.001, "error": None, "traceback": None}
if monitor:
    runpy.run_path(monitor)["watch"](lambda: open(out, "w").write(json.dumps(REPORT)))
runpy.run_path(script, run_name="__main__")
open(out, "w").write(json.dumps(REPORT))
"""
HEAD = """
import json, os
from pathlib import Path

def watch(report):
"""
PART = """
    rows = [{"epoch": epoch, "accuracy": epoch} for epoch in (1, 2)]
    Path("metrics.json").write_text(json.dumps(rows))
    report()
    os._exit(0)
"""
CHANGES = """
    dumps = json.dumps
    json.dumps = lambda rows: dumps(rows if isinstance(rows, dict) else [{**row, "accuracy": ROW} for row in rows])
"""
FOLDER = """
    Path("metrics.json").mkdir()
    report()
    os._exit(0)
"""
LINK = """
    report()
    os.rename("../program", "../elsewhere")
    os.symlink("elsewhere", "../program")
    os._exit(0)
"""
# What a monitor does before the program begins, the status of its checks, and a word of the reason.
MONITORS = {
    "watches": ("    pass", "ok", None),
    "ends the program": ("    report()\n    os._exit(0)", "tool_error", "the script wrote no metrics.json"),
    "writes a part": (PART, "disturbed", "its records are not whole: expected 3 records, found 2"),
    "changes values": (CHANGES.replace("ROW", 'row["accuracy"] + 1'), "disturbed", "record 1 differs from"),
    "renames": (CHANGES.replace('"accuracy": ROW', '"other": 1'), "tool_error", "differ in 'other'"),
    "puts a link there": (LINK, "tool_error", "a link is in the place of the program's folder"),
    "writes no JSON": (FOLDER, "tool_error", "metrics.json: is no plain file"),
}  # fmt: skip


@pytest.fixture
def launcher(tmp_path, monkeypatch):
    """The kit with a launcher that needs no torch."""
    folder = tmp_path / "kit"
    shutil.copytree(KIT, folder)
    (folder / "launcher" / "__main__.py").write_text(LAUNCHER)
    monkeypatch.setattr("evaluation.running.detector_run.KIT", folder)


def check(toy, tmp_path, text, **options):
    """The result of an evaluation of a monitor with that text of its `watch`."""
    directory = tmp_path / "own" / "monitor"
    directory.mkdir(parents=True, exist_ok=True)
    described = {
        "schema": 1, "name": "monitor", "version": "1", "title": "a toy", "source": "here", "needs": ["in_process"],
        "monitor": "monitor.py", "alarm_rules": {"default": {}}, "timeout_s": 20,
    }  # fmt: skip
    (directory / "detector.json").write_text(json.dumps(described))
    (directory / "monitor.py").write_text(HEAD + text)
    plan = CampaignOptions(
        [detectors.read(directory)], controls="none", **{"overhead_on": None} | options
    )
    return campaign.run(plan, toy.session(seeds=(0,)))


@pytest.mark.usefixtures("launcher")
@pytest.mark.parametrize("kind", MONITORS)
def test_a_check_counts_where_the_program_did_what_it_does_alone(toy, tmp_path, kind):
    text, status, reason = MONITORS[kind]
    checks = check(toy, tmp_path, text).checks
    reasons = [check_record.reason for check_record in checks]
    assert [check_record.status for check_record in checks] == [status] * 2, reasons
    for check_record in checks:
        assert check_record.reason is None if reason is None else reason in check_record.reason
        assert bool(check_record.alarms) == (status == "ok")
        assert check_record.compared is (None if status == "tool_error" else True)
        assert (check_record.seconds.training is not None) == (status == "ok")


@pytest.mark.usefixtures("launcher")
def test_what_is_volatile_may_differ_and_the_number_of_records_may_not(toy, tmp_path):
    case = toy_config()["cases"]["only"]
    del case["records"]
    toy.configure(cases={"only": case}, volatile=["accuracy", "epoch"])
    changed = CHANGES.replace("ROW", 'row["accuracy"] + 1')
    assert {check_record.status for check_record in check(toy, tmp_path, changed).checks} == {"ok"}
    (buggy, _) = check(toy, tmp_path, PART, force=True).checks
    assert buggy.status == "disturbed"
    assert buggy.reason.rpartition(": ")[2] == "2 records instead of 3"


@pytest.mark.usefixtures("launcher")
def test_nothing_is_timed_under_a_monitor_that_ends_the_program(toy, tmp_path):
    """Watching would seem to take no time at all."""
    timed = {"overhead_on": "Toy-1/only", "repeats": 1}
    assert not check(toy, tmp_path, "    report()\n    os._exit(0)", **timed).overheads


@pytest.mark.usefixtures("launcher")
def test_a_turn_of_a_timing_that_is_disturbed_makes_no_record(toy, tmp_path, monkeypatch):
    timed = {"overhead_on": "Toy-1/only", "repeats": 1}
    assert check(toy, tmp_path, "    pass", **timed).overheads
    answers = []

    def disturbs_later(answer, *arguments, **options):
        answers.append(answer)
        # After the checks of both programs.
        if len(answers) < 3:
            return compare_with_bare(answer, *arguments, **options)
        return ComparedAnswer(Answer("disturbed"), True)

    monkeypatch.setattr("evaluation.running.detector_run.compare_with_bare", disturbs_later)
    assert not check(toy, tmp_path, "    pass", force=True, **timed).overheads
    assert len(answers) == 3


def test_an_adapter_that_runs_the_program_is_held_against_it_too(toy, tmp_path):
    runs = """
        def check(target, state):
            command = [target.python, target.script, *target.arguments]
            config = Path(target.directory, "config.json")
            config.write_text(config.read_text().replace('"seed": 0', '"seed": SEED'))
            subprocess.run(command, cwd=target.directory, check=True, stdout=subprocess.DEVNULL)
            return {"alarms": []}
        main(check)
    """
    selected = [
        detectors.read(
            write_detector(
                tmp_path / f"own/seed-{seed}", runs.replace("SEED", seed), needs=["in_process"]
            )
        )
        for seed in ("0", "7")
    ]
    never = "main(lambda target, state: {})"
    selected.append(
        detectors.read(write_detector(tmp_path / "own" / "elsewhere", never, needs=["in_process"]))
    )
    selected.append(detectors.read(write_detector(tmp_path / "own" / "reads", never)))
    plan = CampaignOptions(selected, controls="none", overhead_on=None)
    checks = campaign.run(plan, toy.session(seeds=(0,))).checks
    statuses = {
        check_record.detector: (check_record.status, check_record.compared)
        for check_record in checks
    }
    assert statuses == {
        "seed-0": ("ok", True), "seed-7": ("disturbed", True), "elsewhere": ("ok", None), "reads": ("ok", None),
    }  # fmt: skip


@pytest.mark.parametrize(
    "watched, bare, again, status, compared",
    [
        # The bare run is of another machine.
        (2.0, 1.0, 2.0, "ok", True),
        (2.0, 1.0, 1.0, "disturbed", True),
        # The program does not repeat itself here.
        (2.0, 1.0, 3.0, "ok", False),
        (2.0, 1.0, None, "ok", False),
        ("NaN", float("nan"), None, "ok", True),
    ],
)
def test_where_a_difference_is_found_the_program_runs_alone_once_more(
    toy, tmp_path, watched, bare, again, status, compared
):
    run = next(
        run
        for run in toy.session().plan(toy.catalog.select(["Toy-1"])[0])
        if run.variant == "fixed"
    )
    rows = [metric_rows(value) for value in (watched, bare, again)]
    (tmp_path / "metrics.json").write_text(json.dumps(rows[0]))
    program = ShownProgram(toy.bug, run, BareBaseline(rows[1]))
    result = compare_with_bare(
        Answer("ok"), program, tmp_path, True, lambda: None if again is None else rows[2]
    )
    assert result.answer.status == status
    assert result.compared == compared


def metric_rows(accuracy):
    """What a run of three epochs with the same accuracy prints."""
    return [{"epoch": epoch, "accuracy": accuracy} for epoch in (1, 2, 3)]


def test_a_program_that_was_disturbed_is_no_hit_and_counts_among_those_that_were_shown():
    """Else a detector would do well to disturb whatever it does not find."""
    checks = [record(case=case, status="disturbed", alarms=[HIT]) for case in "ab"]
    checks.append(record("control", status="disturbed", alarms=[HIT]))
    table = scores(outcomes(checks, {"d": {"default": Rule()}}))
    row = table.iloc[0]
    assert row.disturbed == 3
    assert row.detected == 0
    assert row.detected_n == 2
    assert row.false_controls_n == 0
    (details,) = [
        text_table
        for text_table in tables(table, comparisons(outcomes(checks, {"d": {"default": Rule()}})))
        if "DID NOT RUN" in text_table.rows[0]
    ]
    assert details.rows[1][-1] == "3 disturbed"
