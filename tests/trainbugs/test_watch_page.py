"""The page about `trainbugs watch`: its programs are those beside it,
its outputs those of the command.
"""

import re

import pytest
from support.paths import ROOT
from support.watch_page import OUTPUT, PAGE, PROGRAM, known, output, with_outputs, with_programs

TEXT = PAGE.read_text()
ANEW = "write it anew: `PYTHONPATH=.:tests python -m support.watch_page`"
EXAMPLES = {found["name"]: found for found in OUTPUT.finditer(TEXT)}


def test_programs_are_those_beside_the_page():
    assert with_programs(TEXT) == TEXT, ANEW
    shown = [example["path"] for example in PROGRAM.finditer(TEXT)]
    assert sorted(shown) == sorted(f"watch/{path.name}" for path in PAGE.parent.glob("watch/*.py"))
    assert [f"watch docs/{path}" for path in shown] == [
        example["words"] for example in EXAMPLES.values()
    ]


def test_the_rate_of_false_alarms_is_that_of_the_page_about_programs_of_others():
    (rate,) = re.findall(r"^\| without these \d+ \| (.*?) \|$", TEXT, re.MULTILINE)
    others = (ROOT / "benchmarks" / "others" / "README.md").read_text()
    (version,) = re.findall(r"^\| Which version .* \| version (\d+), frozen", TEXT, re.MULTILINE)
    assert re.search(rf"^\| {version} \| \d+ \| {re.escape(rate)} \|", others, re.MULTILINE)


def test_every_output_is_held():
    assert TEXT.count("```text") == len(EXAMPLES) >= 3
    assert "stale-gradients" in known() & EXAMPLES.keys()


@pytest.mark.real
@pytest.mark.parametrize("name", EXAMPLES)
def test_outputs_are_what_the_command_prints(torch_python, name):
    if name not in known():
        pytest.skip(f"the sanitizer has no {name} yet")
    example = EXAMPLES[name]
    printed = output(example["words"], torch_python)
    assert printed == example["output"], ANEW
    assert f"\n{name} " in printed
    assert f"--ignore {name}" in printed


@pytest.mark.real
def test_an_output_that_is_not_what_came_out_is_replaced(torch_python):
    head = "<!-- shows {} -->\n```sh\ntrainbugs watch docs/watch/two_networks.py\n```\n\n```text\n"
    block = f"{head.format('stale-gradients')}else\n```\n"
    whole = EXAMPLES["stale-gradients"]["output"]
    assert with_outputs(block, torch_python) == block.replace("else\n", whole)
    unknown = f"{head.format('no-such-name')}else\n```\n"
    assert with_outputs(unknown, torch_python) == unknown
