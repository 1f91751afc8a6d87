"""Which cases a filter leaves, what runs under --all, and the skeleton of a new bug."""

import json
import shutil
import sys

import pytest
from support.copies import replace
from support.promoted import promoted
from support.toy import OWN_PYTHON, PYTHON, toy_config

import trainbugs
from runner.environments import spec
from runner.errors import UsageError
from runner.results.expected import seconds
from runner.session.selection import Filter, draw_sample

LACKING = "no case fits --label 'compiler'; `trainbugs list` shows all"
LOW = "low values, and not by the compiler"


def many(toy):
    """Toys of several kinds: by name, needs and location."""
    bug, case = toy.bug, toy.bug.cases["only"]

    def make_bug(name, location="user code", **changes):
        program = replace(case.program, **changes)
        labels = replace(bug.labels, location=location)
        return replace(
            bug, id=name, labels=labels, cases={"only": replace(case, bug=name, program=program)}
        )

    return [
        make_bug("plain"),
        make_bug("compiled", "compiler", tools=("c++",)),
        make_bug("pair", "framework", processes=2),
        replace(make_bug("images", data=("MNIST/raw",)), labels=replace(bug.labels, symptom=LOW)),
    ]


def test_declared_facts_filter_bugs(toy):
    bug = toy.bug
    other = replace(
        bug, id="other", declared=replace(bug.declared, code_at_fault="installed", family="ranks")
    )
    undeclared = replace(bug, id="undeclared", declared=None)
    bugs = [bug, other, undeclared]

    def fitting(**declared):
        return names(Filter(declared=declared).of(bugs))

    assert fitting(harm="reported") == ["Toy-1", "other"]
    assert fitting(code_at_fault="installed") == ["other"]
    assert fitting(family="ranks") == ["other"]
    assert fitting(family="undeclared") == ["undeclared"]
    assert fitting(harm="reported", state_upstream="fixed") == []
    assert fitting(location="framework") == []
    assert fitting(location=bug.labels.location, cause=bug.labels.cause) == names(bugs)
    assert fitting(environment=bug.environment) == names(bugs)
    assert fitting(environment="another") == []
    lack = Filter(declared={"state_upstream": "fixed"}).lack(bugs)
    assert lack == "no case fits --state-upstream 'fixed'; `trainbugs list` shows all"


def test_a_sample_is_drawn_by_its_seed_in_the_order_of_the_catalogue():
    targets = list(range(100))
    drawn = draw_sample(targets, 20, 7)
    assert drawn == sorted(set(drawn))
    assert len(drawn) == 20
    assert draw_sample(targets, 20, 7) == drawn
    assert draw_sample(targets, 20, 8) != drawn


def test_a_sample_of_more_than_there_are_is_all():
    assert draw_sample([1, 2, 3], 20, 0) == [1, 2, 3]


def test_run_of_a_sample_on_the_command_line(cli, toy):
    drawn = cli("run", "--all", "--sample", "1", "--python", sys.executable)
    assert drawn[0] == 0
    assert "Toy-1/only" in drawn[1]


def test_a_sample_of_named_bugs_is_refused(cli, toy):
    status, _, errors = cli("run", "Toy-1", "--sample", "1")
    assert status == 2
    assert "--sample draws from all cases" in errors


def names(filtered):
    return [bug.id for bug in filtered]


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, ["plain", "compiled", "pair", "images"]),
        ({"label": ("compiler",)}, ["compiled"]),
        ({"label": ("user code",)}, ["plain", "images"]),
        ({"label": ("hardware",)}, []),
        ({"label": ("Low Values",)}, ["plain", "compiled", "pair", "images"]),
        ({"label": ("a factor",), "needs": "data"}, ["images"]),
        ({"label": ("high",)}, []),
        ({"label": ("high", "compiler", "framework")}, ["compiled", "pair"]),
        ({"needs": "c++"}, ["compiled"]),
        ({"needs": "2-processes"}, ["pair"]),
        ({"needs": "gpu"}, []),
        ({"needs": "none"}, ["plain"]),
        ({"max_seconds": 1000.0}, []),
    ],
)
def test_filters(toy, options, expected):
    assert names(Filter(**options).of(many(toy))) == expected


def test_seconds_are_those_of_the_expected_records(toy):
    bug, case = toy.bug, toy.bug.cases["only"]
    assert seconds(bug, case) is None
    records = promoted(toy)
    duration = seconds(bug, case) or 0.0
    assert duration == pytest.approx(sum(record.wall_s for record in records))
    assert duration > 0
    assert Filter(max_seconds=duration * 2).of([bug]) == [bug]
    assert Filter(max_seconds=duration / 2).of([bug]) == []
    path = next((toy.directory / "expected").rglob("*.json"))
    data = json.loads(path.read_text())
    path.write_text(
        json.dumps(data, sort_keys=True)
    )  # not as we write it, but a record nevertheless
    assert seconds(bug, case) == pytest.approx(duration)
    for broken in (
        "{",
        json.dumps(data | {"wall_s": "1"}, indent=1),
        json.dumps(data | {"wall_s": -1}, indent=1),
    ):
        path.write_text(broken)
        assert seconds(bug, case) is None


def test_seconds_need_no_metrics(toy, monkeypatch):
    """A list of many bugs shall not read megabytes of metrics."""
    promoted(toy)
    monkeypatch.delattr("runner.results.record.read_record")
    assert (seconds(toy.bug, toy.bug.cases["only"]) or 0) > 0


def test_a_limit_is_above_zero():
    with pytest.raises(UsageError, match="--max-seconds is 0"):
        Filter(max_seconds=0)


def test_list_filters_on_the_command_line(cli, toy):
    assert "Toy-1/only" in cli("list", "--label", "user code", "--needs", "none")[1]
    toy.configure(title="A toy | one")
    page = cli("list", "--markdown")[1]
    assert page.startswith(
        "# The bugs\n\n1 bugs with 1 cases in 1 families; where the fault is: user code 1.\n"
    )
    row = (
        "| [Toy-1](../bugs/Toy-1/README.md) | A toy \\| one | user code | re-created | reported | "
        "original | toy | `only` (-) |"
    )
    assert page.splitlines()[-1] == row
    toy.configure(status={"state": "retired", "since": "2026-11-21", "reason": "not stable"})
    assert "(retired) A toy |" in cli("list", "--markdown")[1]


def test_all_runs_everything_but_what_is_retired_or_lacks_data(cli, toy, tmp_path):
    for name in ("Old-1", "Data-1"):
        config = json.loads((toy.directory / "config.json").read_text()) | {"id": name}
        if name == "Old-1":
            config["status"] = {"state": "retired", "since": "2026-11-21", "reason": "not stable"}
        else:
            config["cases"]["only"]["data"] = ["MNIST/raw"]
        directory = toy.root / "bugs" / name
        directory.mkdir()
        (directory / "config.json").write_text(json.dumps(config))
        for script in ("buggy.py", "fixed.py"):
            (directory / script).write_text((toy.directory / script).read_text())
    status, out, err = cli("run", "--all", *OWN_PYTHON)
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[1:2]] == ["Toy-1/only"]
    assert "Old-1" not in out + err
    assert "Data-1/only: left out, it needs --data" in err
    assert "Data-1" not in out
    (tmp_path / "MNIST" / "raw").mkdir(parents=True)
    assert "Data-1/only" in cli("run", "--all", *OWN_PYTHON, "--data", str(tmp_path))[1]
    assert "Old-1/only  REPRODUCED" in cli("run", "Old-1", *OWN_PYTHON)[1]
    assert "(retired) " in cli("list")[1]
    assert "retired      2026-11-21: not stable" in cli("info", "Old-1")[1]
    assert toy.catalog.active() == ("Data-1", "Toy-1")


def test_label_alone_runs_all_that_have_it(cli, toy):
    for name, location in (("Old-1", "compiler"), ("Toy-2", "compiler"), ("Toy-3", "framework")):
        shutil.copytree(toy.directory, toy.root / "bugs" / name)
        config = toy_config(id=name)
        config["labels"]["location"] = location
        if name == "Old-1":
            config["status"] = {"state": "retired", "since": "2026-11-21", "reason": "not stable"}
        (toy.root / "bugs" / name / "config.json").write_text(json.dumps(config))

    def ran(*arguments):
        status, out, err = cli("run", *arguments, *OWN_PYTHON)
        return (
            (status, err)
            if status
            else [line.split()[0] for line in out.splitlines()[1:] if "REPRODUCED" in line]
        )

    assert ran("--label", "compiler") == ["Toy-2/only"]
    assert ran("--all", "--label", "compiler", "--label", "framework") == [
        "Toy-2/only",
        "Toy-3/only",
    ]
    assert ran("Toy-1/only", "Toy-3/only", "Old-1", "--label", "compiler") == ["Old-1/only"]
    assert ran("Toy-1", "--label", "compiler") == (2, f"trainbugs: {LACKING}\n")
    assert ran("--label", "user code", "--label", "compilr")[1].startswith(
        "trainbugs: no case fits --label 'compilr'"
    )
    options = {"root": toy.root, "python": sys.executable, "results": toy.results}
    assert [outcome.target.case.id for outcome in trainbugs.run(label="framework", **options)] == [
        "Toy-3/only"
    ]
    assert [
        outcome.target.case.id for outcome in trainbugs.run("Toy-2", label=["compiler"], **options)
    ] == ["Toy-2/only"]
    with pytest.raises(UsageError, match="name the bugs to run"):
        trainbugs.run(root=toy.root)


def test_the_skeleton_of_a_bug_lacks_only_what_is_to_be_said(cli, toy, toy_environment, tmp_path):
    status, out, _ = cli("new", "New-2", "--environment", "toy")
    directory = toy.root / "bugs" / "New-2"
    assert status == 0
    assert str(directory / "config.json") in out
    assert toy.catalog.bug("New-2").environment == "toy"
    status, out, _ = cli("validate", "New-2")
    assert status == 1
    assert "README.md: still TODO: lines 1, 3" in out
    assert "the variants have the same script" in out
    assert "expected/only has 0 of 6 runs" in out
    assert "provenance.read_by is empty" in out
    assert "TODO does not stand within 5 lines" not in out
    assert len(out.splitlines()) == 12
    assert all(
        f"labels.{name} is missing; expected one of " in out
        for name in ("cause", "effect", "stage")
    )
    assert "`records`" not in out
    (case,) = toy.catalog.bug("New-2").cases.values()
    lengths = {variant.records for variant in case.program.variants.values()}
    assert lengths == {case.program.parameters["num_steps"]}
    for path in directory.iterdir():
        path.write_text(path.read_text().replace("TODO", "done"))
    script = (directory / "buggy.py").read_text()
    (directory / "buggy.py").write_text(script.replace("        optimizer.zero_grad()\n", ""))
    out = cli("validate", "New-2")[1]
    assert "TODO" not in out
    assert "README.md lacks the real difference" in out
    assert cli("new", "New-3", "--environment", "toy", "--directory", str(tmp_path / "n"))[0] == 0
    assert toy.catalog.bug(str(tmp_path / "n")).id == "New-3"
    spaced = cli("new", "New-4", "--environment", "toy", "--directory", str(tmp_path / "my bug"))
    assert f"`trainbugs validate '{tmp_path / 'my bug'}'`" in spaced[1]


def test_a_new_bug_runs_in_the_newest_environment_that_is_there(cli, toy, tmp_path, monkeypatch):
    assert "holds no environment" in cli("new", "New-0")[2]
    for name in ("torch-2.9.1", "torch-2.13.0", "timm-3"):
        folder = toy.root / "environments" / name
        folder.mkdir(parents=True)
        (folder / "requirements.txt").write_text("")
        (folder / ".python-version").write_text(PYTHON)
        (folder / "environment.json").write_text('{"disk_gb": 1}')
    assert "it runs in torch-2.13.0" in cli("new", "New-1")[1]
    assert toy.catalog.bug("New-1").environment == "torch-2.13.0"
    monkeypatch.setattr(spec, "find", lambda described: described.name == "torch-2.9.1" or None)
    assert "it runs in torch-2.9.1" in cli("new", "New-2")[1]


def test_all_with_the_fault_put_back_is_all_that_have_one(cli, toy):
    status, out, err = cli("run", "--all", "--inject", *OWN_PYTHON)
    assert status == 2
    assert "nothing is left to run: Toy-1: left out, no fault.py puts the fault back" in err
    other = toy.root / "bugs" / "Toy-2"
    shutil.copytree(toy.directory, other)
    (other / "config.json").write_text(json.dumps(toy_config(id="Toy-2")))
    (other / "fault.py").write_text(
        "import runpy, sys\ndel sys.argv[0]\nrunpy.run_path(sys.argv[0])\n"
    )
    status, out, err = cli("run", "--all", "--inject", *OWN_PYTHON)
    assert "Toy-1: left out" in err
    assert "Toy-2/only  REPRODUCED (injected)" in out
    assert status == 0


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["new", "Toy-1", "--environment", "toy"], "is there already"),
        (["new", "toy-1", "--environment", "toy"], "there is Toy-1, which differs in case alone"),
        (
            ["new", "toy-1", "--environment", "toy", "--directory", "elsewhere"],
            "there is Toy-1, which differs in case alone",
        ),
        (["new", "../x", "--environment", "toy"], "'../x' is no ID"),
        (
            ["new", "slurm", "--environment", "toy"],
            "'slurm' is taken, for a folder of results; choose another ID",
        ),
        (
            ["list", "--label", "compiler"],
            "no case fits --label 'compiler'; `trainbugs list` shows all",
        ),
        (["list", "--label", "["], "no case fits --label '['; `trainbugs list` shows all"),
        (
            ["list", "--label", "compilr", "--json"],
            "no case fits --label 'compilr' (did you mean compiler",
        ),
        (["list", "--label", "facter"], "no case fits --label 'facter' (did you mean factor"),
        (["list", "--label", "foo"], "no case fits --label 'foo'; `"),
        (["list", "--environment", "toi"], "fits --environment 'toi' (did you mean toy?)"),
        (["list", "--environment", "x"], "fits --environment 'x'; `"),
        # As near to words of root causes as any word is.
        (["list", "--label", "lowest"], "no case fits --label 'lowest'; `"),
        (["list", "--needs", "bogus"], "no case fits --needs 'bogus' (expected one of none);"),
        (
            ["list", "--needs", "gpu", "--max-seconds", "3", "--markdown"],
            "--needs 'gpu' (expected one of none) and --max",
        ),
        (
            ["new", "New-1", "--environment", "x"],
            "no environment 'x'; expected one of toy",
        ),
        (
            ["new", "New-1", "--environment", "toy", "--directory", "/proc/none"],
            "cannot be written",
        ),
        (["run"], "or all of them by --all"),
        (["run", "--all", "Toy-1"], "or all of them by --all"),
        (["list", "--max-seconds", "-1"], "expected a number above 0"),
    ],
)
def test_mistakes_are_one_line(cli, toy_environment, arguments, words):
    status, out, err = cli(*arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert len(err.splitlines()) == 1
