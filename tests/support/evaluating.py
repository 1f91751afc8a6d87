"""Detectors of every kind for the toy bug, and an evaluation of them."""

import json
import textwrap

import pytest

from evaluation.catalog import detectors
from evaluation.model import Rule
from evaluation.running import campaign
from evaluation.running.options import CampaignOptions
from evaluation.scoring.outcomes import outcomes
from evaluation.scoring.scores import scores

KINDS = {
    "always": 'main(lambda target, state: {"alarms": [alarm("here", "something", iteration=1)]})',
    "never": "main(lambda target, state: {})",
    "right": """
        def check(target, state):
            text = Path(target.directory, target.script).read_text()
            line = text.splitlines().index('    record = {"epoch": epoch, "accuracy": 1 * epoch + config["seed"]}')
            return {"alarms": [alarm("factor", "1", line=line + 1, file=target.script, iteration=3)]}

        try:
            main(check)
        except ValueError:
            main(lambda target, state: {})
    """,
    "hangs": "time.sleep(60)",
    "crashes": "raise ValueError('no idea')",
    "killed": "os.kill(os.getpid(), 9)",
    "silent": "pass",
    "broken": "Path(sys.argv[sys.argv.index('--out') + 1]).write_text('{\"status\": \"ok\", ')",
    "foreign": "Path(sys.argv[sys.argv.index('--out') + 1]).write_text('{\"status\": \"fine\"}')",
    "failed": (
        'main(lambda target, state: {"status": "tool_error", "alarms": [alarm("x", "spurious")]})'
    ),
    "old": 'raise SystemExit("never started")',
    "peeks": (
        "main(lambda target, state: {'alarms': [alarm('x', Path(ROOT, "
        "'bugs/Toy-1/config.json').read_text())]})"
    ),
    "lists": "os.listdir(Path(ROOT, 'bugs')); main(lambda target, state: {})",
    "greps": """
        def check(target, state):
            subprocess.run(["grep", "-r", "buggy", ROOT + "/bugs"], check=False)
            return {}
        main(check)
    """,
    "hides": """
        try:
            open(ROOT + "/bugs/Toy-1/config.json")
        except OSError:
            pass
        main(lambda target, state: {})
    """,
    "child": """
        def check(target, state):
            subprocess.run([sys.executable, "-c", f"open('{ROOT}/bugs/Toy-1/config.json')"], check=False)
            return {}
        main(check)
    """,
    "learns": """
        def prepare(references, state):
            last = [json.loads(Path(reference.metrics).read_text())[-1]["accuracy"] for reference in references]
            (state / "last.json").write_text(json.dumps([min(last), len(last)]))

        def check(target, state):
            low, many = json.loads((state / "last.json").read_text())
            last = json.loads(Path(target.metrics).read_text())[-1]["accuracy"]
            return {"alarms": [alarm("low", f"{last} < {low} of {many}")] if last < low - 200 else []}

        main(check, prepare)
    """,
    "cannot-learn": """
        def prepare(references, state):
            raise ToolError("too hard")
        main(lambda target, state: {"alarms": [alarm("x", "x")]}, prepare)
    """,
    "learns-forever": "main(lambda target, state: {}, lambda references, state: time.sleep(60))",
}


RULES = {"default": Rule()}


SLOW = ("hangs", "learns-forever")


NEEDS = {
    "learns": ["reference_runs", "metrics"],
    "cannot-learn": ["reference_runs"],
    "learns-forever": ["reference_runs"],
}


HEAD = """\
import json, os, subprocess, sys, time
from pathlib import Path
from detector_kit import ToolError, alarm, main
"""


@pytest.fixture
def make(toy, tmp_path, monkeypatch):
    """Make a detector outside of the catalogue, of one of KINDS or with another adapter."""
    monkeypatch.setattr("evaluation.running.adapter.GRACE_S", 0.2)
    # The loss of each iteration is taken by a monitor in torch, which toys do without.
    monkeypatch.setattr(
        "evaluation.running.bare_runs.BareRuns._record_losses", lambda self, program: []
    )
    toy.write(
        "fixed.py", (toy.directory / "fixed.py").read_text().replace("2 * epoch", "100 * epoch")
    )

    def write_kind(kind, adapter=None, **changes):
        directory = tmp_path / "own" / kind
        directory.mkdir(parents=True, exist_ok=True)
        needs = NEEDS.get(kind, ["source"])
        described = {
            "schema": 1, "name": kind, "version": "1", "title": "a toy", "source": "here", "needs": needs,
            "adapter": "adapter.py", "alarm_rules": {"default": {}}, "timeout_s": 0.3 if kind in SLOW else 20,
        }  # fmt: skip
        if "reference_runs" in needs:
            described["references"] = ["same"]
        (directory / "detector.json").write_text(json.dumps(described | changes))
        text = HEAD + f"ROOT = {str(toy.root)!r}\n" + textwrap.dedent(adapter or KINDS[kind])
        (directory / "adapter.py").write_text(text)
        return directory

    return write_kind


def evaluate(toy, *directories, **options):
    session_options = ("seeds", "jobs", "results")
    session = toy.session(
        **{name: options.pop(name) for name in session_options if name in options}
    )
    selected = [detectors.load(toy.root, str(directory)) for directory in directories]
    return campaign.run(CampaignOptions(selected, overhead_on=None, **options), session)


def score(result):
    table = outcomes(result.checks, {record.detector: RULES for record in result.checks})
    return scores(table).set_index("detector")
