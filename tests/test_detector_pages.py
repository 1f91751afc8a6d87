"""The pages on detectors and their records: their tables are those of the code, their numbers those of today."""

import ast
import inspect
import itertools
import re
import runpy
from typing import get_args

import pandas as pd
import pytest
from support.paths import ROOT

import trainbugs
from evaluation.catalog.declared import declared_programs
from evaluation.keys import KIT
from evaluation.model import Alarm, Description, Need, OwnAnswer, Rule, Status
from evaluation.reading.load import earlier_folder
from evaluation.reading.subsets import select_counted, select_current
from evaluation.running.adapter import Adapter
from evaluation.scoring import against, report
from evaluation.scoring.chosen import without_rejected
from evaluation.scoring.outcomes import label, outcomes, with_twins
from evaluation.store.committed import CommittedChecks
from runner.bugs.catalog import Catalog
from trainbugs.cli.main import main

CONTRACT, EVALUATE, RECORDS, SCORES = (
    (ROOT / "docs" / f"{name}.md").read_text()
    for name in ("detector-contract", "evaluate", "records", "scores")
)
# Endings of columns that belong to a number of programs.
ENDINGS = ("", "_n", "_rate", "_low", "_high", "_by_family")


def first_cells(page, heading):
    """The first cell of each line of the table with this heading, less its code marks."""
    lines = page.splitlines()
    start = lines.index(heading) + 2
    cells = []
    for line in lines[start:]:
        if not line.startswith("| "):
            break
        cells.append(line.split(" | ")[0].removeprefix("| "))
    assert cells
    return cells


def code_names(cells):
    """The names in code marks, without arguments."""
    return re.findall(r"`(\w+)", " ".join(cells))


def tables_below(page, title):
    """The text of a section."""
    _, _, rest = page.partition(f"\n{title}\n")
    assert rest, title
    level = title.split()[0]
    return re.split(rf"^#{{2,{len(level)}}} ", rest, maxsplit=1, flags=re.M)[0]


@pytest.mark.parametrize(
    "section, heading, names",
    [
        ("## What detector.json says", "| key | what it says |", Description.__struct_fields__),
        ("## What it answers", "| key | what it says |", OwnAnswer.__struct_fields__),
        ("### Statuses", "| status | meaning |", get_args(Status)),
        ("## Alarm rules", "| key | what it says |", Rule.__struct_fields__),
    ],
)
def test_a_table_of_the_contract_has_all_keys(section, heading, names):
    shown = code_names(first_cells(tables_below(CONTRACT, section), heading))
    assert sorted(shown) == sorted(names)


def test_the_contract_shows_each_key_of_a_target():
    code = inspect.getsource(Adapter._describe) + inspect.getsource(Adapter._write_records)
    keys = set(re.findall(r'"(\w+)":', code)) - {"schema"}
    shown = first_cells(CONTRACT, "| key | what it is | given with |")
    assert sorted(code_names(shown)) == sorted(keys)


def test_the_contract_shows_each_need():
    section = tables_below(CONTRACT, "## What a detector is given")
    assert set(get_args(Need)) <= set(re.findall(r"`(\w+)`", section))


def test_an_alarm_on_the_page_has_keys_of_an_alarm():
    (alarm,) = re.findall(r'\{"code": .*?\}', CONTRACT, re.S)
    assert set(re.findall(r'"(\w+)":', alarm)) == set(Alarm.__struct_fields__) - {"seen", "times"}


def test_the_kit_has_what_the_page_shows():
    shown = code_names(first_cells(CONTRACT, "| name | what it does |"))
    kit = runpy.run_path(str(KIT / "detector_kit.py"))
    assert {"main", "launch"} < set(shown)
    assert set(shown) - set(kit) == set()


def test_the_members_of_a_program_are_there():
    tree = ast.parse((KIT / "launcher" / "program.py").read_text())
    (program,) = (
        node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Program"
    )
    members = {node.name for node in program.body if isinstance(node, ast.FunctionDef)}
    shown = code_names(first_cells(CONTRACT, "| member | what it is |"))
    assert len(shown) > 5
    assert set(shown) <= members


@pytest.mark.parametrize("command", ["evaluate", "scores"])
def test_the_page_has_all_options_of_a_command_and_no_others(command, capsys):
    assert main([command, "--help"]) == 0
    _, _, options = capsys.readouterr().out.partition("\noptions:\n")
    names = set(re.findall(r"^  (?:-\w.*?, )?(--[a-z-]+)", options, re.M)) - {"--help"}
    section = tables_below(EVALUATE, f"## Options of {command}")
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    assert names == set(re.findall(r"--[a-z][a-z-]*", " ".join(lines)))


def test_the_first_table_of_scores_has_the_columns_that_are_printed_first():
    shown = first_cells(SCORES, "| column | what it counts | out of |")
    assert sorted(shown) == sorted([*report.RATES, *report.ASIDE])


def test_the_page_on_scores_has_every_further_column():
    parts = (report.ALL_CASES, report.CHOICE, report.DETAILS, report.CLAIMS, report.KINDS)
    columns = list(itertools.chain(*parts))
    assert sorted(first_cells(SCORES, "| column | what it counts |")) == sorted(columns)


def test_the_pages_have_the_columns_of_pairs():
    shown = first_cells(SCORES, "| column of a pair | what it counts |")
    assert {"FIRST", "SECOND", *shown} == set(pairs_of_two()[0])
    shown = first_cells(EVALUATE, "| column of the pairs | what it is |")
    table = trainbugs.against("api-sequence", others=["optimizer-progress"])
    assert {"FIRST", "SECOND", *shown} == set(against.tables(table)[0].rows[0])


def pairs_of_two():
    """The table of pairs of two detectors, on bugs of the compiler."""
    names = ("api-sequence", "optimizer-progress")
    scored = trainbugs.scores("expected", *names, label="compiler")
    compared = trainbugs.comparisons("expected", *names, label="compiler")
    return report.tables(scored, compared)[-1].rows


def test_the_page_on_scores_has_every_column_of_the_file():
    scored = pd.read_csv(ROOT / "detectors" / "expected" / "scores.csv", nrows=1)
    described = set(re.findall(r"`(\w+)`", SCORES))
    missing = []
    for column in scored.columns:
        names = {column.removesuffix(ending) for ending in ENDINGS}
        if not names & described:
            missing.append(column)
    assert missing == []


def test_the_page_on_records_shows_the_scores_of_every_row():
    heading = "| detector | DETECTED | PAIRED | ON FIXED | ON CONTROLS |"
    _, _, table = RECORDS.partition(f"\n{heading}\n")
    lines = [line.strip("| ").split(" | ") for line in table.partition("\n\n")[0].splitlines()]
    cells = {name: shown for name, *shown in lines if "**" not in name and "---" not in name}
    expected = {}
    columns = ("detected", "paired", "false_fixed", "false_controls")
    for _, row in without_rejected(trainbugs.scores()).iterrows():
        expected[label(row)] = [f"{row[name]}/{row[f'{name}_n']}" for name in columns]
    assert cells == expected


def test_the_page_on_records_says_what_traincheck_finds():
    records = CommittedChecks(earlier_folder(ROOT)).read(["traincheck"])
    counted = select_current(
        select_counted(records, declared_programs(Catalog(ROOT))), Catalog(ROOT)
    )
    buggy = with_twins(outcomes(counted.checks, counted.rules))
    names = set(re.findall(r"[\w.-]+", tables_below(RECORDS, "### TrainCheck")))
    paired = buggy[buggy.paired]
    assert len(paired) > 0
    assert {*paired.bug} <= {name for word in names for name in (word, word.rstrip("."))}
    counts = buggy.status.value_counts()
    assert f"| it answers | {counts.ok} |" in RECORDS
    assert f"| it is not done in time | {counts.timeout} |" in RECORDS
    assert f"| {counts.tool_error} |" in tables_below(RECORDS, "### TrainCheck")


def test_the_page_shows_how_two_detectors_differ_on_bugs_of_the_compiler():
    shown = re.search(r"```text\n(FIRST .*?)\n```", EVALUATE, re.S)[1].splitlines()
    expected = pairs_of_two()
    assert [re.split(r" {2,}", line) for line in shown] == expected
    assert f"Both detectors met {expected[1][2]} cases" in EVALUATE


def test_the_page_says_how_many_cases_of_the_compiler_its_example_leaves_out():
    outcomes = trainbugs.outcomes("expected", "api-sequence", label="compiler")
    buggy = outcomes[(outcomes.kind == "buggy") & ~outcomes.benign]
    (bugs,) = re.findall(r"--bugs (PyTorch-\d+ PyTorch-\d+) ", EVALUATE)
    others = buggy[~buggy.bug.isin(bugs.split())]
    assert f"{len(others)} more cases of the compiler" in EVALUATE
