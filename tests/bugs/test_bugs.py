"""The bugs of the catalogue: well formed, each script a program of its own,
expected records that say REPRODUCED.
"""

import re

import pytest
from support.copies import replace
from support.paths import ROOT

from runner.authoring.validate import problems
from runner.bugs.catalog import Catalog
from runner.results.expected import CPU, expected_records, recorded_devices
from runner.verdicts.verdict import verify
from trainbugs.cli.main import main

CATALOG = Catalog(ROOT)
EVERY = [(name, case) for name in CATALOG.ids() for case in CATALOG.bug(name).cases]
CASES = [(name, case) for name, case in EVERY if CPU in recorded_devices(CATALOG.bug(name), case)]


def test_both_seed_bugs_are_there():
    assert {"PyTorch-115607", "SO-60335387"} <= set(CATALOG.ids())


def test_the_page_of_the_bugs_is_what_the_command_prints(capsys):
    assert main(["list", "--markdown"]) == 0
    page = (ROOT / "docs" / "bugs.md").read_text()
    assert page == capsys.readouterr().out, (
        "write it anew: `trainbugs list --markdown --out docs/bugs.md`"
    )


def test_only_a_case_for_a_gpu_was_not_seen_on_a_cpu_and_its_readme_says_so():
    for name, case in set(EVERY) - set(CASES):
        bug = CATALOG.bug(name)
        assert bug.cases[case].program.tools == ("gpu",)
        text = " ".join((bug.directory / "README.md").read_text().split())
        assert f"`{case}`: for a GPU." in text


@pytest.mark.parametrize("name", CATALOG.ids())
def test_well_formed(name):
    assert problems(ROOT / "bugs" / name, ROOT) == []


@pytest.mark.parametrize("name, case", CASES)
def test_expected_records_are_reproduced_in_the_pinned_environment(name, case):
    bug = CATALOG.bug(name)
    records = expected_records(bug, case)
    verdict = verify(bug.cases[case], records)
    assert verdict.outcome == "REPRODUCED", verdict.reason
    assert all(
        record.runtime.pinned and record.runtime.torch and record.revision for record in records
    )
    assert all(record.benign == bug.cases[case].benign for record in records)


@pytest.mark.parametrize("name, case", CASES)
def test_a_verdict_needs_the_difference_between_the_variants(name, case):
    """With the fixed records in the place of the buggy ones the verdict turns;
    in a benign case it may stay.
    """
    bug = CATALOG.bug(name)
    fixed = [record for record in expected_records(bug, case) if record.variant == "fixed"]
    swapped = [*fixed, *(replace(record, variant="buggy") for record in fixed)]
    verdicts = {"NOT REPRODUCED"} | ({"REPRODUCED"} if bug.cases[case].benign else set())
    assert verify(bug.cases[case], swapped).outcome in verdicts


# What a script may do wrong that is not the bug.
NOT_WHOLE = {
    "the first record only": lambda metrics: metrics[:1],
    "the first half": lambda metrics: metrics[: len(metrics) // 2],
    "all but the last": lambda metrics: metrics[:-1],
    "every record twice": lambda metrics: metrics * 2,
    "the first half twice": lambda metrics: (metrics[: len(metrics) // 2] * 3)[: len(metrics)],
}


@pytest.mark.parametrize("damage", NOT_WHOLE)
@pytest.mark.parametrize("name, case", CASES)
def test_records_that_are_not_of_a_whole_run_are_invalid(name, case, damage):
    bug = CATALOG.bug(name)
    expected = expected_records(bug, case)
    cut = NOT_WHOLE[damage]
    spoilt = [replace(record, metrics=cut(record.metrics)) for record in expected]
    fixed = [record for record in expected if record.variant == "fixed"]
    spoilt_buggy = [record for record in spoilt if record.variant == "buggy"]
    for records in (spoilt, [*fixed, *spoilt_buggy]):
        verdict = verify(bug.cases[case], records)
        assert verdict.outcome == "INVALID"
        assert "not whole: " in verdict.reason


@pytest.mark.parametrize("name, case", CASES)
def test_expected_figures_are_there(name, case):
    directory = CATALOG.bug(name).expected
    assert (directory / f"compare_{case}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", CATALOG.ids())
def test_other_figures_are_drawn_again_and_not_committed(name):
    bug = CATALOG.bug(name)
    readme = (bug.directory / "README.md").read_text()
    shown = set(re.findall(r"\(expected/([\w.-]+\.png)\)", readme))
    committed = {path.name for path in bug.expected.glob("*.png")}
    always = {f"compare_{case}.png" for case in bug.cases} | {"versions.png"}
    assert shown <= committed
    assert committed <= always | shown
