"""A bug directory is well formed, or every problem is listed; each check is broken once and must
complain.
"""

import json
import re
import shlex
import shutil

import pytest
from support.copies import replace
from support.environments import QUIET, load
from support.records import as_pinned
from support.toy import toy_config

from runner.authoring.validate import problems
from runner.environments import builder
from runner.results.record import digest, encode, read_record
from runner.session.promote import promote_runs


@pytest.fixture
def whole(toy, toy_environment):
    """The toy bug with everything that a bug needs."""
    promote_runs([as_pinned(toy.run())])
    return toy


def test_a_whole_bug_has_no_problems(whole):
    assert problems(whole.directory, whole.root) == []


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def expectations(*changes):
    """What changes the expectations of the toy bug, from the first one on."""

    def change(toy):
        config = toy_config()
        for item, changed in zip(config["cases"]["only"]["expectations"], changes, strict=False):
            item |= changed
        toy.configure(cases=config["cases"])

    return change


def another_trigger(toy, iteration, x="epoch"):
    """The same, with records that count iterations where `x` is step."""
    config = toy_config()
    config["cases"]["only"]["trigger"]["iteration"] = iteration
    for path in (toy.directory / "expected" / "only").glob("*.json"):
        record = read_record(path)
        metrics = tuple({x: row["epoch"], "accuracy": row["accuracy"]} for row in record.metrics)
        path.write_text(
            json.dumps(
                encode(replace(record, metrics=metrics, metrics_digest=digest(record.key, metrics)))
            )
        )
    toy.configure(cases=config["cases"], plot=toy_config()["plot"] | {"x": x})


def drop_expectation(toy):
    config = toy_config()
    config["cases"]["only"]["expectations"] = config["cases"]["only"]["expectations"][:1]
    toy.configure(cases=config["cases"])


def another_number_of_records(toy, **changes):
    config = toy_config()
    config["cases"]["only"] |= changes
    config["cases"]["only"] = {
        name: value for name, value in config["cases"]["only"].items() if value
    }
    toy.configure(cases=config["cases"])


def list_without_all(toy):
    config = toy_config()
    config["cases"]["only"]["expectations"][0] |= {"value": [1, 2], "op": "=="}
    toy.configure(cases=config["cases"])


def unknown_metric(toy):
    config = toy_config()
    config["cases"]["only"]["expectations"][0]["metric"] = "acuracy"
    toy.configure(cases=config["cases"])


def unknown_metric_in_a_figure(toy):
    toy.configure(
        plot={"x": "epoch", "panels": [{"label": "l", "lines": [{"label": "l", "metric": "los"}]}]}
    )


def relabel(toy, **changes):
    toy.configure(labels=toy_config()["labels"] | changes)


def derive(toy, **changes):
    provenance = toy_config()["provenance"]
    toy.configure(
        provenance=provenance | {"derived_from": [provenance["derived_from"][0] | changes]}
    )


@pytest.mark.parametrize("location", ["user code", "library", "hardware"])
def test_a_fault_outside_of_the_framework_may_be_in_a_script(whole, location):
    relabel(whole, location=location)
    assert problems(whole.directory, whole.root) == []


@pytest.mark.parametrize(
    "spoil, words",
    [
        (lambda t: t.write("config.json", "{"), "not JSON"),
        (lambda t: (t.directory / "fixed.py").unlink(), "there is no fixed.py"),
        (lambda t: t.write("fixed.py", "def"), "fixed.py: line 1: "),
        (lambda t: t.write("fixed.py", "import runner.errors\n"), "imports runner"),
        (lambda t: t.write("fixed.py", "import buggy\n"), "imports buggy.py, a variant's script"),
        (lambda t: t.write("fixed.py", "from plots import curves\n"), "imports plots"),
        (
            lambda t: edit(t.directory / "buggy.py", "import sys", "import sys  # BUG: here"),
            "line 2 says 'BUG'",
        ),
        (
            lambda t: t.write("helper.py", '"""The fixed one."""\n'),
            "helper.py: line 1 says 'fixed'",
        ),
        (lambda t: (t.directory / "README.md").unlink(), "there is no README.md"),
        (
            lambda t: edit(t.directory / "README.md", "https://example.org/toy", "x"),
            "does not link to the source",
        ),
        (lambda t: edit(t.directory / "README.md", "## Impact", ""), "no section '## Impact'"),
        (
            lambda t: edit(t.directory / "README.md", "+    record", "+    the_record"),
            ", the whole unified diff and nothing",
        ),
        (
            lambda t: edit(t.directory / "fixed.py", "2 * epoch", "3 * epoch"),
            "lacks the real difference",
        ),
        (
            lambda t: shutil.copy(t.directory / "buggy.py", t.directory / "fixed.py"),
            "same script in the same env",
        ),
        (lambda t: t.configure(volatile=["accuracy"]), "judges accuracy, which is volatile"),
        (drop_expectation, "no expectation is about variant fixed"),
        (list_without_all, "needs reduce all, not last"),
        (unknown_metric, "metric 'acuracy' is missing"),
        (
            unknown_metric_in_a_figure,
            "case only: plot.panels[0], line 'l': seed 0: metric 'los' is missing",
        ),
        (
            lambda t: t.configure(plot=toy_config()["plot"] | {"x": "step"}),
            "line 'a': seed 0: metric 'step' is missing",
        ),
        (
            expectations({"value": 2}),
            "case only: 'buggy stays low' does not hold of the expected records: seed 0: last 3, "
            "expected <= 2; mend",
        ),
        (
            expectations({"where": {"epoch": 9}}),
            "'buggy stays low' cannot be decided by the expected records: seed 0: no record of "
            "variant buggy has epoch",
        ),
        (
            expectations({"value": 99}, {"minus": None, "op": ">=", "value": 1}),
            "with the expected buggy records in the place of the fixed ones it is REPRODUCED (4 "
            "checks hold), expected NOT REPRODUCED: no expectation tells them apart",
        ),
        (
            expectations({"value": 99}, {"minus": None, "op": ">=", "value": 5}),
            "with the expected fixed records in the place of the buggy ones it is REPRODUCED",
        ),
        (
            lambda t: t.configure(site={"file": "bugy.py", "line": 9, "api": "x"}),
            "no script of the bug (did you mean bug",
        ),
        (
            lambda t: t.configure(site={"file": "buggy.py", "line": 7, "api": "x"}),
            "site.line is 7, but the fix changes buggy.py in line 9; the site is in or beside that",
        ),
        (
            lambda t: another_trigger(t, 4, "step"),
            "only: trigger.iteration is 4, the last step of the buggy runs is 3",
        ),
        (
            lambda t: another_trigger(t, 10**6),
            "case only: trigger.iteration is 1000000, too many for the ",
        ),
        (
            lambda t: t.configure(environment="torch-9"),
            "no environment 'torch-9'; expected one of toy",
        ),
        (
            lambda t: t.configure(site={"file": "buggy.py", "line": 99, "api": "x"}),
            "site.line is 99, buggy.py has",
        ),
        (
            lambda t: relabel(t, cause=None),
            "labels.cause is missing; expected one of missing API call, wrong API use",
        ),
        (
            lambda t: relabel(t, effect=None),
            "labels.effect is missing; expected one of no learning",
        ),
        (lambda t: relabel(t, stage=None), "labels.stage is missing; expected one of data, model"),
        (
            lambda t: relabel(t, location="compiler"),
            "location is compiler, and site.file is buggy.py, a script",
        ),
        (
            lambda t: relabel(t, location="framework"),
            "location is framework, and site.file is buggy.py, a script",
        ),
        (
            lambda t: t.configure(provenance=None),
            "provenance is missing (case only): derived_from, realism and differs",
        ),
        (
            lambda t: derive(t, link="https://example.org/other"),
            "does not name https://example.org/other, which",
        ),
        (
            lambda t: t.configure(provenance=toy_config()["provenance"] | {"differs": "All."}),
            "differs says: All.",
        ),
        (
            lambda t: t.write("helper.py", "x = 1\n"),
            "is of other scripts, parameters or another lock",
        ),
        (
            lambda t: t.configure(parameters=toy_config()["parameters"] | {"num_epoch": 4}),
            "is of other scripts",
        ),
        (
            lambda t: edit(
                t.root / "environments/toy/requirements.txt", "toypackage", "# x\ntoypackage"
            ),
            "another lock",
        ),
        (
            lambda t: (t.directory / "buggy.py").write_bytes(b"\xff\xfe"),
            "buggy.py: cannot be read as UTF-8",
        ),
        (
            lambda t: (t.directory / "README.md").write_bytes(b"\xff\xfe"),
            "README.md: cannot be read as UTF-8",
        ),
        (
            lambda t: edit(
                t.directory / "expected/only/buggy-seed0.json", '"accuracy": 2', '"accuracy": 3'
            ),
            "buggy-seed0.json: its metrics are not those of the run",
        ),
        (
            lambda t: another_number_of_records(t, records=0),
            "case only has no `records`, the number of records of a whole run; the expected runs "
            "have: buggy 3",
        ),
        (
            lambda t: another_number_of_records(t, records=4),
            "expected/only/fixed-seed1.json is not whole: expected 4 records, found 3",
        ),
        (
            lambda t: (t.directory / "expected" / "only" / "buggy-seed1.json").unlink(),
            "has 3 of 4 runs; `trainbugs run Toy-1 --force --update-expected` makes them",
        ),
        (
            lambda t: (t.directory / "expected" / "only" / "buggy-seed1.json").write_text("{"),
            "not a run record",
        ),
    ],
)
def test_every_problem_is_found(whole, spoil, words):
    spoil(whole)
    reports = problems(whole.directory, whole.root)
    assert any(words in problem for problem in reports), reports


def test_the_text_of_a_script_moves_no_cursor(whole):
    whole.write("fixed.py", (whole.directory / "fixed.py").read_text() + "# \x1b[2J\tx\n")
    shown = next(
        problem
        for problem in problems(whole.directory, whole.root)
        if "lacks the real difference" in problem
    )
    assert shown.endswith("+# \\x1b[2J\tx")
    assert "\n-    record = " in shown


def test_all_problems_are_listed_at_once(whole):
    (whole.directory / "README.md").unlink()
    whole.configure(site={"file": "buggy.py", "line": 99, "api": "x"})
    edit(whole.directory / "fixed.py", "import sys", "import sys  # fixed")
    reports = problems(whole.directory, whole.root)
    # Two of them: the records of fixed.py are outdated, those of buggy.py are not.
    assert len(reports) == 5
    assert len({problem.split(":")[0] for problem in reports}) == 5
    assert [problem.split(" ")[0] for problem in reports[3:]] == [
        f"expected/only/fixed-seed{n}.json" for n in (0, 1)
    ]


def test_expected_records_of_another_seed_are_no_substitute(whole):
    whole.configure(seeds=[0, 5])
    assert "has 2 of 4 runs" in problems(whole.directory, whole.root)[0]


def test_expected_records_that_are_too_many_are_named(whole):
    whole.configure(seeds=[0])
    (problem,) = problems(whole.directory, whole.root)
    assert problem == (
        "expected/only: buggy-seed1.json, fixed-seed1.json are of no seeds of the case, which has "
        "0; `trainbugs run Toy-1 --force --update-expected` removes what is too much"
    )


def test_a_copy_of_a_record_under_another_seed_is_named(whole):
    folder = whole.directory / "expected" / "only"
    shutil.copy(folder / "fixed-seed0.json", folder / "fixed-seed9.json")
    (problem,) = problems(whole.directory, whole.root)
    assert problem.startswith(
        "expected/only: fixed-seed9.json is of no seed of the case, which has 0, 1; "
    )


SURPLUS = (
    "loose.json", "nocase/buggy-seed0.json", "only/cuda/fixed-seed9.json", "only/extra.json", "only/upstream/x.json",
    "compare_nocase.png", "versions/toy/nocase/buggy-seed0.json", "versions/toy/only/fixed-seed0.json",
    "versions/none/only/buggy-seed0.json",
)  # fmt: skip


@pytest.mark.parametrize("name", SURPLUS)
def test_what_does_not_belong_among_the_expected_files_is_named(whole, name):
    path = whole.directory / "expected" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(whole.directory / "expected" / "only" / "fixed-seed0.json", path)
    shown = next(
        line for line in problems(whole.directory, whole.root) if line.startswith("expected: ")
    )
    listed = shown.removeprefix("expected: ").removesuffix(
        " is no record or picture of this bug; remove what is too much"
    )
    assert listed == name or (
        listed.endswith("/") and name.startswith(listed) and not name.startswith("only/cuda")
    )


def test_surplus_folders_and_files_are_named_at_once(whole):
    expected = whole.directory / "expected"
    (expected / "nocase").mkdir()
    (expected / "only" / "extra.json").touch()
    assert problems(whole.directory, whole.root) == [
        "expected: nocase/, only/extra.json are no records or pictures of this bug; remove what is "
        "too much"
    ]


def test_pictures_belong_among_the_expected_files(whole):
    (whole.directory / "README.md").write_text(
        (whole.directory / "README.md").read_text() + "\n![one](expected/origin_only.png)\n"
    )
    for name in ("compare_only", "versions", "origin_only", "fix_only"):
        (whole.directory / "expected" / f"{name}.png").touch()
    assert problems(whole.directory, whole.root) == [
        "expected: fix_only.png is no record or picture of this bug; remove what is too much"
    ]


def test_a_directory_outside_the_catalogue(whole, tmp_path):
    elsewhere = tmp_path / "my-own" / "Toy-1"
    shutil.copytree(whole.directory, elsewhere)
    assert problems(elsewhere, whole.root) == []
    other = elsewhere.rename(elsewhere.with_name("toy"))
    assert problems(other, whole.root) == ["the directory is called toy, expected the ID, Toy-1"]
    other.rename(elsewhere)
    assert json.loads((elsewhere / "config.json").read_text())["id"] == "Toy-1"


def test_the_other_metric_of_a_difference_is_not_volatile_either(whole):
    expectations({"minus": {"metric": "epoch"}})(whole)
    config = json.loads((whole.directory / "config.json").read_text())
    whole.configure(cases=config["cases"], volatile=["epoch"])
    assert any(
        "judges epoch, which is volatile" in problem
        for problem in problems(whole.directory, whole.root)
    )


@pytest.mark.parametrize("line", [8, 9, 10])
def test_a_site_is_in_or_beside_what_the_fix_changes(whole, line):
    whole.configure(site={"file": "buggy.py", "line": line, "api": "x"})
    assert problems(whole.directory, whole.root) == []


@pytest.mark.parametrize(
    "line, expected",
    [(8, []), (9, []), (7, ["between lines 8 and 9"]), (10, ["between lines 8 and"])],
)
def test_a_missing_call_belongs_between_two_lines(whole, line, expected):
    script = (whole.directory / "buggy.py").read_text().splitlines(keepends=True)
    whole.write("fixed.py", "".join([*script[:8], "    pass\n", *script[8:]]))
    whole.configure(site={"file": "buggy.py", "line": line, "api": "x"})
    about = [problem for problem in problems(whole.directory, whole.root) if "site.line" in problem]
    assert len(about) == len(expected)
    assert all(words in about[0] for words in expected)


def test_a_work_around_may_stand_elsewhere_than_the_fault(whole):
    labels = toy_config()["labels"] | {"location": "library"}
    whole.configure(labels=labels, site={"file": "buggy.py", "line": 7, "api": "x"})
    assert problems(whole.directory, whole.root) == []


@pytest.mark.parametrize(
    "site, words",
    [
        ({"file": "toypackage/__init__.py", "line": 1}, None),
        ({"file": "toypackage/__init__.py"}, None),
        ({"file": "toypackage/__init__.py", "line": 99}, "site.line is 99, toypackage/__init__.py of toy has"),
        ({"file": "toypackage/other.py"}, "site.file is 'toypackage/other.py', and toy has no such file"),
        ({"file": "toypackage/other.cpp", "line": 3}, "site.file is 'toypackage/other.cpp', and toy has no such file"),
        ({"file": "toypackage/other.cpp"}, None),  # compiled before it was installed
        ({"file": "tools/generator.py"}, None),
        ({"file": "../../../../etc/passwd", "line": 1}, None),
    ],
)  # fmt: skip
def test_a_file_of_a_package_is_looked_for_where_the_environment_is_built(whole, site, words):
    whole.configure(site={"api": "x"} | site)
    assert problems(whole.directory, whole.root) == [], "the environment is not built"
    builder.build(load(whole), QUIET)
    reports = problems(whole.directory, whole.root)
    assert len(reports) == bool(words), reports
    assert all(words in problem for problem in reports), reports


def test_a_benign_case_tells_nothing_apart(whole):
    config = toy_config()
    config["cases"]["only"]["expectations"][1] |= {"op": ">=", "value": 0}
    whole.configure(cases=config["cases"])
    assert any(
        "no expectation tells them apart" in problem
        for problem in problems(whole.directory, whole.root)
    )
    config["cases"]["only"]["benign"] = True
    config["cases"]["only"]["expectations"][1]["harm"] = False
    whole.configure(cases=config["cases"])
    assert problems(whole.directory, whole.root) == []


def test_commands_that_are_named_work_outside_of_the_catalogue(whole, tmp_path, cli):
    elsewhere = tmp_path / "my own" / "Toy-1"
    shutil.copytree(whole.directory, elsewhere)
    shutil.rmtree(elsewhere / "expected")
    (problem,) = problems(elsewhere, whole.root)
    (command,) = re.findall("`trainbugs (.*)`", problem)
    assert shlex.split(command)[:2] == ["run", "./my own/Toy-1"]
    assert cli(*shlex.split(command), "--seeds", "0,1")[0] == 0, (
        "the environment is built, and the bug runs"
    )
    assert problems(elsewhere, whole.root) == []


def test_records_of_a_gpu_are_of_programs_that_ask_for_the_device(whole):
    """A program that never does so ran on the CPU of a machine with a GPU."""
    folder = whole.directory / "expected" / "only"
    shutil.copytree(folder, folder / "cuda")
    for path in (folder / "cuda").glob("*.json"):
        edit(path, '"device": "cpu"', '"device": "cuda"')
    said = [line for line in problems(whole.directory, whole.root) if "never reads" in line]
    assert said == [
        "expected/only/cuda: a script never reads the parameter device, so these records are of a "
        "CPU; remove them"
    ]
    for name in ("buggy", "fixed"):
        path = whole.directory / f"{name}.py"
        path.write_text(f'{path.read_text()}\n"device"\n')
    assert not any("never reads" in line for line in problems(whole.directory, whole.root))
    (whole.directory / "buggy.py").write_text("def (:\n")
    assert any("invalid syntax" in line for line in problems(whole.directory, whole.root))
