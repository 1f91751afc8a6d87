"""A short campaign of faults: kills, full disks, damaged files;
the long one is told in benchmarks/README.md.
"""

import json
import subprocess
import sys

import pytest
from support.paths import ROOT

pytestmark = pytest.mark.stress

HARM = (
    "wrong verdicts",
    "tracebacks",
    "lost runs",
    "orphans",
    "leftover folders",
    "hangs",
    "escapes",
)


@pytest.fixture
def campaign(tmp_path):
    """Call the campaign; returns its exit status, its table, and the lines of its log."""
    log = tmp_path / "log.jsonl"

    def call(*words):
        command = [
            sys.executable,
            ROOT / "benchmarks" / "faults.py",
            "--no-real",
            "--log",
            log,
            *words,
        ]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        assert "Traceback" not in done.stderr, done.stderr
        lines = [json.loads(line) for line in log.read_text().splitlines() if line.endswith("}")]
        return done.returncode, done.stdout, lines

    return call


def test_no_fault_does_harm(campaign):
    status, table, lines = campaign("--faults", "24", "--seed", "1", "--jobs", "2")
    done = [line for line in lines if not line["skipped"]]
    assert [line for line in lines if line["error"] or any(line["harm"].values())] == [], table
    assert status == 0
    assert len(lines) == 24
    assert table.splitlines()[-4].split("|")[1:-1] == [
        " all ",
        f" {len(done)} ",
        *[" 0 "] * len(HARM),
    ]


def test_it_goes_on_where_it_was_stopped(campaign, tmp_path):
    kinds = ("--kinds", "damaged record", "foreign record")
    assert [line["number"] for line in campaign("--faults", "9", *kinds)[2]] == [8]
    first = (tmp_path / "log.jsonl").read_text() + '{"seed": 0, "number": 9, "kind"'
    (tmp_path / "log.jsonl").write_text(first)
    status, table, lines = campaign("--faults", "10", *kinds)
    assert (tmp_path / "log.jsonl").read_text().startswith(first), table
    assert status == 0, table
    assert lines[-1]["number"] == 9, table
