"""Studies: the grid, the labels, resume, points, INVALID runs, the table and what is made of it."""

import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.copies import replace
from support.studies import LESS, PROGRAM, write_study
from support.toy import OWN_PYTHON, SCRIPT

from plots.studies import best_settings
from runner.authoring.validate import problems
from runner.errors import CatalogError, ResultsError, UsageError
from runner.progress.lines import Progress
from runner.session.options import Options
from runner.studies import table
from runner.studies.analysis import explained, pairs, shares
from runner.studies.cells import Side, best, by_point, label, tuned
from runner.studies.definition import Comparison, load, names, select
from runner.studies.plan import ordered
from runner.studies.running import collect_results, run_study
from runner.studies.summary import summary

COMPARISON = Comparison(metric="accuracy", better="higher", tolerance=0.05, unstable=0.2)
NAN = math.nan


@pytest.fixture
def study(toy):
    write_study(toy)
    return load(toy.bug, "grid")


TWICE = [{"values": {"kind": ["a"], "factor": [1]}}, {"values": {"kind": ["a"], "factor": [2, 1]}}]


def options(toy, **changes):
    return Options(**({"python": Path(sys.executable), "results": toy.results} | changes))


def run(toy, points=None, name="grid", **changes):
    return run_study(
        toy.catalog, load(toy.bug, name), options(toy, **changes), Progress(sys.stderr), points
    )


def records(toy, case="study-grid"):
    return {path.name: path.read_text() for path in (toy.results / "Toy-1" / case).glob("*.json")}


def test_the_points_are_those_of_all_parts(study):
    assert [point.values for point in study.points] == [
        (0, "a"),
        (0, "b"),
        (1, "a"),
        (1, "b"),
        (2, "a"),
    ]
    assert names(study.bug) == ["grid"]
    assert repr(study) == "Study('Toy-1/grid', 5 points)"


def test_the_order_is_fixed_and_mixed():
    from runner.studies.definition import Point

    points = [Point((first, second)) for first in range(10) for second in "abcdefghij"]
    assert ordered(points) == ordered(random.Random(0).sample(points, 100))
    quarter = ordered(points)[:25]
    assert len({point.values[0] for point in quarter}) >= 8
    assert len({point.values[1] for point in quarter}) >= 8


def test_a_study_leaves_the_keys_of_cases_as_they_are(toy):
    def keys():
        session = toy.session()
        return [run.key for run in session.plan(session.catalog.select(["Toy-1"])[0])]

    before = keys()
    write_study(toy)
    toy.write("studies/shared.py", "x = 1\n")
    assert keys() == before
    run(toy, 1)
    assert keys() == before
    assert names(toy.bug) == ["grid"]


def test_programs_get_their_own_script_and_the_shared_files(toy, study):
    from runner.studies.plan import plan

    toy.write("studies/shared.py", "x = 1\n")
    planned = plan(toy.session(), load(toy.bug, "grid"))
    first, second, *_ = next(iter(planned.values()))
    assert set(first.scripts) == {"grid_buggy.py", "shared.py"}
    assert set(second.scripts) == {
        "grid_fixed.py",
        "shared.py",
    }
    every = [run for runs in planned.values() for run in runs]
    assert len({run.key for run in every}) == len(every) == 5 * 2 * 2
    assert (
        len(
            {run.key for run in every}
            & {run.key for run in toy.session().plan(toy.catalog.select(["Toy-1"])[0])}
        )
        == 0
    )


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"grid": [{"values": {"factor": [1, 1]}}]}, "grid[0].values.factor: 1 is there twice"),
        ({"grid": TWICE}, "grid: the point a, 1 is there twice"),
        (
            {"grid": [{"values": {"factor": [1]}}, {"values": {"kind": ["a"]}}]},
            "grid: a part names kind, the first one",
        ),
        ({"grid": [{"values": {"rate": [1]}}]}, "grid: 'rate' is taken"),
        ({"grid": [{"values": {"facto": [1]}}]}, "grid: 'facto' is no key of `parameters`"),
        (
            {"shown": {"rows": "kinds"}},
            "shown: 'kinds' is no parameter of the grid (did you mean kind?)",
        ),
        ({"sedes": [1]}, "there is no key 'sedes' (did you mean seeds"),
        ({"parameters": {"device": "cpu"}}, "parameters: the key 'output' is missing"),
    ],
)
def test_a_malformed_study_is_named(toy, changes, message):
    write_study(toy, **changes)
    with pytest.raises(CatalogError) as error:
        load(toy.bug, "grid")
    assert "grid.json: " in str(error.value)
    assert message in str(error.value)
    assert any(message in problem for problem in problems(toy.directory, toy.root))


def test_studies_are_named_like_cases(toy, study, monkeypatch):
    assert [study.name for study in select(toy.catalog, "Toy-1")] == ["grid"]
    assert [study.name for study in select(toy.catalog, "Toy-1/grid")] == ["grid"]
    assert [study.name for study in select(toy.catalog, str(toy.directory))] == ["grid"]
    assert [study.name for study in select(toy.catalog, f"{toy.directory}/grid")] == ["grid"]
    with pytest.raises(UsageError, match=r"no study 'gird' \(did you mean grid\?\); it has grid"):
        select(toy.catalog, "Toy-1/gird")
    (toy.directory / "studies" / "grid.json").unlink()
    with pytest.raises(UsageError, match="Toy-1 has no study"):
        select(toy.catalog, "Toy-1")


def side(*values):
    return Side(values, all(map(math.isfinite, values)))


@pytest.mark.parametrize(
    "fixed, buggy, expected",
    [
        ([0.9, 0.9], [0.9, 0.9], "benign"),
        ([0.9, 0.9], [0.85, 0.85], "benign"),  # on the bound
        ([0.9, 0.9], [0.95, 0.95], "benign"),
        ([0.9, 0.9], [0.84, 0.84], "worse"),
        ([0.9, 0.9], [0.8, 0.9], "benign"),  # the mean counts
        ([0.8, 0.8], [0.9, 0.9], "better"),
        ([0.9, 0.9], [0.9, 0.69], "unstable"),
        ([0.9, 0.9], [0.9, NAN], "unstable"),
        ([0.9, 0.5], [0.1, 0.1], "undecided"),
        ([0.9, NAN], [0.9, 0.9], "undecided"),
        ([0.9], [0.1], "worse"),
    ],
)
def test_labels(fixed, buggy, expected):
    assert label(side(*fixed), side(*buggy), COMPARISON) == expected


def test_labels_of_a_loss_turn():
    lower = replace(COMPARISON, better="lower")
    assert label(side(0.5), side(0.9), lower) == "worse"
    assert label(side(0.9), side(0.5), lower) == "better"


def test_what_the_cells_say(toy, study):
    results = run(toy)
    assert (results.points, results.invalid, len(results.rows), len(results.cells)) == (
        5,
        0,
        5 * 2 * 2 * 3,
        15,
    )
    labels = {(cell.point.values, cell.setting): cell.label for cell in results.cells}
    assert {labels[(0, "a"), rate] for rate in (0.001, 0.01, 0.1)} == {"benign"}
    assert {labels[(factor, "a"), 0.01] for factor in (1, 2)} == {"worse"}
    by_name = {row.name: row.counts for row in shares(study, results.cells)}
    assert by_name["0"]["benign"] == 6
    assert by_name["1"]["worse"] == 6
    assert by_name["all"]["worse"] == 9
    assert {round(pair.gain, 9) for pair in pairs(results.cells)} == {0, -0.1, -0.2}
    assert {pair.ratio for pair in pairs(results.cells)} == {1.0}
    assert {cell.setting for cell in tuned(results.cells, study.written.comparison)} == {0.01}
    share = {item.factors: item.share for item in explained(study, results.cells)}
    assert share[("factor",)] == pytest.approx(1)
    assert share[("rate",)] < 0
    assert share[("kind",)] < 0.3


def with_a_best_setting_of_zero(toy, **changes):
    write_study(toy, **changes)
    for name in ("buggy", "fixed"):
        path = toy.directory / "studies" / f"grid_{name}.py"
        rate = 'config["lowest"] * 10**number'
        path.write_text(path.read_text().replace(rate, '[config["lowest"], 0.0, 0.1][number]'))


def test_a_best_setting_of_zero_has_no_ratio(toy):
    with_a_best_setting_of_zero(toy, change="- 0.5 * (number == 1)")
    results = run(toy)
    best_pairs = pairs(results.cells)
    assert {pair.fixed.setting for pair in best_pairs} == {0.0}
    assert all(math.isnan(pair.ratio) for pair in best_pairs)
    assert "| - | " in summary(results)
    figure = best_settings(results.study, best_pairs)
    assert all(math.isfinite(end) and end > 0 for end in figure.axes[1].get_xlim())
    with_a_best_setting_of_zero(toy, change="- 0.5 * (number != 1)")
    assert {pair.ratio for pair in pairs(run(toy).cells)} != {0.0}


def test_a_centre_of_zero_has_no_multiples(toy):
    with_a_best_setting_of_zero(toy)
    before = run(toy)
    before.study.path(".csv").write_text(table.text(before.study, before.rows))
    write_study(toy, name="around", centre={"parameter": "lowest", "study": "grid"})
    with_a_best_setting_of_zero(toy)
    results = run(toy, 1, name="around")
    assert {row.centre for row in results.rows} == {0.0}
    assert all(cell.place == cell.setting for cell in results.cells)


def test_a_training_that_is_not_finite_is_unstable(toy):
    write_study(toy, change='* (float("inf") if number == 2 and config["factor"] else 1)')
    results = run(toy)
    labels = {(cell.point.values[0], cell.setting): cell.label for cell in results.cells}
    assert labels[1, 0.1] == "unstable"
    assert labels[1, 0.01] == "benign"
    assert labels[0, 0.1] == "benign"
    row = by_point(results.cells)[
        next(point for point in results.study.points if point.values[0] == 1)
    ]
    assert best(row, "buggy").setting == 0.01


def test_of_equally_good_settings_the_middle_one_is_the_best(study, toy):
    cells = [replace(cell, fixed=side(1.0)) for cell in run(toy, 1).cells]
    assert [cell.setting for cell in cells] == [0.001, 0.01, 0.1]
    assert best(cells, "fixed").setting == 0.01
    assert best(cells[:2], "fixed").setting == 0.001


def test_points_are_added_and_nothing_is_repeated(toy, study):
    begun = run(toy, 2)
    assert {row.point for row in begun.rows} == set(ordered(study.points)[:2])
    first = records(toy)
    assert len(first) == 2 * 2 * 2
    assert run(toy, 2).points == 4
    second = records(toy)
    assert {name: second[name] for name in first} == first
    assert len(second) == 4 * 2 * 2
    assert run(toy).points == 5
    assert {name: records(toy)[name] for name in second} == second
    assert run(toy, 2).points == 5
    assert len(records(toy)) == 5 * 2 * 2


def test_a_killed_study_goes_on_where_it_was(toy):
    write_study(toy)
    toy.write("studies/pause.py", "import time\ntime.sleep(0.2)\n")
    for name in ("grid_buggy.py", "grid_fixed.py"):
        path = toy.directory / "studies" / name
        path.write_text("import pause  # noqa: F401\n" + path.read_text())
    command = [sys.executable, "-m", "runner", "study", str(toy.directory / "grid"), *OWN_PYTHON]
    command += ["--results", str(toy.results)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        while len(records(toy)) < 5 and program.poll() is None:
            time.sleep(0.02)
        os.kill(program.pid, signal.SIGKILL)
    before = records(toy)
    assert 5 <= len(before) < 20
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = records(toy)
    assert len(after) == 20
    assert {name: after[name] for name in before} == before
    assert done.stderr.count("done before") == len(before)
    assert "5 of 5 points, INVALID runs: 0" in done.stdout


def crash(factor):
    return f'+ (1 / 0 if config["factor"] == {factor} and config["seed"] == 1 else 0)'


def test_an_invalid_run_is_told_and_counts_in_no_number(toy, cli):
    write_study(toy, change=crash(2))
    status, out, _ = cli("study", "Toy-1/grid", *OWN_PYTHON, "-q")
    assert status == 2
    assert "5 of 5 points, INVALID runs: 1" in out
    assert "INVALID (crashed): 2, a, buggy seed 1" in out
    results = collect_results(
        toy.catalog,
        load(toy.bug, "grid"),
        options(toy, results=toy.root.parent / "results"),
        Progress(sys.stderr),
    )
    cell = next(cell for cell in results.cells if cell.point.values == (2, "a"))
    assert len(cell.fixed.values) == len(cell.buggy.values) == 1, (
        "the twin of a failed run counts no more"
    )
    assert "INVALID runs, which count in no number below: 1." in summary(results)


def test_a_point_that_fails_does_not_stop_the_next_ones(toy):
    first = ordered(load_points(toy))[0].values
    write_study(
        toy, change=f"+ (1 / 0 if [config['factor'], config['kind']] == {list(first)!r} else 0)"
    )
    assert [run(toy, 1).points for _ in range(3)] == [1, 2, 3]
    before = records(toy)
    results = run(toy)
    assert results.points == 5
    assert results.invalid == 2
    again = [name for name, text in before.items() if records(toy)[name] != text]
    assert all(name.startswith("buggy") for name in again), (
        "all points: failed runs are tried again"
    )
    assert len(again) == 2, "all points: failed runs are tried again"


def load_points(toy):
    write_study(toy)
    return load(toy.bug, "grid").points


def test_the_table_is_the_same_to_the_byte(toy, study):
    results = run(toy)
    text = table.text(study, results.rows)
    shuffled = random.Random(1).sample(list(results.rows), len(results.rows))
    assert table.text(study, shuffled) == text == table.text(study, table.parse(study, text))
    lines = text.splitlines()
    assert lines[0].startswith(
        "factor,kind,variant,seed,rate,accuracy,loss,fine,status,key,environment,python,torch"
    )
    assert lines[1].startswith("0,a,buggy,0,0.001,0.5,1,true,ok,")
    assert len(lines) == 1 + len(results.rows)
    assert table.text(study, run(toy, force=True).rows) == text, (
        "another run of the same day gives the same bytes"
    )


def test_no_name_of_a_metric_is_a_formula(toy):
    write_study(toy)
    for name in ("grid_buggy.py", "grid_fixed.py"):
        path = toy.directory / "studies" / name
        path.write_text(path.read_text().replace('"loss"', '"=1+1"'))
    results = run(toy, points=1)
    study = load(toy.bug, "grid")
    text = table.text(study, results.rows)
    assert ",accuracy,'=1+1,fine," in text.splitlines()[0]
    assert {"=1+1"} <= table.parse(study, text)[0].metrics.keys()
    assert table.text(study, table.parse(study, text)) == text


def test_a_table_of_another_grid_is_refused(toy, study):
    text = table.text(study, run(toy).rows)
    for old, new in (
        ("0,a,buggy", "7,a,buggy"),
        (",buggy,", ",bugy,"),
        ("0,a,", ""),
        (",0.001,", ",much,"),
    ):
        with pytest.raises(ResultsError, match="Toy-1/grid: line 2 is no row of this study"):
            table.parse(study, text.replace(old, new, 1))


def test_cases_and_studies_do_not_mix(toy, study, cli):
    cli("run", "Toy-1", *OWN_PYTHON, "-q")
    cli("study", "Toy-1/grid", *OWN_PYTHON, "-q")
    status, out, _ = cli("results", "Toy-1/study-grid")
    assert status == 0
    assert out.count("study-grid") == 20
    assert "only" not in out
    assert cli("results", "--json", "Toy-1/only")[1].count('"case": "only"') == 4
    assert cli("figures", "Toy-1", "--from", "results")[0] == 0


def test_a_checkout_of_cases_has_nothing_of_studies(toy, study, cli, tmp_path):
    assert (
        cli("checkout", "Toy-1", "copy")[0] == cli("checkout", "Toy-1", "blind", "--blind")[0] == 0
    )
    assert {path.name for path in (tmp_path / "copy").iterdir()} == {
        "README.md", "buggy.py", "config.json", "fixed.py", "only.json"
    }  # fmt: skip
    assert len(list((tmp_path / "blind").iterdir())) == 3


def test_a_case_cannot_have_the_name_of_a_study(toy):
    toy.configure(
        cases={
            "study-grid": json.loads((toy.directory / "config.json").read_text())["cases"]["only"]
        }
    )
    assert any("study-grid" in problem for problem in problems(toy.directory, toy.root))


@pytest.fixture
def committed(toy, toy_environment, cli):
    """The study after `--update-expected`, in the pinned environment of toys."""
    write_study(toy)
    status, out, err = cli("study", "Toy-1/grid", "--update-expected", "-q")
    assert status == 0, err
    return toy.directory / "studies"


FILES = {
    "grid.csv",
    "grid.md",
    *(f"grid_{name}.png" for name in ("grid", "by_kind", "shares", "best", "factors")),
}


def study_problems(toy):
    return [problem for problem in problems(toy.directory, toy.root) if "studies/" in problem]


def test_what_is_committed_is_drawn_again_from_the_table(toy, committed, cli, tmp_path):
    drawn = {
        path.name: path.read_bytes()
        for path in committed.glob("grid*")
        if path.suffix not in (".py", ".json")
    }
    assert set(drawn) == FILES
    assert drawn["grid_best.png"].startswith(b"\x89PNG")
    assert study_problems(toy) == []
    for name in FILES - {"grid.csv"}:
        (committed / name).unlink()
    status, out, _ = cli(
        "study", "Toy-1/grid", "--from", "expected", "--update-expected", "--results", "nowhere"
    )
    assert status == 0
    assert "written: " in out
    assert not (tmp_path / "nowhere").exists()
    assert {
        path.name: path.read_bytes() for path in committed.glob("grid*") if path.name in FILES
    } == drawn
    status, out, _ = cli("study", "Toy-1/grid", "--from", "expected", "--json")
    document = json.loads(out)[0]
    assert (document["points"], document["points_known"], len(document["cells"])) == (5, 5, 15)
    assert cli("study", "Toy-1/grid", "--from", "expected", "--figures", "--out", "drawn")[0] == 0
    assert (tmp_path / "drawn" / "Toy-1" / "study-grid_by_kind.png").exists()
    assert (tmp_path / "drawn" / "Toy-1" / "study-grid.md").read_bytes() == drawn["grid.md"]


def test_a_table_is_made_in_parts_from_what_is_committed(
    toy, study, toy_environment, cli, tmp_path
):
    def part(*more):
        status, _, err = cli(
            "study", "Toy-1/grid", "--update-expected", "--keep", "--results", *more
        )
        assert status == 0, err
        return study.path(".csv").read_text().splitlines(), err

    begun, _ = part("first", "--points", "2")
    assert len(begun) == 1 + 2 * 2 * 2 * 3
    assert "2 of 5 points" in study.path(".md").read_text()
    (toy.directory / "studies" / "grid.csv").write_text("\n".join([*begun[:4], *begun[6:], ""]))
    grown, err = part("second", "--points", "1")
    assert "7 runs are kept from grid.csv" in err
    assert "2 of 5 points" in study.path(".md").read_text()
    assert grown == begun, "half a point"
    assert len(list((tmp_path / "second" / "Toy-1" / "study-grid").glob("*.json"))) == 1, (
        "half a point"
    )
    whole, err = part("third", "-q")
    assert set(begun) < set(whole)
    assert len(whole) == 1 + 5 * 2 * 2 * 3
    assert study_problems(toy) == []
    fixed = toy.directory / "studies" / "grid_fixed.py"
    fixed.write_text(fixed.read_text().replace("0.7}", "0.71}"))
    again, err = part("fourth")
    assert "10 runs are kept from grid.csv" in err
    assert len(again) == len(whole)
    assert sum(",0.72," in line for line in again) == 5, "runs of another script do not count"


@pytest.mark.parametrize("other", ["--force", "--from expected"])
def test_what_is_kept_is_not_run_again(toy, study, cli, other):
    status, _, err = cli("study", "Toy-1/grid", "--keep", *other.split())
    assert status == 2
    assert f"--keep is of what need not be run again; leave out {other}" in err


def test_validate_notices_what_is_stale(toy, committed):
    fixed = committed / "grid_fixed.py"
    text, table_text = fixed.read_text(), (committed / "grid.csv").read_text()
    fixed.write_text(text.replace("0.7}", "0.71}"))
    assert study_problems(toy) == [
        "studies/grid.csv: 10 runs are of other scripts, parameters or another lock; "
        "`trainbugs study Toy-1/grid --update-expected` makes it anew"
    ]
    fixed.write_text(text)
    (committed / "grid.csv").write_text(table_text.replace(",0.9,", ",0.91,", 1))
    assert ["is not made of" in problem for problem in study_problems(toy)] == [True]
    (committed / "grid.csv").write_text(table_text)
    assert study_problems(toy) == []
    fixed.write_text(text + "# the bug is not here\n")
    assert [
        line
        for line in study_problems(toy)
        if line.startswith("studies/grid_fixed.py: line 14 says 'bug'")
    ], study_problems(toy)
    fixed.write_text((committed / "grid_buggy.py").read_text())
    assert "studies/grid.json: buggy and fixed are the same program" in study_problems(toy)
    fixed.unlink()
    assert any("there is no grid_fixed.py" in problem for problem in study_problems(toy))


def test_what_is_not_of_the_pinned_environment_is_not_kept(toy, study, cli):
    status, _, err = cli("study", "Toy-1/grid", *OWN_PYTHON, "--update-expected", "-q")
    assert status == 2
    assert "was not run in its own, pinned environment" in err
    assert not study.path(".csv").exists()
    status, _, err = cli("study", "Toy-1/grid", "--from", "expected")
    assert status == 2
    assert "has no committed table" in err


def test_what_is_not_committed_is_refused_before_anything_runs(toy, study, cli):
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"],
    ):
        subprocess.run(["git", "-C", toy.root, *words], check=True)
    assert cli("info", "Toy-1")[1].count("study        trainbugs study Toy-1/grid") == 1
    toy.write("studies/grid.csv", "made of runs: it counts for nothing here\n")
    toy.write("buggy.py", "# not of the study\n")
    toy.write("studies/shared.py", "x = 1\n")
    status, _, err = cli("study", "Toy-1/grid", "--update-expected", *OWN_PYTHON)
    assert status == 2
    assert "files of the study are not committed" in err
    assert not records(toy)
    (toy.directory / "studies" / "shared.py").unlink()
    status, _, err = cli("study", "Toy-1/grid", "--update-expected", *OWN_PYTHON, "-q")
    assert status == 2
    assert "was not run in its own, pinned environment" in err


def test_a_centre_is_the_best_setting_of_another_study(toy):
    """The best one of the fixed program: the other one does best with 0.1 here."""
    write_study(toy, change="- 0.5 * (number == 1)")
    before = run(toy)
    assert {pair.buggy.setting for pair in pairs(before.cells)} == {0.1}
    before.study.path(".csv").write_text(table.text(before.study, before.rows))
    write_study(toy, name="around", centre={"parameter": "lowest", "study": "grid"})
    results = run(toy, 1, name="around")
    assert {row.centre for row in results.rows} == {0.01}
    assert [cell.setting for cell in results.cells] == [0.01, 0.1, 1.0]
    assert [cell.place for cell in results.cells] == [1.0, 10.0, 100.0]
    assert "lowest" in table.text(results.study, results.rows).splitlines()[0]
    before.study.path(".csv").unlink()
    with pytest.raises(UsageError, match=r"Toy-1/around: grid.csv lacks 5 of 5 points"):
        run(toy, 1, name="around")


def test_a_study_of_the_fixed_program_alone(toy, cli, tmp_path):
    write_study(toy, variants={"fixed": {"script": "grid_fixed.py"}})
    status, out, _ = cli("study", "Toy-1", *OWN_PYTHON, "-q", "--figures")
    assert status == 0
    assert "RATE" in out
    assert "0.01" in out
    drawn = {path.name for path in (tmp_path / "figures" / "Toy-1").iterdir()}
    assert drawn == {"study-grid_grid.png", "study-grid_by_kind.png", "study-grid.md"}
    assert (
        "| all | 5 | 0.01 | 0.01 | 0.01 | 0 |"
        in (tmp_path / "figures" / "Toy-1" / "study-grid.md").read_text()
    )


def test_points_that_need_data_are_left_out_without_a_folder(toy, tmp_path, capsys):
    part = {"values": {"factor": [0], "kind": ["a"]}}
    write_study(toy, grid=[part, {"values": {"factor": [1], "kind": ["a"]}, "data": ["set.bin"]}])
    assert run(toy).points == 1
    assert "1 points are left out, they need data" in capsys.readouterr().err
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "set.bin").write_bytes(b"1")
    assert run(toy, data=tmp_path / "data").points == 2


def test_a_run_with_a_setting_twice_is_invalid(toy):
    write_study(toy)
    path = toy.directory / "studies" / "grid_buggy.py"
    path.write_text(PROGRAM.replace("CHANGE", LESS).replace("10**number", "10**min(number, 1)"))
    results = run(toy, 1)
    assert results.invalid == 2
    assert "two records have rate" in results.records[0].reason


def test_a_folder_of_results_is_looked_at_without_a_run(toy, study, cli):
    assert cli("study", "Toy-1/grid", *OWN_PYTHON, "-q", "--points", "1")[0] == 0
    status, out, _ = cli("study", "Toy-1/grid", *OWN_PYTHON, "--from", "results")
    assert status == 0
    assert "1 of 5 points" in out
    status, _, err = cli("study", "Toy-1/grid", "--from", "results", "--points", "1")
    assert status == 2
    assert "leave out one of them" in err


def test_a_link_out_of_the_directory_is_refused(toy, study, tmp_path):
    (tmp_path / "secret.py").write_text(SCRIPT)
    (toy.directory / "studies" / "other.py").symlink_to(tmp_path / "secret.py")
    with pytest.raises(CatalogError, match=r"studies/other.py is a link that leads out"):
        toy.bug  # noqa: B018
