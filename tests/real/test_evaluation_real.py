"""Real detectors on real bugs: what is promised of our own, what the tutorial says,
what is committed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.detectors import OWN
from support.paths import ROOT

from evaluation.catalog import controls, detectors, rule_settings, submissions
from evaluation.catalog.declared import declared_programs
from evaluation.iterations.counting import count
from evaluation.reading.load import earlier_folder
from evaluation.reading.sources import RecordSelection, read_records
from evaluation.reading.subsets import select_counted, select_current
from evaluation.running import campaign
from evaluation.running.options import CampaignOptions
from evaluation.scoring.outcomes import outcomes
from evaluation.scoring.scores import scores
from evaluation.store.committed import CommittedChecks
from runner.bugs.catalog import Catalog
from runner.environments import builder, spec
from runner.progress.lines import on_stderr
from runner.session.options import Options
from runner.session.session import Session

SEED_CASES = (
    "PyTorch-115607/simple",
    "PyTorch-115607/complex",
    "PyTorch-115607/loop-simple",
    "PyTorch-115607/loop-complex",
    "SO-60335387/digits",
)


def evaluate(tmp_path, *names, **options):
    loaded = [detectors.load(ROOT, name) for name in names]
    plan = CampaignOptions(loaded, overhead_on=None, **options)
    result = campaign.run(plan, make_session(tmp_path))
    assert not result.broken
    rules = {detector.name: detector.alarm_rules for detector in loaded}
    return result, outcomes(result.checks, rules)


def make_session(tmp_path):
    options = Options(results=tmp_path / "results", device="cpu", jobs=2)
    return Session(Catalog(ROOT), options, on_stderr())


@pytest.mark.real
def test_our_detectors_find_both_seed_bugs_at_once_and_accuse_one_control(tmp_path):
    result, table = evaluate(tmp_path, *OWN, bugs=["PyTorch-115607", "SO-60335387/digits"])
    assert {record.status for record in result.checks} == {"ok"}
    accused = table[table.alarmed & (table.kind != "buggy")]
    # A false alarm that is known: this control throws gradients away, and steps without any.
    assert {(row.detector, row.case) for row in accused.itertuples()} == {
        ("api-sequence", "skipped-batches")
    }
    assert (table.kind == "control").sum() >= 12 * len(OWN)
    detected = table[table.alarmed & (table.kind == "buggy")]
    cases = {f"{row.bug}/{row.case}" for row in detected.itertuples()}
    assert cases == {*SEED_CASES, "PyTorch-115607/optimizers"}
    assert (detected.delay.abs() <= 1).all()
    assert (detected.diagnosis == "exact").all()


@pytest.mark.real
def test_the_page_shows_after_which_iteration_twins_differ(tmp_path):
    (row,) = count(["SO-60335387/digits"], make_session(tmp_path))
    shown = [row.case, row.seed, row.buggy, row.fixed, row.differ_from, row.trigger]
    page = (ROOT / "docs" / "contributing-bugs.md").read_text()
    assert " ".join(map(str, shown)) in [" ".join(line.split()) for line in page.splitlines()]


@pytest.mark.real
def test_controls_learn_what_they_are_to_learn(tmp_path):
    session = make_session(tmp_path)
    for record in session.records(controls.load(ROOT).targets()):
        assert record.ok, record.reason
        losses = [metric["loss"] for metric in record.metrics]
        assert losses[-1] < 0.5 * losses[0], record.case
        if record.case == "skipped-step":
            assert record.metrics[-1]["scale"] < 2.0**127, "no step was skipped"


@pytest.mark.real
def test_a_tool_that_crashes_on_compiled_code_has_found_nothing(tmp_path):
    result, table = evaluate(
        tmp_path,
        "traincheck",
        bugs=["PyTorch-115607/simple"],
        controls="none",
        references=("same",),
    )
    assert {record.status for record in result.checks} == {"tool_error"}
    assert "dynamo" in result.checks[0].reason
    assert not table.alarmed.any()


@pytest.mark.real
def test_what_traincheck_needs_without_a_gpu_reaches_spawned_processes(tmp_path):
    (tmp_path / "program.py").write_text(
        "import multiprocessing, torch\ndef look():\n    print('cufft_plan_cache' in "
        "vars(torch.backends.cuda), torch.cuda.is_available(), flush=True)\nif __name__ == "
        "'__main__':\n    look()\n    child = "
        "multiprocessing.get_context('spawn').Process(target=look)\n    child.start()\n    "
        "child.join()\n"
    )
    built = builder.build(spec.load(ROOT, "torch-2.2.2"), on_stderr())
    env = {"PYTHONPATH": str(ROOT / "detectors" / "traincheck" / "site")}
    done = subprocess.run(
        [built.python, "program.py"], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert done.stdout.splitlines() in ([["False False"] * 2, ["True True"] * 2]), done.stderr


@pytest.mark.real
def test_static_tools_and_learning_ones(tmp_path):
    _, table = evaluate(
        tmp_path, "dslinter", "torchfix", "pyod", bugs=["SO-60335387/digits"], controls="none"
    )
    alarms = {(row.kind, row.detector, row.rule): row.alarmed for row in table.itertuples()}
    assert alarms["buggy", "dslinter", "zero-grad"]
    assert not alarms["fixed", "dslinter", "zero-grad"]
    assert not alarms["buggy", "torchfix", "default"]
    same = table[(table.detector == "pyod") & (table.references == "same")]
    by_kind = {row.kind: row.alarmed for row in same.itertuples() if row.rule == "iforest"}
    assert by_kind["buggy"]
    assert not by_kind["fixed"]


@pytest.mark.real
def test_the_page_leads_to_a_working_detector(tmp_path):
    """Files and commands of the pages on detectors and on evaluate, word by word."""
    pages = [ROOT / "docs" / name for name in ("detectors.md", "evaluate.md")]
    text = "\n".join(page.read_text() for page in pages)
    files = re.findall(
        r"`(my-[a-z]+/[a-z]+\.(?:json|py))`[^`]*```(?:json|python)\n(.*?)```", text, re.DOTALL
    )
    assert [name for name, _ in files] == [
        "my-detector/detector.json", "my-detector/monitor.py", "my-linter/detector.json", "my-linter/adapter.py",
    ]  # fmt: skip
    for name, content in files:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    shown = re.search(r"```\n(DETECTOR .*?)```", text, re.DOTALL)[1].rstrip()
    commands = re.findall(r"```sh\n(trainbugs .*?)\n```", text)
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    options = {"shell": True, "cwd": tmp_path, "env": environ}
    outputs = []
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, **options)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0].startswith(shown), outputs[0]
    assert re.search(r"my-linter +1/1 .* 1/1 ", outputs[1]), outputs[1]
    assert (tmp_path / "scores" / "matrix.png").is_file()


def programs_of_today():
    """All that a detector meets where there is no GPU, those that need data included."""
    catalog = Catalog(ROOT)
    programs = {("control", target.case.name, "control", 0) for target in load_controls()}
    for target in catalog.select(catalog.active()):
        program = target.case.program
        if "gpu" not in program.needs:
            for kind in ("buggy", "fixed"):
                programs.add((target.bug.id, target.case.name, kind, program.seeds[0]))
    return programs


def load_controls():
    return controls.load(ROOT).targets()


def mended_of_today():
    """The buggy scripts that a release with the real fix runs, where there is no GPU."""
    catalog = Catalog(ROOT)
    programs = set()
    for target in catalog.select(catalog.active()):
        program = target.case.program
        if "upstream" in program.variants and "gpu" not in program.needs:
            programs.add((target.bug.id, target.case.name, "upstream", program.seeds[0]))
    return programs


COMMITTED = ROOT / "detectors" / "expected"


@pytest.fixture(scope="module")
def committed():
    return CommittedChecks(COMMITTED).read()


@pytest.fixture(scope="module")
def counted():
    """The committed records that scores count."""
    return read_records(Catalog(ROOT), RecordSelection((), "expected", COMMITTED))


WITHOUT_RECORDS = {"sanitizer", "sanitizer-7", "traincheck", "traincheck-full"}


def test_all_other_detectors_have_committed_records_of_one_kit(committed):
    names = {record.detector for record in committed.checks}
    assert names == set(detectors.names(ROOT)) - WITHOUT_RECORDS
    assert len({record.kit for record in committed.checks}) == 1, "made with several kits"


def programs_by_detector(checks):
    """The programs that each detector was shown, with each kind of references."""
    programs = {}
    for record in checks:
        program = (record.bug, record.case, record.kind, record.seed)
        programs.setdefault((record.detector, record.references), set()).add(program)
    return programs


def test_traincheck_was_shown_both_programs_of_each_case_of_a_part():
    """Its records of all programs would take hours. An earlier kit made them."""
    records = CommittedChecks(earlier_folder(ROOT)).read(["traincheck"])
    shown = select_counted(records, declared_programs(Catalog(ROOT)))
    by_detector = programs_by_detector(select_current(shown, Catalog(ROOT)).checks)
    assert {references for _, references in by_detector} == {"same"}
    programs = by_detector["traincheck", "same"] - mended_of_today()
    assert programs <= programs_of_today()
    assert {"control", "Forum-84911", "SO-60335387"} <= {bug for bug, *_ in programs}
    buggy = {(bug, case) for bug, case, kind, _ in programs if kind == "buggy"}
    fixed = {(bug, case) for bug, case, kind, _ in programs if kind == "fixed"}
    assert buggy == fixed


def test_committed_scores_are_those_of_the_committed_records(counted):
    frozen, declared = submissions.load_frozen(ROOT), declared_programs(Catalog(ROOT))
    table = outcomes(counted.checks, counted.rules, frozen, declared)
    settings = rule_settings.load(ROOT)
    scored = scores(table, counted.overheads, settings).to_json(orient="records")
    assert json.loads(scored) == json.loads((COMMITTED / "scores.json").read_text())


def test_committed_records_describe_the_detectors_of_today(committed):
    for name in {record.detector for record in committed.checks}:
        first_line = (COMMITTED / f"{name}.jsonl").read_text().splitlines()[0]
        description = json.loads((ROOT / "detectors" / name / "detector.json").read_text())
        assert json.loads(first_line)["detector"] == description


def test_committed_records_are_of_committed_code(committed):
    for record in committed.checks:
        assert record.revision, record.name
        assert not record.revision.endswith("-dirty"), record.name


@pytest.mark.parametrize(
    "name", [name for name in detectors.names(ROOT) if detectors.load(ROOT, name).has_environment]
)
def test_locks_of_detectors_pin_what_they_name(name):
    detector = detectors.load(ROOT, name)
    described = spec.read(f"detector-{name}", detector.directory)
    # A tool may be two detectors, by two of its commands, or by two settings.
    assert described.pins[re.sub("-(compare|full|default)$", "", name)] == detector.version
    if "in_process" in detector.needs:
        assert not {"torch", "numpy"} & set(described.pins)


def test_scores_of_committed_records_on_the_command_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "runner", "scores", "--out", tmp_path / "scores"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "optimizer-progress" in done.stdout
    assert (tmp_path / "scores" / "matrix.png").is_file()
    shutil.rmtree(tmp_path / "scores")


def test_committed_checks_have_the_present_ground_truth(counted):
    """A check's record keeps trigger and site: a change of config.json would leave scores with old
    ones.

    Where the site is in a script, a record keeps the line of the program that was checked.
    """
    catalog = Catalog(ROOT)
    outdated = set()
    for record in counted.checks:
        if record.kind == "control":
            continue
        bug = catalog.bug(record.bug)
        case = bug.cases[record.case]
        scripts = {variant.script.name for variant in case.program.variants.values()}
        site = record.site if bug.site.file in scripts else bug.site
        recorded = (record.site.file, record.site.line, record.site.api)
        if record.trigger != case.truth.iteration or recorded != (site.file, site.line, site.api):
            outdated.add(f"{record.bug}/{record.case}")
    assert not outdated


FORGES = """
import gc, os
from trainbugs_launcher.report import Recorder

def attach(model, optimizer, emit):
    class Forger:
        def before_step(self, iteration):
            (recorder,) = [item for item in gc.get_objects() if isinstance(item, Recorder)]
            emit("forged", "at the very trigger", iteration=2)
            recorder.alarms[-1]["seen"], recorder.loop_s = 2, 0.01
            recorder.write()
            os._exit(0)
    return Forger()
"""
DRAWS = """
import contextlib
import torch

def attach(model, optimizer, emit, program):
    class Drawer:
        def before_step(self, iteration):
            with UNDISTURBED:
                torch.rand(3)
    return Drawer()
"""


@pytest.mark.real
def test_a_monitor_that_ends_or_disturbs_a_program_has_no_score(tmp_path):
    texts = {
        "forges": FORGES,
        "draws": DRAWS.replace("UNDISTURBED", "contextlib.nullcontext()"),
        "draws-apart": DRAWS.replace("UNDISTURBED", "program.undisturbed()"),
    }
    for name, text in texts.items():
        folder = tmp_path / name
        folder.mkdir()
        described = {
            "schema": 1, "name": name, "version": "1", "title": "a toy", "source": "here", "needs": ["in_process"],
            "monitor": "monitor.py", "alarm_rules": {"default": {}},
        }  # fmt: skip
        (folder / "detector.json").write_text(json.dumps(described))
        (folder / "monitor.py").write_text(text)
    names = [str(tmp_path / name) for name in texts]
    result, table = evaluate(tmp_path, *names, bugs=["SO-60335387/digits"], controls="none")
    answers = {(check.detector, check.status, check.compared) for check in result.checks}
    assert answers == {
        ("forges", "tool_error", None),
        ("draws", "disturbed", True),
        ("draws-apart", "ok", True),
    }
    assert not table.alarmed.any()
    reasons = {check.reason for check in result.checks if check.detector == "forges"}
    assert reasons == {"after the check: the script wrote no metrics.json"}
