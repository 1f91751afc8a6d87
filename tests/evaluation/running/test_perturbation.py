"""Perturbed toys: shown to detectors where they do what they did,
under seeds and records of their own.
"""

from pathlib import Path

import pytest
from support.copies import replace
from support.detectors import write_detector
from support.paths import ROOT
from support.records import record
from support.toy import OWN_PYTHON, SCRIPT, toy_config

from evaluation.catalog import detectors
from evaluation.running import campaign
from evaluation.running.options import CampaignOptions
from evaluation.running.perturbation import find_change, read_texts
from evaluation.store.results import CheckStore
from runner.bugs.bug import Target
from runner.bugs.catalog import Catalog
from runner.errors import UsageError
from runner.results.store import Store

SHOWS = """
    def check(target, state):
        text = Path(target.directory, target.script).read_text()
        line = next(n for n, text in enumerate(text.splitlines(), 1) if "accuracy" in text)
        return {"alarms": [alarm("text", text, file=target.script, line=line)]}
    main(check)
"""


def evaluate(toy, directory, **options):
    plan = CampaignOptions([detectors.load(toy.root, str(directory))], overhead_on=None, **options)
    return campaign.run(plan, toy.session())


@pytest.fixture
def shows(tmp_path):
    return write_detector(tmp_path / "shows", SHOWS)


def texts(result):
    return {check.kind: check.alarms[0].message for check in result.checks}


def test_detectors_meet_the_same_training_by_other_names(toy, shows):
    public, first, second = (evaluate(toy, shows, perturb=seed) for seed in (None, 1, 2))
    assert {check.kind: check.perturb for check in first.checks} == {"buggy": 1, "fixed": 1}
    versions = [texts(result) for result in (public, first, second)]
    assert versions[0] == {
        "buggy": SCRIPT.replace("VALUE", "1"),
        "fixed": SCRIPT.replace("VALUE", "2"),
    }
    assert len({version["buggy"] for version in versions}) == 3
    assert "records" not in versions[1]["buggy"]
    assert versions[1]["buggy"].replace("1 * ", "2 * ") == versions[1]["fixed"]
    assert texts(evaluate(toy, shows, perturb=1, force=True)) == versions[1], (
        "another text for the same seed"
    )


def test_the_site_moves_along(toy, shows):
    result = evaluate(toy, shows, perturb=1)
    check = next(check for check in result.checks if check.kind == "buggy")
    assert check.site.file == "program.py"
    assert check.site.line == check.alarms[0].line
    assert check.site.line != toy_config()["site"]["line"]


def test_records_are_in_folders_of_their_own(toy, shows):
    public, first, second = (evaluate(toy, shows, perturb=seed) for seed in (None, 1, 2))
    assert len({check.key for result in (public, first, second) for check in result.checks}) == 6
    root = toy.results.absolute()
    assert first.folder == root / "rewritten" / "perturb-1" / "detectors"
    for result, seed in ((public, None), (first, 1), (second, 2)):
        assert {check.perturb for check in CheckStore(result.folder).read().checks} == {seed}
    # One run a variant of the published program; the rewritten ones are none of the bug's in tables
    # and verdicts.
    assert len(Store(root).records()) == 2
    assert Store(root).bugs() == ["Toy-1"]
    assert len(Store(root / "rewritten" / "perturb-1").records()) == 2


@pytest.mark.parametrize(
    "more, why",
    [
        (
            "(chr(34) in Path(__file__).read_text())",
            "its metrics are not the same when it is rewritten (drift ",
        ),
        (
            "10 * (not hasattr(sys.modules['__main__'], 'records'))",
            "NOT REPRODUCED as it is rewritten: ",
        ),
        ("10", "NOT REPRODUCED as it is published: "),
    ],
)
def test_what_does_something_else_is_left_out(toy, shows, capsys, more, why):
    for name, value in (("buggy", "1"), ("fixed", "2")):
        toy.write(f"{name}.py", SCRIPT.replace("VALUE", value).replace('config["seed"]', more))
    assert not evaluate(toy, shows, perturb=1).checks
    assert f"Toy-1/only: left out, {why}" in capsys.readouterr().err


def test_a_module_is_called_by_the_keywords_that_it_had(toy, shows, capsys):
    toy.write("helpers.py", "def scaled(number, factor):\n    return number * factor\n")
    for name, value in (("buggy", "1"), ("fixed", "2")):
        script = SCRIPT.replace("VALUE", value).replace(
            'config["seed"]', 'helpers.scaled(config["seed"], factor=1)'
        )
        toy.write(f"{name}.py", script.replace("import sys\n", "import sys\n\nimport helpers\n", 1))
    assert len(evaluate(toy, shows, perturb=1).checks) == 2, capsys.readouterr().err


@pytest.mark.parametrize(
    "text, why", [("print 1\n", "cannot be parsed: "), (None, "there is no buggy.py")]
)
def test_what_cannot_be_read_is_left_out(toy, shows, capsys, text, why):
    path = toy.write("buggy.py", text or "")
    if text is None:
        path.unlink()
    assert not evaluate(toy, shows, perturb=1).checks
    assert f"Toy-1/only: left out, {why}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "after, why",
    [
        ([record("buggy"), record("fixed", accuracies=(2, 4, 6))], None),
        (
            [record("buggy"), record("fixed", accuracies=(2, 4, 6.0000001))],
            "NOT REPRODUCED as it is rewritten",
        ),
        (
            [record("buggy", accuracies=(1, 2.0000001, 3)), record("fixed", accuracies=(2, 4, 6))],
            "its metrics are not",
        ),
        (
            [record("buggy", status="crashed"), record("fixed", accuracies=(2, 4, 6))],
            "INVALID as it is rewritten",
        ),
    ],
)
def test_the_same_metrics_to_the_last_bit(toy, after, why):
    case = toy.bug.cases["only"]
    published = [record("buggy"), record("fixed", accuracies=(2, 4, 6))]
    change = find_change(case, published, after)
    assert change is None if why is None else change and change.startswith(why)


def test_metrics_that_vary_from_run_to_run_are_not_compared(toy):
    case = toy.bug.cases["only"]
    volatile = replace(case, oracle=replace(case.oracle, volatile=frozenset({"seconds"})))
    slow, slower = records_with_seconds(1), records_with_seconds(2)
    assert find_change(volatile, slow, slower) is None
    assert "metrics are not the same" in (find_change(case, slow, slower) or "")


def records_with_seconds(seconds):
    """The records of both programs, with a column that tells how long a run took."""
    timed = []
    for run in (record("buggy"), record("fixed", accuracies=(2, 4, 6))):
        rows = tuple(row | {"seconds": seconds} for row in run.metrics)
        timed.append(replace(run, metrics=rows))
    return timed


def test_what_excludes_each_other():
    with pytest.raises(UsageError, match="name one of --perturb and --plant"):
        CampaignOptions([], perturb=1, plant=2)
    for perturb, plant in ((0, None), (None, 1)):
        with pytest.raises(
            UsageError, match="--upstream is for scripts as they are published: leave out --perturb"
        ):
            CampaignOptions([], upstream=True, perturb=perturb, plant=plant)
        with pytest.raises(
            UsageError,
            match="--overhead Toy-1/only: rewritten programs are not timed; leave it out",
        ):
            CampaignOptions([], overhead_on="Toy-1/only", perturb=perturb, plant=plant)


def test_scores_stand_side_by_side(cli, toy, shows):
    command = (
        "evaluate",
        "--detector",
        shows,
        "--controls",
        "none",
        *OWN_PYTHON,
        "--results",
        toy.results,
    )
    assert cli(*command)[0] == 0
    status, out, _ = cli(*command, "--perturb", "3")
    assert status == 0
    assert "rewritten/perturb-3/detectors" in out
    status, again, _ = cli("scores", "--from", "results", "--results", toy.results)
    title, heading, row = again.split("\n\n")[-2].splitlines()
    assert title == "Cases found in programs as published, rewritten, and with planted faults:"
    assert status == 0
    assert heading.split()[:4] == ["DETECTOR", "PUBLIC", "PAIRED", "PERTURBED"]
    assert row.split() == ["shows", "1/1", "(21-100)", "0/1", "1/1", "(21-100)", "0/1", "-", "-"]
    assert "PERTURBED" in out
    assert again.count("written to scores: side-by-side.csv") == 1
    assert cli(*command, "--perturb", "-1")[0] == 2


def test_side_by_side_in_other_formats(cli, toy, shows):
    command = (
        "evaluate",
        "--detector",
        shows,
        "--controls",
        "none",
        *OWN_PYTHON,
        "--results",
        toy.results,
    )
    cli(*command)
    cli(*command, "--perturb", "3")
    scored = ("scores", "--from", "results", "--results", toy.results, "--figures", "none")
    assert (
        "| shows | 1/1 (21-100) | 0/1 | 1/1 (21-100) | 0/1 | - | - |"
        in cli(*scored, "--format", "markdown")[1]
    )
    out, err = cli(*scored, "--format", "csv")[1:]
    assert len(out.splitlines()) == 2
    assert "written to scores: side-by-side.csv" in err
    # A part of the programs has no such table.
    assert "PERTURBED" not in cli(*scored, "--common")[1]


def test_rewritten_programs_never_count_among_published_ones(cli, toy, shows):
    """Table, comparisons and files are those of before;
    a folder in which somebody has mixed them is refused.
    """
    command = (
        "evaluate",
        "--detector",
        shows,
        "--controls",
        "none",
        *OWN_PYTHON,
        "--results",
        toy.results,
    )
    scored = ("scores", "--from", "results", "--results", toy.results)
    names = ("scores.csv", "outcomes.csv", "comparisons.csv", "scores.json")
    cli(*command)
    before = cli(*scored)[1], {name: Path("scores", name).read_bytes() for name in names}
    figures = {path.name: path.read_bytes() for path in Path("scores").glob("*.png")}
    cli(*command, "--perturb", "3")
    after = cli(*scored)[1], {name: Path("scores", name).read_bytes() for name in names}
    assert after[1] == before[1]
    assert after[0].startswith(before[0])
    assert figures
    assert figures == {path.name: path.read_bytes() for path in Path("scores").glob("*.png")}
    published, other = (
        toy.results / "detectors" / "shows",
        toy.results / "rewritten" / "perturb-3" / "detectors" / "shows",
    )
    (other / "none/Toy-1/only/buggy-0.json").replace(published / "none/Toy-1/only/buggy-0.json")
    status, out, err = cli(*scored)
    assert status == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "of perturbed and public programs" in err


def test_records_of_older_code_are_not_set_beside_newer_ones(cli, toy, tmp_path, shows):
    command = (
        "evaluate",
        "--detector",
        shows,
        "--controls",
        "none",
        *OWN_PYTHON,
        "--results",
        toy.results,
    )
    cli(*command, "--perturb", "3")
    write_detector(
        tmp_path / "shows",
        SHOWS.replace("enumerate(", "(each for each in enumerate(").replace(", 1)", ", 1))"),
    )
    cli(*command)
    status, out, err = cli("scores", "--from", "results", "--results", toy.results)
    assert status == 0
    assert "PERTURBED" not in out
    assert "2 records of older code of a detector are left out" in err


def test_all_seeds_are_checked_and_met(toy, shows):
    toy.configure(seeds=[1, 0])
    first = evaluate(toy, shows, perturb=1, all_seeds=False).checks
    assert {check.seed for check in first} == {1}
    both = evaluate(toy, shows, perturb=1, all_seeds=True).checks
    assert {check.seed for check in both} == {0, 1}
    assert len(Store(toy.results.absolute() / "rewritten" / "perturb-1").records()) == 4
    with pytest.raises(UsageError, match="--all-seeds and --seeds choose seeds: name one of them"):
        plan = CampaignOptions(
            [detectors.load(toy.root, str(shows))], overhead_on=None, all_seeds=True
        )
        campaign.run(plan, toy.session(seeds=(1,)))


def test_the_probe_of_a_bug_is_no_part_of_its_program():
    bug = Catalog(ROOT).bug("Augmentor-188")
    case = next(iter(bug.cases.values()))
    assert bug.probe
    texts = read_texts(Target(bug, case, ("buggy", "fixed")), "buggy")
    assert set(texts) == {"buggy.py"}
