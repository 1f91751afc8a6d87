"""probe.py: what it measures is in the records of a run, and nowhere where a detector looks."""

import json
import sys

import pytest
from support.toy import SCRIPT, toy_config

from evaluation.running.bare_runs import BareRuns
from runner.authoring.validate import problems

PROBE = """\
import random
import types

calls = []

def start():
    calls.append("started")

def look(names):
    calls.append(random.random())
    return {"seen": names["epoch"], "calls": len(calls), "module": names["config"]["num_epoch"], "half": HALF(names)}

def HALF(names):
    return names["record"]["accuracy"] / 2
"""
DRAWS = SCRIPT.replace("import json\n", "import json\nimport random\n").replace(
    '"accuracy": VALUE * epoch', '"draw": random.random(), "accuracy": VALUE * epoch'
)


@pytest.fixture
def probed(toy):
    toy.write("probe.py", PROBE)
    for name, factor in (("buggy.py", "1"), ("fixed.py", "2")):
        toy.write(
            name,
            DRAWS.replace("VALUE", factor).replace("records = []", "records = []\nrandom.seed(1)"),
        )
    return toy


def test_its_fields_are_in_each_record_and_are_judged(probed):
    case = toy_config()["cases"]["only"]
    case["expectations"].append(
        {
            "statement": "half",
            "variant": "fixed",
            "metric": "half",
            "reduce": "last",
            "op": "==",
            "value": 3,
        }
    )
    probed.configure(cases={"only": case})
    outcome = probed.run(seeds=(0,))
    assert outcome.verdict.outcome == "REPRODUCED"
    fixed = outcome.records[1].metrics
    fields = [(m["seen"], m["calls"], m["module"], m["half"]) for m in fixed]
    assert fields == [(1, 2, 3, 1), (2, 3, 3, 2), (3, 4, 3, 3)]
    lines = next(probed.results.rglob("fixed-*.stdout")).read_text().splitlines()
    assert [json.loads(line) for line in lines] == list(map(dict, fixed))


def test_the_script_draws_the_same_numbers_with_it_and_without(probed):
    with_it = probed.run(seeds=(0,)).records
    (probed.directory / "probe.py").unlink()
    without = probed.run(seeds=(0,)).records
    for record, other in zip(with_it, without, strict=True):
        assert record.key != other.key
        assert [m["draw"] for m in record.metrics] == [m["draw"] for m in other.metrics]
        assert "half" in record.metrics[0]
        assert "half" not in other.metrics[0]


def test_another_probe_is_another_run(probed):
    key = probed.run(seeds=(0,)).records[0].key
    probed.write("probe.py", PROBE + "# mended\n")
    assert probed.run(seeds=(0,)).records[0].key != key


def test_it_goes_together_with_a_fault_put_back(probed):
    probed.write("fault.py", "import random, runpy, sys\nrandom.fault = 1\nsys.argv = sys.argv[1:]\n"
                 "runpy.run_path(sys.argv[0], run_name='__main__')\n")  # fmt: skip
    probed.write("probe.py", PROBE.replace("/ 2", "/ 2 + random.fault"))
    records = probed.run(seeds=(0,), inject=True).records
    assert [m["half"] for m in records[1].metrics] == [2, 3, 4]


@pytest.mark.parametrize(
    "probe, words",
    [
        (PROBE.replace('"seen"', '"epoch"'), "probe.py: the record has epoch already"),
        (PROBE.replace('names["epoch"]', 'names["nobody"]'), "KeyError: 'nobody'"),
        ("def start(): pass\n", "has no attribute 'look'"),
    ],
)
def test_mistakes_in_it_are_no_verdict(probed, probe, words):
    probed.write("probe.py", probe)
    outcome = probed.run(seeds=(0,))
    assert outcome.verdict.outcome == "INVALID"
    assert words in outcome.records[0].reason


def test_records_that_are_not_printed_are_a_mistake(probed):
    probed.write(
        "buggy.py",
        SCRIPT.replace("VALUE", "1").replace("print(json.dumps(record), flush=True)", "pass"),
    )
    assert (
        "0 records were printed, metrics.json holds 3" in probed.run(seeds=(0,)).records[0].reason
    )


def test_lines_that_are_no_records_are_printed_as_they_are(probed):
    lines = "records = []\nprint('[1]'); print('so', end='')\nprint()"
    probed.write(
        "buggy.py",
        DRAWS.replace("VALUE", "1").replace("records = []", lines) + "print('end', end='')\n",
    )
    assert probed.run("Toy-1/only/buggy", seeds=(0,)).records[0].ok
    printed = next(probed.results.rglob("buggy-*.stdout")).read_text().splitlines()
    assert (printed[0], printed[1], printed[-1], len(printed)) == ("[1]", "so", "end", 6)


def test_no_detector_sees_it(probed, tmp_path):
    session = probed.session()
    bare_runs = BareRuns(session, None)
    programs = bare_runs.programs(session.catalog.select(["Toy-1/only/buggy"]))
    (program,) = bare_runs.with_baselines(programs)
    assert set(program.files) == {"program.py"}
    program.lay_out(tmp_path / "program")
    assert {path.name for path in (tmp_path / "program").iterdir()} == {"program.py", "config.json"}
    assert "half" not in program.metrics[0]
    assert "draw" in program.metrics[0]


def test_a_script_must_not_import_it(probed):
    probed.write("buggy.py", "import probe\n" + (probed.directory / "buggy.py").read_text())
    assert any(
        "buggy.py: imports probe.py" in problem
        for problem in problems(probed.directory, probed.root)
    )


def test_a_checkout_has_it_but_not_a_blind_one(probed, cli, tmp_path):
    assert cli("checkout", "Toy-1", str(tmp_path / "open"))[0] == 0
    assert cli("checkout", "Toy-1", str(tmp_path / "blind"), "--blind")[0] == 0
    assert (tmp_path / "open" / "probe.py").exists()
    assert not (tmp_path / "blind" / "probe.py").exists()
    assert sys.modules.get("probe") is None
